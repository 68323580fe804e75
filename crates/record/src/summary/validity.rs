//! How far a run in real time is to be believed.

use serde::{Deserialize, Serialize};
use units::Duration;

use super::path::PathSummary;
use crate::millionths::optional_millionths;

/// The most packets, as a share of all, that may be more than a millisecond late. What waited for a late machine arrives
/// together, and BBR takes that for bandwidth. `docs/records.md` has what was measured.
pub const MOST_LATE: f64 = 0.02;

/// On longer paths than this, a millisecond is less than 1 % of RTprop, and so of the window that a round trip's packets fill:
/// what waited for it makes a delivery rate over a round trip at most that much too high, whatever the controller.
pub const LONGEST_FOR_LATE_MS: f64 = 100.0;

/// The most that packets may be late on average, as a share of RTprop; measured together with [`MOST_LATE`].
pub const MOST_LATENESS: f64 = 0.0025;

/// Lateness on average that every machine has, in milliseconds, however short RTprop is.
pub const LEAST_LATENESS_MS: f64 = 0.1;

/// The most packets, as a share of all, that may leave their sender more than a millisecond late. As [`MOST_LATE`].
pub const MOST_SENDER_LATE: f64 = 0.02;

/// The most that packets may leave their sender late on average, as a share of RTprop. As [`MOST_LATENESS`].
pub const MOST_SENDER_LATENESS: f64 = 0.0025;

/// Lateness of senders on average that every machine has, in milliseconds, however short RTprop is.
pub const LEAST_SENDER_LATENESS_MS: f64 = 0.1;

/// The most packets, as a share of all, that may be lost before or after the path.
pub const MOST_OVERFLOWS: f64 = 0.001;

/// How late the senders of a run in real time were.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Departures {
    /// Packets that left.
    pub packets: u64,
    /// Those that left more than a millisecond after pacing and window allowed it.
    pub late: u64,
    /// How late all of them were together.
    pub lateness: Duration,
}

/// Whether the machine was the path that was asked for, and on time as its senders, where the engine sees them. All is null
/// in virtual time, where nothing is ever late, and where there was no path. Receivers that a busy machine lets run late are
/// not seen.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, expecting = "an object")]
#[non_exhaustive]
pub struct Validity {
    /// Packets that the machine delivered more than a millisecond late, as a share of all that it delivered.
    #[serde(serialize_with = "optional_millionths")]
    pub late_share: Option<f64>,
    /// How late packets were on average, as a share of the least RTprop that a flow had; null if that is zero.
    #[serde(serialize_with = "optional_millionths")]
    pub lateness_share: Option<f64>,
    /// Packets that were lost before the path or after it since the machine was too slow to take them, as a share of
    /// these and of those that left it; null if they are not counted.
    #[serde(serialize_with = "optional_millionths")]
    pub overflow_share: Option<f64>,
    /// Packets that left their sender more than a millisecond late, as a share of all; null if the engine does not see it.
    #[serde(serialize_with = "optional_millionths")]
    pub sender_late_share: Option<f64>,
    /// How late packets left their sender on average, as a share of the least RTprop that a flow had; null if that is zero, or
    /// if the engine does not see it.
    #[serde(serialize_with = "optional_millionths")]
    pub sender_lateness_share: Option<f64>,
    /// Whether all of this is within its bounds. Not whether the receivers were on time.
    #[serde(rename = "trusted")]
    pub is_trusted: Option<bool>,
    /// If not, what is beyond them.
    pub reason: Option<String>,
}

impl Validity {
    /// By what was seen of the bottlenecks, all of which are on the way of the same packets, where no flow has an RTprop
    /// other than the path's.
    pub fn of<'p>(paths: impl Iterator<Item = &'p PathSummary> + Clone) -> Validity {
        let rtprop_ms = paths.clone().map(|path| path.rtprop_ms).fold(0.0, f64::max);
        Validity::at(rtprop_ms, paths)
    }

    /// The same where the least RTprop that any flow had at any time is `rtprop_ms`.
    pub fn at<'p>(
        rtprop_ms: f64,
        paths: impl Iterator<Item = &'p PathSummary> + Clone,
    ) -> Validity {
        let sum = |of: fn(&PathSummary) -> Option<f64>| paths.clone().filter_map(of).sum::<f64>();
        let all = sum(|path| Some(path.released_packets? as f64));
        let counted = paths.clone().any(|path| path.overflows.is_some());
        let overflows = sum(|path| Some(path.overflows? as f64));
        // In virtual time nothing is released, and so nothing late.
        if all + overflows == 0.0 {
            return Validity::default();
        }
        let lost = overflows / (all + overflows);
        // Of nothing, nothing is late.
        let mean = |sum: f64| if all > 0.0 { sum / all } else { 0.0 };
        let late = mean(sum(|path| Some(path.late_packets? as f64)));
        let mean_ms = mean(sum(|path| {
            Some(path.lateness_mean_ms? * path.released_packets? as f64)
        }));
        let most_ms = (rtprop_ms * MOST_LATENESS).max(LEAST_LATENESS_MS);
        let reasons = [
            (late > MOST_LATE && rtprop_ms <= LONGEST_FOR_LATE_MS).then(|| {
                format!(
                    "the machine was more than 1 ms late for {} % of the packets (at most {:.1} %)",
                    beyond(1, 100.0 * late),
                    100.0 * MOST_LATE
                )
            }),
            (mean_ms > most_ms).then(|| {
                format!(
                    "packets were {} ms late on average; the bound is {most_ms:.2} ms",
                    beyond(2, mean_ms)
                )
            }),
            (lost > MOST_OVERFLOWS).then(|| {
                format!(
                    "the machine lost {} % of the packets before or after the path (at most {:.1} %)",
                    beyond(1, 100.0 * lost),
                    100.0 * MOST_OVERFLOWS
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

    /// The same with what was seen of the senders, where there was a path at all.
    pub fn with_senders(self, rtprop_ms: f64, senders: &Departures) -> Validity {
        if self.is_trusted.is_none() || senders.packets == 0 {
            return self;
        }
        let late = senders.late as f64 / senders.packets as f64;
        let mean_ms = senders.lateness.as_millis_f64() / senders.packets as f64;
        let most_ms = (rtprop_ms * MOST_SENDER_LATENESS).max(LEAST_SENDER_LATENESS_MS);
        let reasons = [
            self.reason,
            (late > MOST_SENDER_LATE && rtprop_ms <= LONGEST_FOR_LATE_MS).then(|| {
                format!(
                    "the senders were more than 1 ms late with {} % of the packets (at most {:.1} %)",
                    beyond(1, 100.0 * late),
                    100.0 * MOST_SENDER_LATE
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

    /// What to do about a run that is not to be trusted: the end of a line that begins with [the warning](Validity::warning).
    pub const REMEDY: &str = "run it again while the machine does nothing else";

    /// One line for people if the run is not to be trusted.
    pub fn warning(&self) -> Option<String> {
        let reason = self.reason.as_ref()?;
        Some(format!("not to be trusted, because {reason}"))
    }
}

/// A value that is beyond its bound, with so many decimals. It is rounded up, so that it does not look like the bound.
fn beyond(decimals: i32, value: f64) -> String {
    let unit = 10f64.powi(decimals);
    // Without the small part, what is exact in decimals would be rounded up where it is not exact in binary.
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
        // Both reasons are told.
        let both = Validity::of([&path(900, 0.06, 0)].into_iter());
        let both = both.with_senders(40.0, &senders(900, 60)).reason.unwrap();
        assert!(
            both.contains("machine was") && both.contains(", and the senders"),
            "{both}"
        );
        // Without a path, there is nothing to be trusted, and without senders, nothing is said of them.
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
