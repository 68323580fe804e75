//! Measures of the time until round-trip times have settled, or have reached their minimum.

use units::Duration;

use super::delay::four_packets_ms;
use super::{Measure, Subject};
use crate::dimension::Dimension;
use tables::statistics::median;

/// The window of a median: several rounds even if a round takes ten seconds.
const WINDOW: Duration = Duration::from_secs(60);

/// The distance from one window to the next.
const WINDOW_DISTANCE: Duration = Duration::from_secs(10);

/// The factor above the target that still counts as reached.
const REACHED_FACTOR: f64 = 1.25;

pub(super) const MEASURES: &[Measure] = &[
    Measure {
        name: "rtt_settled",
        unit: Dimension::Time,
        is_windowed: false,
        about: "time from the last flow's start until the minute whose median round-trip time is at most a quarter over that after the warmup",
        of: |subject| {
            let rtts = rtts(subject);
            let after_warmup = between(&rtts, subject.from, Duration::MAX)?;
            reached(&rtts, started(subject)?, subject.from, after_warmup)
        },
    },
    Measure {
        name: "four_packets_reached",
        unit: Dimension::Time,
        is_windowed: false,
        about: "time from the last flow's start until the minute whose median round-trip time is at most a quarter over the time that the bottleneck needs for four full packets of each flow",
        of: |subject| {
            let least = four_packets_ms(subject)?;
            reached(&rtts(subject), started(subject)?, subject.to, least)
        },
    },
];

/// The time at which the last flow started.
fn started(subject: &Subject<'_>) -> Option<Duration> {
    subject.flows().map(|flow| flow.start).max()
}

/// The round-trip times of all flows in milliseconds, with their times.
fn rtts(subject: &Subject<'_>) -> Vec<(Duration, f64)> {
    let samples = subject.flows().flat_map(|flow| &flow.samples);
    let rtts = samples.filter_map(|sample| Some((sample.at, sample.rtt?.as_millis_f64())));
    rtts.collect()
}

fn between(rtts: &[(Duration, f64)], from: Duration, to: Duration) -> Option<f64> {
    let within = rtts.iter().filter(|(at, _)| (from..to).contains(at));
    median(within.map(|(_, rtt)| *rtt))
}

/// The milliseconds from `started` to the first window whose median is `wanted`, or little more; `None` if there is
/// none before `end`.
fn reached(rtts: &[(Duration, f64)], started: Duration, end: Duration, wanted: f64) -> Option<f64> {
    let is_there = |after: &Duration| {
        let from = started + *after;
        between(rtts, from, from + WINDOW).is_some_and(|median| median <= wanted * REACHED_FACTOR)
    };
    (0..)
        .map(|step| WINDOW_DISTANCE * step)
        .take_while(|after| started + *after + WINDOW <= end)
        .find(is_there)
        .map(Duration::as_millis_f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_minute_that_is_like_what_is_wanted_tells() {
        let s = Duration::from_secs;
        let rtt_at = |second| if second < 75 { 13.0 } else { 10.0 };
        let rtts: Vec<_> = (0..200).map(|second| (s(second), rtt_at(second))).collect();
        let reached = |started, end, wanted| reached(&rtts, s(started), s(end), wanted);
        // From 45 s on, half of a minute's round-trip times are short.
        assert_eq!(reached(0, 150, 10.0), Some(50_000.0));
        assert_eq!(reached(10, 150, 10.0), Some(40_000.0));
        assert_eq!(reached(80, 150, 10.0), Some(0.0));
        assert_eq!(reached(0, 150, 8.0), Some(50_000.0), "a quarter over it");
        assert_eq!(reached(0, 150, 7.9), None, "never");
        assert_eq!(reached(0, 100, 10.0), None, "too short to tell");
        assert_eq!(reached(0, 50, 10.0), None);
        assert_eq!(super::reached(&[], s(0), s(150), 10.0), None);
        assert_eq!(between(&rtts, s(150), Duration::MAX), Some(10.0));
    }
}
