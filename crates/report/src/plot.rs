//! What the page draws: the lanes' samples as columns of numbers, in the units of the axes.

use serde::Serialize;
use units::Duration;

use super::lanes::{Lane, groups};
use super::overview::is_in_groups;
use super::points::{Step, kilobytes, megabits, rates, round, rtprops, seconds, steps, thin};

use record::{FlowSample, Record, Throughput};

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
        let of_controller = |lane: &Lane<'_>| {
            let mut names = controllers.iter().map(|(name, _)| *name);
            names.position(|name| name == lane.summary.controller)
        };
        let color = |index: usize, lane: &Lane<'_>| {
            let of_crowd = of_controller(lane).filter(|_| is_crowd);
            of_crowd.unwrap_or(index)
        };
        let colors = (0..).zip(lanes).map(|(index, lane)| color(index, lane));
        let rows = if is_in_groups(lanes) {
            let firsts = groups(lanes);
            let firsts = firsts.iter().filter_map(|group| group.lanes.first());
            firsts.map(|lane| color(0, lane)).collect()
        } else {
            colors.clone().collect()
        };
        let crowd = (0..).zip(&controllers).filter(|_| is_crowd);
        let single = (0..).zip(lanes).filter(|_| !is_crowd);
        let of_crowd = |(color, (name, lanes)): (usize, &(&str, Vec<&Lane<'_>>))| Entry {
            name: format!("{name} ×{}", lanes.len()),
            color,
        };
        let of_lane = |(color, lane): (usize, &Lane<'_>)| Entry {
            name: lane.name.clone(),
            color,
        };
        let drawn = lanes.iter().zip(colors);
        let drawn = drawn.step_by(lanes.len().div_ceil(DRAWN).max(1));
        let draw = |(each, color)| {
            if is_crowd {
                in_crowd(each, color, end)
            } else {
                lane(each, color, points)
            }
        };
        Plots {
            end,
            is_crowd,
            legend: crowd
                .clone()
                .map(of_crowd)
                .chain(single.map(of_lane))
                .collect(),
            rows,
            totals: crowd
                .map(|(color, (name, lanes))| total(name, color, lanes, end))
                .collect(),
            paths: records.iter().map(|record| path(record, points)).collect(),
            lanes: drawn.map(draw).collect(),
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
        rate: rates(spec),
        rtprop: rtprops(spec),
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
fn in_crowd(lane: &Lane<'_>, color: usize, end: f64) -> LanePlot {
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
