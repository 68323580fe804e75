//! Numbers for plots, with no more values and digits than are visible.

use units::{Bytes, Duration, Rate};

use record::Point;
use scenario::PathSpec;

/// Returns about `points` of the samples at most, evenly over time, with the first and the last; and the highest of
/// those between two of them if it is above both.
pub fn thin<P: Point>(samples: &[P], points: u64) -> Vec<&P> {
    let span = samples.last().map_or(Duration::ZERO, P::at);
    let step = span / points;
    let mut due = Duration::ZERO;
    let last = samples.len().saturating_sub(1);
    let mut picked: Vec<&P> = Vec::new();
    let mut peak: Option<&P> = None;
    for (index, sample) in samples.iter().enumerate() {
        if sample.at() < due && index != last {
            peak = Some(
                peak.filter(|peak| peak.level() >= sample.level())
                    .unwrap_or(sample),
            );
            continue;
        }
        due = sample.at() + step;
        let before = picked.last().and_then(|picked| picked.level());
        let sides = before.max(sample.level());
        picked.extend(peak.take().filter(|peak| peak.level() > sides));
        picked.push(sample);
    }
    picked
}

/// A pause is visible if it is at least the span divided by this.
const VISIBLE_PARTS: u64 = 200;

/// True if a line across this pause would suggest data that were not there: if nothing arrived for more than two round
/// trips, of which one is needed for an answer, and the pause is a visible part of the span.
pub fn is_pause(pause: Duration, rtt: Option<Duration>, span: Duration) -> bool {
    pause > span / VISIBLE_PARTS && pause > rtt.unwrap_or(Duration::ZERO) * 2
}

/// A time in seconds, and the value from then on.
pub type Step = (f64, f64);

/// The rate of a path's bottleneck in Mbit/s.
pub fn rates(path: &PathSpec) -> Vec<Step> {
    let rates = path.data.rates();
    steps(path, |at| rates.at(at).map(megabits))
}

/// RTprop in milliseconds.
pub fn rtprops(path: &PathSpec) -> Vec<Step> {
    let rtts = path.rtts();
    steps(path, |at| Some(rtts.at(at).as_millis_f64()))
}

/// Returns the values of a path's setting over time: one step, and one more for each change of it.
pub(super) fn steps(spec: &PathSpec, value: impl Fn(Duration) -> Option<f64>) -> Vec<Step> {
    let mut times: Vec<Duration> = spec.data.changes.iter().map(|change| change.at).collect();
    times.push(Duration::ZERO);
    times.sort();
    let steps = times
        .into_iter()
        .filter_map(|at| Some((seconds(at), round(value(at)?))));
    let mut steps: Vec<Step> = steps.collect();
    steps.dedup_by_key(|(_, value)| *value);
    steps
}

/// A time in seconds, to a tenth of a millisecond.
pub fn seconds(at: Duration) -> f64 {
    (at.as_secs_f64() * 1e4).round() / 1e4
}

/// A rate in Mbit/s.
pub(super) fn megabits(rate: Rate) -> f64 {
    round(rate.bits_per_sec() as f64 / 1e6)
}

/// Bytes in kilobytes.
pub(super) fn kilobytes(bytes: Bytes) -> f64 {
    round(bytes.get() as f64 / 1e3)
}

/// Rounds to three decimals.
pub fn round(value: f64) -> f64 {
    (value * 1e3).round() / 1e3
}

#[cfg(test)]
mod tests {
    use super::{steps, thin};
    use record::PathSample;
    use scenario::PathSpec;
    use units::{Bytes, Duration};

    fn sample(micros: u64) -> PathSample {
        let is_peak = micros == 55_555;
        PathSample {
            at: Duration::from_micros(micros),
            queue: Bytes::ZERO,
            delay: Duration::from_millis(if is_peak { 9 } else { 1 }),
        }
    }

    #[test]
    fn thinned_evenly_with_both_ends_and_the_peak() {
        let samples: Vec<PathSample> = (0..=100_000).map(sample).collect();
        let picked = thin(&samples, 1_000);
        assert!((1_000..=1_003).contains(&picked.len()), "{}", picked.len());
        assert_eq!(picked.first(), Some(&&samples[0]));
        assert_eq!(picked.last(), samples.last().as_ref());
        let is_close = |pair: &[&PathSample]| {
            pair[1].at.saturating_sub(pair[0].at) <= Duration::from_micros(101)
        };
        assert!(picked.windows(2).all(is_close));
        assert!(picked.contains(&&samples[55_555]));
        let few: Vec<PathSample> = (0..10).map(|index| sample(index * 1_000_000)).collect();
        assert_eq!(thin(&few, 1_000).len(), 10);
        assert!(thin(&few[..0], 1_000).is_empty());
    }

    #[test]
    fn a_step_for_every_change_of_the_value() {
        let mut path = PathSpec::default();
        assert_eq!(
            steps(&path, |at| Some(
                path.data.rates().at(at)?.bits_per_sec() as f64
            )),
            []
        );
        for (key, text) in [
            ("rate", "20mbit"),
            ("rtt", "40ms"),
            ("change", "at=2s,rate=5mbit"),
            ("change", "at=1s,rtt=80ms"),
        ] {
            path.set(key, text).unwrap();
        }
        let rate = |at| Some(path.data.rates().at(at)?.bits_per_sec() as f64 / 1e6);
        assert_eq!(steps(&path, rate), [(0.0, 20.0), (2.0, 5.0)]);
        let rtprop = |at| Some(path.rtts().at(at).as_millis_f64());
        assert_eq!(steps(&path, rtprop), [(0.0, 40.0), (1.0, 80.0)]);
    }
}
