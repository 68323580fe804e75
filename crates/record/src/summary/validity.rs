//! How far a run in real time is to be believed.

use serde::{Deserialize, Serialize};

use super::path::PathSummary;
use crate::millionths::optional_millionths;

/// The most packets, as a share of all, that may be more than a millisecond late.
pub const MOST_LATE: f64 = 0.1;

/// The most that packets may be late on average, as a share of RTprop: BBR paces 1 % below its estimate of the bandwidth,
/// which makes up for so much.
pub const MOST_LATENESS: f64 = 0.01;

/// Lateness on average that every machine has, in milliseconds, however short RTprop is.
pub const LEAST_LATENESS_MS: f64 = 0.1;

/// The most packets, as a share of all, that may be lost before the path.
pub const MOST_OVERFLOWS: f64 = 0.001;

/// Whether the machine was the path that was asked for. All is null in virtual time, where nothing is ever late, and where
/// there was no path.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, expecting = "an object")]
#[non_exhaustive]
pub struct Validity {
    /// Packets that the machine delivered more than a millisecond late, as a share of all that it delivered.
    #[serde(serialize_with = "optional_millionths")]
    pub late_share: Option<f64>,
    /// How late packets were on average, as a share of RTprop; null if that is zero.
    #[serde(serialize_with = "optional_millionths")]
    pub lateness_share: Option<f64>,
    /// Packets that never entered the path since the machine was too slow to take them, as a share of all.
    #[serde(serialize_with = "optional_millionths")]
    pub overflow_share: Option<f64>,
    /// Whether all of this is within its bounds.
    #[serde(rename = "trusted")]
    pub is_trusted: Option<bool>,
    /// If not, what is beyond them.
    pub reason: Option<String>,
}

impl Validity {
    /// By what was seen of the bottlenecks.
    pub fn of<'p>(paths: impl Iterator<Item = &'p PathSummary>) -> Validity {
        let mut paths = paths.peekable();
        let rtprop_ms = paths.peek().map_or(0.0, |path| path.rtprop_ms);
        let seen =
            paths.find_map(|path| Some((path, path.released_packets.filter(|all| *all > 0)?)));
        let Some((path, all)) = seen else {
            return Validity::default();
        };
        let share = |count: Option<u64>| Some(count? as f64 / all as f64);
        let late_share = share(path.late_packets);
        let overflow_share = share(path.overflows);
        let mean_ms = path.lateness_mean_ms;
        let lateness_share = mean_ms
            .filter(|_| rtprop_ms > 0.0)
            .map(|mean| mean / rtprop_ms);
        let mut reasons = Vec::new();
        if let Some(late) = late_share.filter(|late| *late > MOST_LATE) {
            reasons.push(format!(
                "the machine was more than 1 ms late for {:.0} % of the packets, {:.0} % are tolerable",
                late * 100.0,
                MOST_LATE * 100.0
            ));
        }
        let most_ms = (rtprop_ms * MOST_LATENESS).max(LEAST_LATENESS_MS);
        if let Some(mean) = mean_ms.filter(|mean| *mean > most_ms) {
            reasons.push(format!(
                "packets were {mean:.2} ms late on average, {most_ms:.2} ms are tolerable"
            ));
        }
        if let Some(lost) = overflow_share.filter(|lost| *lost > MOST_OVERFLOWS) {
            reasons.push(format!(
                "the machine lost {:.1} % of the packets before the path, {:.1} % are tolerable",
                lost * 100.0,
                MOST_OVERFLOWS * 100.0
            ));
        }
        Validity {
            late_share,
            lateness_share,
            overflow_share,
            is_trusted: Some(reasons.is_empty()),
            reason: (!reasons.is_empty()).then(|| reasons.join("; ")),
        }
    }

    /// One line for people if the run is not to be trusted.
    pub fn warning(&self) -> Option<String> {
        let reason = self.reason.as_ref()?;
        Some(format!("not to be trusted: {reason}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(late: u64, mean_ms: f64, overflows: u64) -> PathSummary {
        PathSummary {
            rtprop_ms: 40.0,
            released_packets: Some(10_000),
            late_packets: Some(late),
            lateness_mean_ms: Some(mean_ms),
            overflows: Some(overflows),
            ..PathSummary::default()
        }
    }

    #[test]
    fn a_machine_on_time_is_trusted() {
        let validity = Validity::of([path(50, 0.06, 0)].iter());
        assert_eq!(
            (validity.late_share, validity.is_trusted),
            (Some(0.005), Some(true))
        );
        assert_eq!(validity.lateness_share, Some(0.0015));
        assert_eq!((validity.reason.clone(), validity.warning()), (None, None));
    }

    #[test]
    fn each_bound_has_its_reason() {
        for (seen, word) in [
            (path(1_100, 0.1, 0), "late for 11 %"),
            (path(0, 0.5, 0), "0.50 ms late on average, 0.40 ms are"),
            (path(0, 0.1, 20), "lost 0.2 %"),
        ] {
            let validity = Validity::of([seen].iter());
            assert_eq!(validity.is_trusted, Some(false));
            let line = validity.warning().unwrap();
            assert!(
                line.starts_with("not to be trusted: ") && line.contains(word),
                "{line}"
            );
        }
    }

    #[test]
    fn a_short_path_is_not_blamed_for_what_every_machine_does() {
        let short = |mean| PathSummary {
            rtprop_ms: 1.0,
            ..path(0, mean, 0)
        };
        assert_eq!(Validity::of([short(0.09)].iter()).is_trusted, Some(true));
        assert_eq!(Validity::of([short(0.2)].iter()).is_trusted, Some(false));
    }

    #[test]
    fn nothing_is_said_of_virtual_time() {
        let silent = PathSummary {
            rtprop_ms: 40.0,
            ..PathSummary::default()
        };
        assert_eq!(Validity::of([silent].iter()), Validity::default());
    }
}
