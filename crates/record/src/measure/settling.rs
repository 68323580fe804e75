//! When round-trip times have become what they are later.

use units::Duration;

use super::Measure;
use crate::dimension::Dimension;
use crate::statistics::median;

/// The time of a median: several rounds also where a round takes ten seconds.
const WINDOW: Duration = Duration::from_secs(60);

/// From one window to the next.
const STEP: Duration = Duration::from_secs(10);

pub(super) const MEASURES: &[Measure] = &[Measure {
    name: "rtt_settled",
    unit: Dimension::Time,
    is_windowed: false,
    about: "time from the last flow's start until the minute whose median round-trip time is at most a quarter over that after the warmup",
    of: |subject| {
        let started = subject.flows().map(|flow| flow.start).max()?;
        let samples = subject.flows().flat_map(|flow| &flow.samples);
        let rtts = samples.filter_map(|sample| Some((sample.at, sample.rtt?.as_millis_f64())));
        let rtts: Vec<(Duration, f64)> = rtts.collect();
        settled(&rtts, started, subject.from).map(Duration::as_millis_f64)
    },
}];

/// How long after `started` the first such window begins; nothing if there is none before `warmup`.
fn settled(rtts: &[(Duration, f64)], started: Duration, warmup: Duration) -> Option<Duration> {
    let between = |from: Duration, to: Duration| {
        let within = rtts.iter().filter(|(at, _)| (from..to).contains(at));
        median(within.map(|(_, rtt)| *rtt))
    };
    let limit = between(warmup, Duration::MAX)? * 1.25;
    let is_like_the_end = |after: &Duration| {
        let from = started + *after;
        between(from, from + WINDOW).is_some_and(|median| median <= limit)
    };
    (0..)
        .map(|step| STEP * step)
        .take_while(|after| started + *after + WINDOW <= warmup)
        .find(is_like_the_end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_minute_that_is_like_the_end_tells() {
        let s = Duration::from_secs;
        let rtt_at = |second| if second < 75 { 13.0 } else { 10.0 };
        let rtts: Vec<_> = (0..200).map(|second| (s(second), rtt_at(second))).collect();
        // From 45 s on, half of a minute's round-trip times are short.
        assert_eq!(settled(&rtts, s(0), s(150)), Some(s(50)));
        assert_eq!(settled(&rtts, s(10), s(150)), Some(s(40)));
        assert_eq!(settled(&rtts, s(80), s(150)), Some(s(0)));
        assert_eq!(settled(&rtts, s(0), s(100)), None, "too short to tell");
        assert_eq!(settled(&rtts, s(0), s(50)), None);
        assert_eq!(settled(&[], s(0), s(150)), None);
    }
}
