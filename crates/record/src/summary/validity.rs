//! Whether a run in real time can be trusted.

use serde::{Deserialize, Serialize};
use units::Duration;

use super::path::PathSummary;
use crate::millionths::optional_millionths;

/// The maximum share of packets more than a millisecond late. Packets held by a late machine arrive together, and BBR
/// takes that for bandwidth. `docs/records.md` has the measurements.
pub const MAX_LATE_SHARE: f64 = 0.02;

/// The longest RTprop, in milliseconds, for which [`MAX_LATE_SHARE`] applies. On longer paths, a millisecond is less
/// than 1 % of RTprop, and so of the packets of a round trip. A delivery rate over a round trip is then at most that
/// much too high, whatever the controller.
pub const MAX_RTPROP_FOR_LATE_MS: f64 = 100.0;

/// The maximum mean lateness of packets, as a share of RTprop; measured together with [`MAX_LATE_SHARE`].
pub const MAX_LATENESS_RTPROPS: f64 = 0.0025;

/// The mean lateness that is always accepted because every machine has it, in milliseconds.
pub const ACCEPTED_LATENESS_MS: f64 = 0.1;

/// The maximum share of packets that leave their sender more than a millisecond late. As [`MAX_LATE_SHARE`].
pub const MAX_SENDER_LATE_SHARE: f64 = 0.02;

/// The maximum mean lateness of departures, as a share of RTprop. As [`MAX_LATENESS_RTPROPS`].
pub const MAX_SENDER_LATENESS_RTPROPS: f64 = 0.0025;

/// The mean lateness of senders that is always accepted because every machine has it, in milliseconds.
pub const ACCEPTED_SENDER_LATENESS_MS: f64 = 0.1;

/// The maximum share of packets lost before or after the path.
pub const MAX_OVERFLOW_SHARE: f64 = 0.001;

/// The lateness of the senders of a run in real time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Departures {
    /// Packets that left.
    pub packets: u64,
    /// Those that left more than a millisecond after pacing and window allowed it.
    pub late: u64,
    /// Their summed lateness.
    pub lateness: Duration,
}

/// Whether the machine was fast enough to be the path of the scenario and, where the engine sees them, its senders.
/// All is null in virtual time, where nothing is late, and without a path. Late receivers are not detected.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, expecting = "an object")]
#[non_exhaustive]
pub struct Validity {
    /// The share of packets that the machine delivered more than a millisecond late.
    #[serde(serialize_with = "optional_millionths")]
    pub late_share: Option<f64>,
    /// The mean lateness of packets, as a share of the shortest RTprop of a flow; null if that is zero.
    #[serde(serialize_with = "optional_millionths")]
    pub lateness_share: Option<f64>,
    /// Packets that were lost before or after the path because the machine was too slow to take them, as a share of
    /// these and of those that left it; null if they are not counted.
    #[serde(serialize_with = "optional_millionths")]
    pub overflow_share: Option<f64>,
    /// The share of packets that left their sender more than a millisecond late; null if the engine does not see it.
    #[serde(serialize_with = "optional_millionths")]
    pub sender_late_share: Option<f64>,
    /// The mean lateness of departures, as a share of the shortest RTprop of a flow; null if that is zero, or if the
    /// engine does not see it.
    #[serde(serialize_with = "optional_millionths")]
    pub sender_lateness_share: Option<f64>,
    /// Whether all of this is within its bounds. Late receivers are not detected.
    #[serde(rename = "trusted")]
    pub is_trusted: Option<bool>,
    /// If not, the bounds that are exceeded.
    pub reason: Option<String>,
}

impl Validity {
    /// Computes the validity from bottlenecks that the same packets cross, if every flow has the RTprop of the path.
    pub fn of<'p>(paths: impl Iterator<Item = &'p PathSummary> + Clone) -> Validity {
        let rtprop_ms = paths.clone().map(|path| path.rtprop_ms).fold(0.0, f64::max);
        Validity::at(rtprop_ms, paths)
    }

    /// Computes the validity if `rtprop_ms` is the shortest RTprop of any flow at any time.
    pub fn at<'p>(
        rtprop_ms: f64,
        paths: impl Iterator<Item = &'p PathSummary> + Clone,
    ) -> Validity {
        let sum = |of: fn(&PathSummary) -> Option<f64>| paths.clone().filter_map(of).sum::<f64>();
        let all = sum(|path| Some(path.released_packets? as f64));
        let counted = paths.clone().any(|path| path.overflows.is_some());
        let overflows = sum(|path| Some(path.overflows? as f64));
        // In virtual time no packets are counted as released, and none is late.
        if all + overflows == 0.0 {
            return Validity::default();
        }
        let lost = overflows / (all + overflows);
        // Without packets, the means are zero.
        let mean = |sum: f64| if all > 0.0 { sum / all } else { 0.0 };
        let late = mean(sum(|path| Some(path.late_packets? as f64)));
        let mean_ms = mean(sum(|path| {
            Some(path.lateness_mean_ms? * path.released_packets? as f64)
        }));
        let most_ms = (rtprop_ms * MAX_LATENESS_RTPROPS).max(ACCEPTED_LATENESS_MS);
        let reasons = [
            (late > MAX_LATE_SHARE && rtprop_ms <= MAX_RTPROP_FOR_LATE_MS).then(|| {
                format!(
                    "the machine was more than 1 ms late for {} % of the packets (at most {:.1} %)",
                    beyond(1, 100.0 * late),
                    100.0 * MAX_LATE_SHARE
                )
            }),
            (mean_ms > most_ms).then(|| {
                format!(
                    "packets were {} ms late on average; the bound is {most_ms:.2} ms",
                    beyond(2, mean_ms)
                )
            }),
            (lost > MAX_OVERFLOW_SHARE).then(|| {
                format!(
                    "the machine lost {} % of the packets before or after the path (at most {:.1} %)",
                    beyond(1, 100.0 * lost),
                    100.0 * MAX_OVERFLOW_SHARE
                )
            }),
        ];
        let reasons: Vec<String> = reasons.into_iter().flatten().collect();
        Validity {
            late_share: (all > 0.0).then_some(late),
            lateness_share: (all > 0.0 && rtprop_ms > 0.0).then(|| mean_ms / rtprop_ms),
            overflow_share: counted.then_some(lost),
            sender_late_share: None,
            sender_lateness_share: None,
            is_trusted: Some(reasons.is_empty()),
            reason: (!reasons.is_empty()).then(|| reasons.join(", and ")),
        }
    }

    /// Adds the lateness of the senders, if there was a path.
    pub fn with_senders(self, rtprop_ms: f64, senders: &Departures) -> Validity {
        if self.is_trusted.is_none() || senders.packets == 0 {
            return self;
        }
        let late = senders.late as f64 / senders.packets as f64;
        let mean_ms = senders.lateness.as_millis_f64() / senders.packets as f64;
        let most_ms = (rtprop_ms * MAX_SENDER_LATENESS_RTPROPS).max(ACCEPTED_SENDER_LATENESS_MS);
        let reasons = [
            self.reason,
            (late > MAX_SENDER_LATE_SHARE && rtprop_ms <= MAX_RTPROP_FOR_LATE_MS).then(|| {
                format!(
                    "the senders were more than 1 ms late with {} % of the packets (at most {:.1} %)",
                    beyond(1, 100.0 * late),
                    100.0 * MAX_SENDER_LATE_SHARE
                )
            }),
            (mean_ms > most_ms).then(|| {
                format!(
                    "the senders were {} ms late on average; the bound is {most_ms:.2} ms",
                    beyond(2, mean_ms)
                )
            }),
        ];
        let reasons: Vec<String> = reasons.into_iter().flatten().collect();
        Validity {
            sender_late_share: Some(late),
            sender_lateness_share: (rtprop_ms > 0.0).then(|| mean_ms / rtprop_ms),
            is_trusted: Some(reasons.is_empty()),
            reason: (!reasons.is_empty()).then(|| reasons.join(", and ")),
            ..self
        }
    }

    /// Advice for a run that cannot be trusted: the end of a line that begins with [the warning](Validity::warning).
    pub const REMEDY: &str = "run it again while the machine does nothing else";

    /// A warning in one line if the run cannot be trusted.
    pub fn warning(&self) -> Option<String> {
        let reason = self.reason.as_ref()?;
        Some(format!("not to be trusted, because {reason}"))
    }
}

/// A value that exceeds its bound, with this number of decimals. It is rounded up, so that it does not look like the
/// bound.
fn beyond(decimals: i32, value: f64) -> String {
    let unit = 10f64.powi(decimals);
    // Without the subtraction, a value that is exact in decimals but not in binary would be rounded up.
    let value = (value * unit - 1e-6).ceil() / unit;
    format!("{value:.*}", decimals.unsigned_abs() as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_beyond_its_bound_does_not_look_like_it() {
        let validity = Validity::of([path(201, 0.1001, 11)].iter());
        let reason = validity.reason.unwrap();
        for words in [
            "2.1 % of the packets (at most 2.0 %)",
            "0.11 ms late on average; the bound is 0.10 ms",
            "0.2 % of",
        ] {
            assert!(reason.contains(words), "{reason}");
        }
        assert_eq!(
            [beyond(1, 0.3), beyond(1, 100.0 * 0.042), beyond(2, 0.29)],
            ["0.3", "4.2", "0.29"]
        );
    }

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
            (
                path(1_100, 0.1, 0),
                "late for 11.0 % of the packets (at most 2.0 %)",
            ),
            (
                path(0, 0.5, 0),
                "0.50 ms late on average; the bound is 0.10 ms",
            ),
            (
                path(0, 0.1, 20),
                "lost 0.2 % of the packets before or after the path (at most 0.1 %)",
            ),
        ] {
            let validity = Validity::of([seen].iter());
            assert_eq!(validity.is_trusted, Some(false));
            let line = validity.warning().unwrap();
            assert!(
                line.starts_with("not to be trusted, because ") && line.contains(word),
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
    fn a_millisecond_is_little_on_a_long_path() {
        let long = |mean| PathSummary {
            rtprop_ms: 200.0,
            ..path(1_100, mean, 0)
        };
        assert_eq!(Validity::of([long(0.5)].iter()).is_trusted, Some(true));
        assert_eq!(Validity::of([long(1.5)].iter()).is_trusted, Some(false));
    }

    #[test]
    fn what_is_not_counted_is_not_said_to_be_nothing() {
        let uncounted = PathSummary {
            overflows: None,
            ..path(0, 0.05, 0)
        };
        let validity = Validity::of([uncounted].iter());
        assert_eq!(validity.overflow_share, None);
        assert_eq!(validity.is_trusted, Some(true));
        let none = Validity::of([path(0, 0.05, 0)].iter());
        assert_eq!(none.overflow_share, Some(0.0));
    }

    #[test]
    fn a_path_that_lost_all_is_not_trusted() {
        let half = Validity::of([path(0, 0.05, 10_000)].iter());
        assert_eq!(half.overflow_share, Some(0.5));
        let nothing_left = PathSummary {
            released_packets: Some(0),
            lateness_mean_ms: None,
            ..path(0, 0.0, 5)
        };
        let validity = Validity::of([nothing_left].iter());
        assert_eq!((validity.late_share, validity.lateness_share), (None, None));
        assert_eq!(validity.overflow_share, Some(1.0));
        assert_eq!(validity.is_trusted, Some(false));
        assert!(validity.warning().unwrap().contains("lost 100.0 %"));
    }

    #[test]
    fn a_flow_with_a_shorter_way_has_closer_bounds() {
        let seen = PathSummary {
            rtprop_ms: 400.0,
            ..path(1_100, 0.5, 0)
        };
        assert_eq!(Validity::of([&seen].into_iter()).is_trusted, Some(true));
        let short = Validity::at(40.0, [&seen].into_iter());
        assert_eq!(short.is_trusted, Some(false));
        assert_eq!(short.lateness_share, Some(0.0125));
    }

    #[test]
    fn both_ways_of_a_path_count() {
        let validity = Validity::of([path(900, 0.1, 0), path(300, 0.3, 0)].iter());
        assert_eq!(validity.late_share, Some(0.06));
        assert_eq!(validity.lateness_share, Some(0.005));
        assert_eq!(validity.is_trusted, Some(false));
    }

    #[test]
    fn late_senders_are_not_trusted_on_a_path_on_time() {
        let senders = |late, mean_us: u64| Departures {
            packets: 1_000,
            late,
            lateness: Duration::from_micros(1_000 * mean_us),
        };
        let seen = path(50, 0.06, 0);
        let with = |senders| Validity::of([&seen].into_iter()).with_senders(40.0, &senders);
        let on_time = with(senders(10, 60));
        assert_eq!((on_time.is_trusted, on_time.reason), (Some(true), None));
        assert_eq!(on_time.sender_late_share, Some(0.01));
        assert_eq!(on_time.sender_lateness_share, Some(0.0015));
        for (late, mean_us, word) in [
            (
                110,
                60,
                "senders were more than 1 ms late with 11.0 % of the packets",
            ),
            (0, 900, "senders were 0.90 ms late on average"),
        ] {
            let validity = with(senders(late, mean_us));
            assert_eq!(validity.is_trusted, Some(false));
            assert!(validity.warning().unwrap().contains(word));
        }
        // Both reasons are given.
        let both = Validity::of([&path(900, 0.06, 0)].into_iter());
        let both = both.with_senders(40.0, &senders(900, 60)).reason.unwrap();
        assert!(
            both.contains("machine was") && both.contains(", and the senders"),
            "{both}"
        );
        // Without a path there is no verdict, and without senders the verdict is that of the path.
        let none = Validity::default();
        assert_eq!(none.clone().with_senders(40.0, &senders(900, 60)), none);
        let silent = with(Departures::default());
        assert_eq!(
            (silent.sender_late_share, silent.is_trusted),
            (None, Some(true))
        );
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
