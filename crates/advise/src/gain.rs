//! The advantage of one candidate over another on the sampled paths, and its confidence interval.

use serde::Serialize;
use tables::statistics::{mean, median};

use super::amount::Amount;
use super::plan::Sampling;
use super::ratio::Ratio;

/// The least ratio that counts as a difference. A smaller one is unnoticeable, and the model is not that exact.
const MIN_RATIO: f64 = 1.02;

/// The fewest paths whose two halves can be told apart.
const MIN_HALVED_PATHS: usize = 8;

/// One half of the paths must be won at least this often, and the other half lost at least this often.
const MIN_HALF_SHARE: f64 = 0.75;

/// The ratio of two candidates' scores, path by path. Both had the same paths and seeds, so common effects cancel out.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Gain {
    /// The geometric mean of the ratios.
    pub mean: f64,
    /// The lower end of the interval that contains the geometric mean over all paths of the ranges with 95 %
    /// confidence, for all rivals together. Nothing for a single path.
    pub low: Option<f64>,
    /// The upper end of the interval.
    pub high: Option<f64>,
    /// The smallest ratio.
    pub min: f64,
    /// The median ratio.
    pub median: f64,
    /// The largest ratio.
    pub max: f64,
    /// The number of paths on which the candidate is more than 2 % better.
    pub better: usize,
    /// The number of paths on which the candidate is more than 2 % worse.
    pub worse: usize,
    /// The number of paths compared.
    pub paths: usize,
    /// Whether the interval shows which candidate is better, and the difference is at least 2 %.
    pub is_clear: bool,
    /// The single unknown quantity that decides who is better, if there is one.
    pub decides: Option<Decides>,
}

/// A range that decides who is better.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Decides {
    /// The field of the range.
    pub field: String,
    /// The median value: half of the paths have at most this.
    pub at: String,
    /// The geometric mean of the ratios at or below `at`.
    pub below: f64,
    /// The geometric mean of the ratios above `at`.
    pub above: f64,
}

impl Gain {
    /// Computes the gain from ratios with the index of their path. `rivals` is the number of candidates compared.
    pub(crate) fn of(ratios: &[(usize, f64)], rivals: usize, sampling: &Sampling) -> Option<Gain> {
        let all = || ratios.iter().map(|(_, ratio)| *ratio);
        // The paths are spread evenly over their ranges, so the true interval is no wider.
        let Ratio { mean, low, high } = Ratio::of(all(), rivals)?;
        let is_noticed = mean.max(mean.recip()) >= MIN_RATIO;
        let is_one_sided = low.is_some_and(|low| low > 1.0) || high.is_some_and(|high| high < 1.0);
        Some(Gain {
            mean,
            low,
            high,
            min: all().fold(f64::INFINITY, f64::min),
            median: median(all())?,
            max: all().fold(0.0, f64::max),
            better: all().filter(|ratio| *ratio > MIN_RATIO).count(),
            worse: all().filter(|ratio| *ratio < 1.0 / MIN_RATIO).count(),
            paths: ratios.len(),
            is_clear: is_noticed && is_one_sided,
            decides: decides(ratios, sampling),
        })
    }
}

/// The range in whose lower half one candidate is better and in whose upper half the other. If there are several, the
/// one with the largest contrast.
fn decides(ratios: &[(usize, f64)], sampling: &Sampling) -> Option<Decides> {
    if ratios.len() < MIN_HALVED_PATHS {
        return None;
    }
    let halves = |place: usize| {
        let text = |path: usize| sampling.sampled.get(path)?.values.get(place);
        let value = |path: usize| Some(Amount::parse(text(path)?)?.value());
        let mut sorted = ratios.to_vec();
        sorted.sort_by(|(one, _), (other, _)| {
            value(*one).partial_cmp(&value(*other)).expect("numbers")
        });
        let (below, above) = sorted.split_at(sorted.len() / 2);
        let centre = |half: &[(usize, f64)]| {
            let logs: Vec<f64> = half.iter().map(|(_, ratio)| libm::log(*ratio)).collect();
            mean(&logs).map(libm::exp)
        };
        let most = |half: &[(usize, f64)], is_so: fn(f64) -> bool| {
            let so = half.iter().filter(|(_, ratio)| is_so(*ratio));
            so.count() as f64 >= MIN_HALF_SHARE * half.len() as f64
        };
        let [won, lost]: [fn(f64) -> bool; 2] =
            [|ratio| ratio > MIN_RATIO, |ratio| ratio < 1.0 / MIN_RATIO];
        let part =
            (most(below, won) && most(above, lost)) || (most(below, lost) && most(above, won));
        let at = below.last().and_then(|(path, _)| text(*path))?.clone();
        let field = sampling.ranges.get(place)?.field.clone();
        let (below, above) = (centre(below)?, centre(above)?);
        part.then_some(Decides {
            field,
            at,
            below,
            above,
        })
    };
    let parts = (0..sampling.ranges.len()).filter_map(halves);
    let apart = |of: &Decides| libm::log(of.below / of.above).abs();
    parts.max_by(|one, other| apart(one).total_cmp(&apart(other)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gain(ratios: &[f64]) -> Gain {
        let ratios: Vec<(usize, f64)> = ratios.iter().copied().enumerate().collect();
        Gain::of(&ratios, 1, &Sampling::default()).unwrap()
    }

    #[test]
    fn what_is_always_better_is_clear() {
        let gain = gain(&[1.9, 2.0, 2.1, 2.0, 1.95, 2.05, 2.0, 2.0]);
        assert!(gain.is_clear && (1.9..2.1).contains(&gain.mean));
        assert!(gain.low < Some(gain.mean) && Some(gain.mean) < gain.high);
        assert_eq!((gain.better, gain.worse), (8, 0));
    }

    #[test]
    fn what_is_better_here_and_worse_there_is_not() {
        let gain = gain(&[0.5, 2.0, 0.6, 1.7, 1.1, 0.9, 1.3, 0.7]);
        assert!(!gain.is_clear);
        assert_eq!((gain.better, gain.worse), (4, 4));
    }

    #[test]
    fn one_path_says_nothing_of_others() {
        let gain = gain(&[3.0]);
        assert_eq!((gain.low, gain.high, gain.is_clear), (None, None, false));
    }

    #[test]
    fn nobody_notices_a_percent() {
        let gain = gain(&[1.010, 1.011, 1.009, 1.010]);
        assert!(gain.low > Some(1.0) && !gain.is_clear);
    }
}
