//! What the page draws: the lanes' samples as columns of numbers, in the units of the axes.

use serde::Serialize;
use units::{Bytes, Duration, Rate};

use super::lanes::{Lane, groups};
use super::table::is_in_groups;
use record::{FlowSample, Point, Record, Throughput};
use scenario::PathSpec;

/// Points a curve at most, and of all lanes together: more than a screen has pixels, few enough for a page that opens
/// at once.
const CURVE_POINTS: u64 = 4_000;
const ALL_POINTS: u64 = 40_000;

/// More lanes than these are a crowd: coloured by controller, without their states, and with totals by controller.
const CROWD: usize = 12;
/// Of a crowd, so many lanes are drawn at most, at so many common times.
const DRAWN: usize = 100;
const GRID: u64 = 400;

/// Everything the page's script gets.
#[derive(Serialize)]
pub(super) struct Plots {
    /// Where the time axis ends, in seconds.
    end: f64,
    is_crowd: bool,
    legend: Vec<Entry>,
    /// The colours of the table's rows.
    rows: Vec<usize>,
    /// Of a crowd: what the flows of each controller delivered together.
    totals: Vec<TotalPlot>,
    paths: Vec<PathPlot>,
    lanes: Vec<LanePlot>,
    #[serde(skip)]
    all_lanes: usize,
}

/// What has which colour.
#[derive(Serialize)]
struct Entry {
    name: String,
    color: usize,
}

/// What the flows of a controller delivered together.
#[derive(Serialize)]
struct TotalPlot {
    name: String,
    color: usize,
    /// Seconds: the middles of the intervals.
    t: Vec<f64>,
    /// Mbit/s.
    rate: Vec<f64>,
}

/// A path: its queues over time, and lines for reference.
#[derive(Serialize)]
struct PathPlot {
    /// Its rate in Mbit/s.
    rate: Vec<Step>,
    /// RTprop in milliseconds.
    rtprop: Vec<Step>,
    /// Rate × RTprop in kilobytes.
    bdp: Vec<Step>,
    /// One for each of its bottlenecks of which something is known.
    queues: Vec<QueuePlot>,
}

/// A queue over time.
#[derive(Serialize)]
struct QueuePlot {
    /// Which bottleneck, if there are several.
    hop: Option<usize>,
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
    color: usize,
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
    inflight: Vec<Option<f64>>,
    /// Kilobytes.
    cwnd: Vec<Option<f64>>,
    states: Vec<Stay>,
}

/// A stay in one state.
#[derive(Serialize)]
struct Stay {
    state: &'static str,
    /// The class of its colour.
    color: &'static str,
    /// Seconds.
    from: f64,
    /// Seconds.
    to: f64,
}

impl Plots {
    pub fn new(records: &[Record], lanes: &[Lane<'_>]) -> Plots {
        let ends = records.iter().map(|record| record.summary.duration_s);
        let end = ends.fold(0.0, f64::max);
        let is_crowd = lanes.len() > CROWD;
        let points = (ALL_POINTS / lanes.len().max(1) as u64).clamp(GRID, CURVE_POINTS);
        let controllers = controllers(lanes);
        let color = |lane: &Lane<'_>| {
            let same = |(name, _): &(&str, Vec<&Lane<'_>>)| *name == lane.summary.controller;
            controllers.iter().position(same).unwrap_or(0)
        };
        let row_colors: Vec<usize> = match (is_crowd, is_in_groups(lanes)) {
            (false, _) => (0..lanes.len()).collect(),
            (true, false) => lanes.iter().map(color).collect(),
            (true, true) => groups(lanes)
                .iter()
                .filter_map(|group| group.lanes.first().map(|lane| color(lane)))
                .collect(),
        };
        let legend = match is_crowd {
            false => (0..)
                .zip(lanes)
                .map(|(color, lane)| Entry {
                    name: lane.name.clone(),
                    color,
                })
                .collect(),
            true => (0..)
                .zip(&controllers)
                .map(|(color, (name, lanes))| Entry {
                    name: format!("{name} ×{}", lanes.len()),
                    color,
                })
                .collect(),
        };
        let drawn = lanes.iter().enumerate();
        let drawn = drawn.step_by(lanes.len().div_ceil(DRAWN).max(1));
        Plots {
            end,
            is_crowd,
            legend,
            rows: row_colors,
            totals: match is_crowd {
                true => (0..)
                    .zip(&controllers)
                    .map(|(color, (name, lanes))| total(name, color, lanes, end))
                    .collect(),
                false => Vec::new(),
            },
            paths: records.iter().map(|record| path(record, points)).collect(),
            lanes: drawn
                .map(|(index, each)| match is_crowd {
                    true => of_crowd(each, color(each), end),
                    false => lane(each, index, points),
                })
                .collect(),
            all_lanes: lanes.len(),
        }
    }

    /// What is to be said if not all lanes are drawn.
    pub fn omission(&self) -> Option<String> {
        (self.lanes.len() < self.all_lanes).then(|| {
            format!(
                "Of {} flows, every {}th is drawn; the sums are of all.",
                self.all_lanes,
                self.all_lanes.div_ceil(DRAWN)
            )
        })
    }
}

/// The lanes by controller, in the order of their first lanes.
fn controllers<'l, 'r>(lanes: &'l [Lane<'r>]) -> Vec<(&'l str, Vec<&'l Lane<'r>>)> {
    let mut controllers: Vec<(&str, Vec<&Lane<'_>>)> = Vec::new();
    for lane in lanes {
        let name = lane.summary.controller.as_str();
        match controllers.iter_mut().find(|(known, _)| *known == name) {
            Some((_, lanes)) => lanes.push(lane),
            None => controllers.push((name, vec![lane])),
        }
    }
    controllers
}

/// What these lanes delivered together, over whole intervals.
fn total(name: &str, color: usize, lanes: &[&Lane<'_>], end: f64) -> TotalPlot {
    let throughputs = || lanes.iter().map(|lane| &lane.flow.throughput);
    let interval = throughputs()
        .map(Throughput::interval)
        .max()
        .unwrap_or(Duration::from_secs(1));
    let whole = (end / interval.as_secs_f64()) as usize;
    let mut bytes = vec![0u64; whole];
    for throughput in throughputs() {
        // Intervals are powers of two of a second.
        let parts = interval.as_nanos() / throughput.interval().as_nanos();
        let parts = usize::try_from(parts).unwrap_or(1);
        for (sum, parts) in bytes.iter_mut().zip(throughput.bytes().chunks(parts)) {
            *sum = parts
                .iter()
                .fold(*sum, |sum, part| sum.saturating_add(*part));
        }
    }
    TotalPlot {
        name: name.to_string(),
        color,
        t: (0..whole)
            .map(|index| (index as f64 + 0.5) * interval.as_secs_f64())
            .collect(),
        rate: bytes
            .iter()
            .map(|bytes| round(*bytes as f64 * 8.0 / interval.as_secs_f64() / 1e6))
            .collect(),
    }
}

fn path(record: &Record, points: u64) -> PathPlot {
    let spec = &record.scenario.path;
    let hops = record.paths.iter().enumerate();
    let queues = hops.filter(|(_, path)| !path.samples.is_empty());
    PathPlot {
        rate: steps(spec, |at| {
            Some(spec.data.rate_at(at)?.bits_per_sec() as f64 / 1e6)
        }),
        rtprop: steps(spec, |at| Some(spec.rtt_at(at).as_millis_f64())),
        bdp: steps(spec, |at| {
            let bdp = spec.data.rate_at(at)?.bytes_in(spec.rtt_at(at));
            Some(bdp.get() as f64 / 1e3)
        }),
        queues: queues
            .map(|(hop, path)| {
                let samples = thin(&path.samples, points);
                QueuePlot {
                    hop: (record.paths.len() > 1).then_some(hop),
                    t: samples.iter().map(|sample| seconds(sample.at)).collect(),
                    queue: samples
                        .iter()
                        .map(|sample| kilobytes(sample.queue))
                        .collect(),
                }
            })
            .collect(),
    }
}

/// What of the path has which value from when on: one step, and one more for each change of it.
fn steps(spec: &PathSpec, value: impl Fn(Duration) -> Option<f64>) -> Vec<Step> {
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

fn lane(lane: &Lane<'_>, color: usize, points: u64) -> LanePlot {
    let samples = thin(&lane.flow.samples, points);
    let times = samples.iter().map(|sample| seconds(sample.at)).collect();
    let samples: Vec<Option<&FlowSample>> = samples.into_iter().map(Some).collect();
    LanePlot {
        states: stays(&lane.flow.samples),
        ..columns(lane, color, times, &samples)
    }
}

/// A lane of many: at each of the common times what its latest sample says, as long as it lives.
fn of_crowd(lane: &Lane<'_>, color: usize, end: f64) -> LanePlot {
    let samples = &lane.flow.samples;
    let last = samples.last().map_or(0.0, |sample| sample.at.as_secs_f64());
    let times = (0..=GRID).map(|index| end * index as f64 / GRID as f64);
    let times: Vec<f64> = times.map(|at| (at * 1e4).round() / 1e4).collect();
    let seen = times.iter().map(|at| {
        let after = samples.partition_point(|sample| sample.at.as_secs_f64() <= *at);
        let latest = after.checked_sub(1).and_then(|latest| samples.get(latest));
        latest.filter(|_| *at <= last)
    });
    let seen: Vec<Option<&FlowSample>> = seen.collect();
    columns(lane, color, times, &seen)
}

fn columns(
    lane: &Lane<'_>,
    color: usize,
    times: Vec<f64>,
    samples: &[Option<&FlowSample>],
) -> LanePlot {
    LanePlot {
        name: lane.name.clone(),
        color,
        path: lane.record_index,
        t: times,
        rate: column(samples, |sample| Some(megabits(sample.delivery_rate?))),
        btlbw: column(samples, |sample| Some(megabits(sample.btl_bw?))),
        rtt: column(samples, |sample| Some(round(sample.rtt?.as_millis_f64()))),
        inflight: column(samples, |sample| Some(kilobytes(sample.inflight))),
        cwnd: column(samples, |sample| Some(kilobytes(sample.cwnd))),
        states: Vec::new(),
    }
}

fn column(
    samples: &[Option<&FlowSample>],
    value: impl Fn(&FlowSample) -> Option<f64>,
) -> Vec<Option<f64>> {
    let values = samples.iter().map(|sample| (*sample).and_then(&value));
    values.collect()
}

/// About `points` of the samples at most, evenly over time, the first and the last among them; and the highest of those
/// between two of them if it is above both.
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

/// When the flow was in which state, from all samples: short stays count.
fn stays(samples: &[FlowSample]) -> Vec<Stay> {
    let mut stays: Vec<Stay> = Vec::new();
    for sample in samples {
        let Some(state) = sample.state else { continue };
        let at = seconds(sample.at);
        match stays.last_mut() {
            Some(stay) if stay.state == state.name => stay.to = at,
            previous => {
                if let Some(stay) = previous {
                    stay.to = at;
                }
                stays.push(Stay {
                    state: state.name,
                    color: state.phase.colour(),
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

fn megabits(rate: Rate) -> f64 {
    round(rate.bits_per_sec() as f64 / 1e6)
}

fn kilobytes(bytes: Bytes) -> f64 {
    round(bytes.get() as f64 / 1e3)
}

/// Three decimals.
fn round(value: f64) -> f64 {
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
                path.data.rate_at(at)?.bits_per_sec() as f64
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
        let rate = |at| Some(path.data.rate_at(at)?.bits_per_sec() as f64 / 1e6);
        assert_eq!(steps(&path, rate), [(0.0, 20.0), (2.0, 5.0)]);
        let rtprop = |at| Some(path.rtt_at(at).as_millis_f64());
        assert_eq!(steps(&path, rtprop), [(0.0, 40.0), (1.0, 80.0)]);
    }
}
