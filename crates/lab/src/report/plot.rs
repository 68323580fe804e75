//! What the page draws: the lanes' samples as columns of numbers, in the units of the axes.

use serde::Serialize;
use units::Duration;

use super::lanes::Lane;
use crate::record::{FlowSample, Point, Record};
use crate::scenario::PathSpec;

/// Points a curve at most, and of all lanes together: more than a screen has pixels, few enough for a page that opens
/// at once.
const CURVE_POINTS: u64 = 4_000;
const ALL_POINTS: u64 = 40_000;

/// Everything the page's script gets.
#[derive(Serialize)]
pub(super) struct Plots {
    /// Where the time axis ends, in seconds.
    end: f64,
    paths: Vec<PathPlot>,
    lanes: Vec<LanePlot>,
}

/// A bottleneck: its queue over time, and lines for reference.
#[derive(Serialize)]
struct PathPlot {
    /// Its rate in Mbit/s.
    rate: Vec<Step>,
    /// RTprop in milliseconds.
    rtprop: Vec<Step>,
    /// Rate × RTprop in kilobytes.
    bdp: Vec<Step>,
    /// Times in seconds.
    t: Vec<f64>,
    /// Queues in kilobytes.
    queue: Vec<f64>,
}

/// A time in seconds, and the value from then on.
type Step = (f64, f64);

/// A flow: columns over the times `t`.
#[derive(Serialize)]
struct LanePlot {
    name: String,
    /// Its place in `paths`.
    path: usize,
    /// Seconds.
    t: Vec<f64>,
    /// Delivery rate in Mbit/s.
    rate: Vec<Option<f64>>,
    /// BBR's BtlBw in Mbit/s.
    btlbw: Vec<Option<f64>>,
    /// Milliseconds.
    rtt: Vec<Option<f64>>,
    /// Kilobytes.
    inflight: Vec<f64>,
    /// Kilobytes.
    cwnd: Vec<f64>,
    states: Vec<Stay>,
}

/// A stay in one state.
#[derive(Serialize)]
struct Stay {
    state: &'static str,
    /// Seconds.
    from: f64,
    /// Seconds.
    to: f64,
}

impl Plots {
    pub fn new(records: &[Record], lanes: &[Lane<'_>]) -> Plots {
        let points = (ALL_POINTS / lanes.len().max(1) as u64).clamp(100, CURVE_POINTS);
        let ends = records.iter().map(|record| record.summary.duration_s);
        Plots {
            end: ends.fold(0.0, f64::max),
            paths: records.iter().map(|record| path(record, points)).collect(),
            lanes: lanes.iter().map(|each| lane(each, points)).collect(),
        }
    }
}

fn path(record: &Record, points: u64) -> PathPlot {
    let spec = &record.scenario.path;
    let samples = record.paths.first().map_or(&[][..], |path| &path.samples);
    let samples = thin(samples, points);
    PathPlot {
        rate: steps(spec, |at| {
            Some(spec.rate_at(at)?.bits_per_sec() as f64 / 1e6)
        }),
        rtprop: steps(spec, |at| Some(spec.rtt_at(at).as_millis_f64())),
        bdp: steps(spec, |at| {
            let bdp = spec.rate_at(at)?.bytes_in(spec.rtt_at(at));
            Some(bdp.get() as f64 / 1e3)
        }),
        t: samples.iter().map(|sample| seconds(sample.at)).collect(),
        queue: samples
            .iter()
            .map(|sample| round(sample.queue.get() as f64 / 1e3))
            .collect(),
    }
}

/// What of the path has which value from when on: one step, and one more for each change of it.
fn steps(spec: &PathSpec, value: impl Fn(Duration) -> Option<f64>) -> Vec<Step> {
    let mut times: Vec<Duration> = spec.changes.iter().map(|change| change.at).collect();
    times.push(Duration::ZERO);
    times.sort();
    let steps = times
        .into_iter()
        .filter_map(|at| Some((seconds(at), round(value(at)?))));
    let mut steps: Vec<Step> = steps.collect();
    steps.dedup_by_key(|(_, value)| *value);
    steps
}

fn lane(lane: &Lane<'_>, points: u64) -> LanePlot {
    let samples = thin(&lane.flow.samples, points);
    LanePlot {
        name: lane.name.clone(),
        path: lane.record_index,
        t: column(&samples, |sample| seconds(sample.at)),
        rate: column(&samples, |sample| {
            Some(round(sample.delivery_rate?.bits_per_sec() as f64 / 1e6))
        }),
        btlbw: column(&samples, |sample| {
            Some(round(sample.btl_bw?.bits_per_sec() as f64 / 1e6))
        }),
        rtt: column(&samples, |sample| Some(round(sample.rtt?.as_millis_f64()))),
        inflight: column(&samples, |sample| round(sample.inflight.get() as f64 / 1e3)),
        cwnd: column(&samples, |sample| round(sample.cwnd.get() as f64 / 1e3)),
        states: stays(&lane.flow.samples),
    }
}

fn column<T>(samples: &[&FlowSample], value: impl Fn(&FlowSample) -> T) -> Vec<T> {
    samples.iter().map(|sample| value(sample)).collect()
}

/// About `points` of the samples at most, evenly over time, the first and the last among them; and the highest of those
/// between two of them if it is above both.
fn thin<P: Point>(samples: &[P], points: u64) -> Vec<&P> {
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
        let before = picked
            .last()
            .map_or(Duration::ZERO, |picked| picked.level());
        let sides = before.max(sample.level());
        picked.extend(peak.take().filter(|peak| peak.level() > sides));
        picked.push(sample);
    }
    picked
}

/// When the flow was in which state, from all samples: short stays count.
fn stays(samples: &[FlowSample]) -> Vec<Stay> {
    let mut stays: Vec<Stay> = Vec::new();
    for sample in samples {
        let at = seconds(sample.at);
        match stays.last_mut() {
            Some(stay) if stay.state == sample.state => stay.to = at,
            previous => {
                if let Some(stay) = previous {
                    stay.to = at;
                }
                stays.push(Stay {
                    state: sample.state,
                    from: at,
                    to: at,
                });
            }
        }
    }
    stays
}

/// A tenth of a millisecond, in seconds.
fn seconds(at: Duration) -> f64 {
    (at.as_secs_f64() * 1e4).round() / 1e4
}

/// Three decimals.
fn round(value: f64) -> f64 {
    (value * 1e3).round() / 1e3
}

#[cfg(test)]
mod tests {
    use super::{steps, thin};
    use crate::record::PathSample;
    use crate::scenario::PathSpec;
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
            steps(&path, |at| Some(path.rate_at(at)?.bits_per_sec() as f64)),
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
        let rate = |at| Some(path.rate_at(at)?.bits_per_sec() as f64 / 1e6);
        assert_eq!(steps(&path, rate), [(0.0, 20.0), (2.0, 5.0)]);
        let rtprop = |at| Some(path.rtt_at(at).as_millis_f64());
        assert_eq!(steps(&path, rtprop), [(0.0, 40.0), (1.0, 80.0)]);
    }
}
