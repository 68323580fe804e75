//! Verdicts, in words.

use std::fmt;

use serde::{Deserialize, Serialize};
use studies::runs::Ratio;

use crate::criteria::{Better, Criterion, Protects};

/// The ratio of two values of a measure is kept within this factor: beyond it, one of them is worthless.
const MOST_RATIO: f64 = 100.0;

/// The subject is better if it is so many times as good, by the whole interval.
pub(crate) const CLEARLY: f64 = 1.1;

/// The verdict on a criterion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Clearly better than what it is compared with.
    Better,
    /// Not worse than what is tolerated.
    Safe,
    /// Worse than what is tolerated, at the expense of whoever uses it.
    Worse,
    /// Worse than what is tolerated, at the expense of others.
    Harms,
    /// There are too few runs to tell: with another seed, it may be worse than what is tolerated, or not.
    Unsure,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Verdict::Better => "better",
            Verdict::Safe => "safe",
            Verdict::Worse => "worse",
            Verdict::Harms => "harms",
            Verdict::Unsure => "unsure",
        })
    }
}

impl Verdict {
    /// All, from the best to the one that says least.
    pub const ALL: [Verdict; 5] = [
        Verdict::Better,
        Verdict::Safe,
        Verdict::Worse,
        Verdict::Harms,
        Verdict::Unsure,
    ];

    /// Whether the controller is worse than what is tolerated.
    pub fn is_bad(self) -> bool {
        matches!(self, Verdict::Worse | Verdict::Harms)
    }

    /// The verdict for a subject that is so many times as bad as what it is compared with. The interval decides.
    pub(crate) fn of(criterion: &Criterion, times_as_bad: &Ratio) -> Verdict {
        let Ratio { mean, low, high } = *times_as_bad;
        let (low, high) = (low.unwrap_or(mean), high.unwrap_or(mean));
        match criterion.protects {
            Protects::Others if low > criterion.tolerated => Verdict::Harms,
            Protects::Itself if low > criterion.tolerated => Verdict::Worse,
            _ if high < CLEARLY.recip() => Verdict::Better,
            _ if mean > criterion.tolerated => Verdict::Unsure,
            _ => Verdict::Safe,
        }
    }
}

/// How many times as bad the value of the subject is as the other, with the floor added to both. A value that a run
/// does not have is the worst: nothing has arrived. Returns nothing if neither has one.
pub(crate) fn times_as_bad(
    better: Better,
    floor: f64,
    subject: Option<f64>,
    other: Option<f64>,
) -> Option<f64> {
    let ratio = match (subject, other) {
        (None, None) => return None,
        (None, Some(_)) => MOST_RATIO,
        (Some(_), None) => MOST_RATIO.recip(),
        (Some(subject), Some(other)) => {
            let (subject, other) = (subject + floor, other + floor);
            match better {
                Better::More => other / subject,
                Better::Less => subject / other,
            }
        }
    };
    Some(ratio.clamp(MOST_RATIO.recip(), MOST_RATIO))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Criteria;

    fn criterion(name: &str) -> Criterion {
        let mut criteria = Criteria::named(&[name]).unwrap();
        criteria.experiments.remove(0).criterion.remove(0)
    }

    #[test]
    fn the_interval_decides() {
        let (own, harm) = (criterion("own-share"), criterion("harm-cubic"));
        let of = |one, mean: f64, wide: f64| {
            let (low, high) = (Some(mean / wide), Some(mean * wide));
            Verdict::of(one, &Ratio { mean, low, high })
        };
        assert_eq!(of(&own, 4.0, 1.5), Verdict::Worse);
        assert_eq!(of(&harm, 4.0, 1.5), Verdict::Harms);
        assert_eq!(of(&harm, 4.0, 3.0), Verdict::Unsure);
        assert_eq!(of(&harm, 1.2, 3.0), Verdict::Safe);
        assert_eq!(of(&harm, 0.5, 1.2), Verdict::Better);
        assert_eq!(of(&harm, 0.95, 1.01), Verdict::Safe);
    }

    #[test]
    fn what_does_not_arrive_is_the_worst() {
        let (more, less) = (criterion("wired"), criterion("short-flows"));
        assert_eq!(
            times_as_bad(less.better, less.floor, None, Some(9.0)),
            Some(MOST_RATIO)
        );
        assert_eq!(times_as_bad(less.better, less.floor, None, None), None);
        assert!(times_as_bad(less.better, less.floor, Some(1e9), Some(1.0)) == Some(MOST_RATIO));
        let half = times_as_bad(more.better, more.floor, Some(0.45), Some(0.91)).unwrap();
        assert!((half - 2.0).abs() < 1e-9, "{half}");
    }
}
