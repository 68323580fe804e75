//! The data of the page's plots: the lanes' samples as columns of numbers, in the units of the axes.

use serde::Serialize;
use units::Duration;

use super::lanes::{Lane, controllers, groups, is_in_groups};
use super::links::busiest;
use super::places::places;
use super::points::{
    Step, is_pause, kilobytes, megabits, rates, round, rtprops, seconds, steps, thin,
};

use record::{FlowSample, Record, Throughput};

/// The maximum points of a curve, and of all lanes together: more than a screen has pixels, few enough for a page that
/// opens at once.
const MAX_CURVE_POINTS: u64 = 4_000;
const MAX_POINTS: u64 = 40_000;

/// The maximum number of lanes that are drawn in full. More are a crowd: coloured by controller, without their states,
/// and with totals by controller.
const MAX_FULL_LANES: usize = 12;
/// The maximum number of lanes that are drawn of a crowd, and of their common times.
const MAX_DRAWN_LANES: usize = 100;
const CROWD_TIMES: u64 = 400;

/// The data of the page's script.
#[derive(Serialize)]
pub(super) struct Plots {
    /// The end of the time axis, in seconds.
    end: f64,
    is_crowd: bool,
    legend: Vec<Entry>,
    /// The colours of the table's rows.
    #[serde(skip)]
    pub rows: Vec<usize>,
    /// The deliveries of each controller's flows together, of a crowd.
    totals: Vec<TotalPlot>,
    paths: Vec<PathPlot>,
    lanes: Vec<LanePlot>,
    #[serde(skip)]
    all_lanes: usize,
}

/// An entry of the legend.
#[derive(Serialize)]
struct Entry {
    name: String,
    color: usize,
}

/// The deliveries of a controller's flows together.
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
    /// One for each of its bottlenecks with samples, at most [`MAX_QUEUES`].
    queues: Vec<QueuePlot>,
}

/// The maximum number of queues in a plot: the longest ones of a network.
const MAX_QUEUES: usize = 64;

/// A queue over time.
#[derive(Serialize)]
struct QueuePlot {
    /// The index of the bottleneck, if there are several.
    hop: Option<usize>,
    /// The name of its link, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    /// Times in seconds.
    t: Vec<f64>,
    /// Queues in kilobytes.
    queue: Vec<f64>,
}

/// A flow: columns over the times `t`.
#[derive(Serialize)]
struct LanePlot {
    name: String,
    controller: String,
    color: usize,
    /// Its index in `paths`.
    path: usize,
    /// Seconds.
    t: Vec<f64>,
    /// The indices of the times at which curves are interrupted by a pause.
    pauses: Vec<usize>,
    /// Delivery rate in Mbit/s.
    rate: Vec<Option<f64>>,
    /// BBR's BtlBw in Mbit/s.
    btlbw: Vec<Option<f64>>,
    /// BBRv3's bounds: in Mbit/s, and in kilobytes. Empty without any.
    short_bw: Vec<Option<f64>>,
    short_inflight: Vec<Option<f64>>,
    long_inflight: Vec<Option<f64>>,
    /// Milliseconds.
    rtt: Vec<Option<f64>>,
    /// Kilobytes.
    inflight: Vec<Option<f64>>,
    /// Kilobytes.
    cwnd: Vec<Option<f64>>,
    states: Vec<Stay>,
}

/// A period in one state.
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
        let points = (MAX_POINTS / lanes.len().max(1) as u64).clamp(CROWD_TIMES, MAX_CURVE_POINTS);
        let is_crowd = lanes.len() > MAX_FULL_LANES;
        let crowds = if is_crowd { crowds(lanes) } else { Vec::new() };
        let of_crowd = |lane: &Lane<'_>| {
            let mut crowds = crowds.iter();
            let crowd = crowds.find(|crowd| crowd.name == lane.summary.controller);
            crowd.map_or(0, |crowd| crowd.color)
        };
        let colors: Vec<usize> = if is_crowd {
            lanes.iter().map(of_crowd).collect()
        } else {
            places(&controllers(lanes))
        };
        let rows = if is_in_groups(lanes) {
            let groups = groups(lanes);
            let firsts = groups.iter().filter_map(|group| group.lanes.first());
            firsts.map(|lane| of_crowd(lane)).collect()
        } else {
            colors.clone()
        };
        let entry = |name, color| Entry { name, color };
        let legend = if is_crowd {
            let name = |crowd: &Crowd<'_, '_>| format!("{} ×{}", crowd.name, crowd.lanes.len());
            let entries = crowds.iter().map(|crowd| entry(name(crowd), crowd.color));
            entries.collect()
        } else {
            let entries = lanes.iter().zip(&colors);
            let entries = entries.map(|(lane, color)| entry(lane.name.clone(), *color));
            entries.collect()
        };
        let drawn = lanes.iter().zip(colors);
        let drawn = drawn.step_by(lanes.len().div_ceil(MAX_DRAWN_LANES).max(1));
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
            legend,
            rows,
            totals: crowds.iter().map(|crowd| crowd.total(end)).collect(),
            paths: records.iter().map(|record| path(record, points)).collect(),
            lanes: drawn.map(draw).collect(),
            all_lanes: lanes.len(),
        }
    }

    /// A sentence on the lanes that are not drawn, if there are any.
    pub fn omission(&self) -> Option<String> {
        (self.lanes.len() < self.all_lanes).then(|| {
            format!(
                "Of {} flows, every {}th is drawn; the sums are of all.",
                self.all_lanes,
                self.all_lanes.div_ceil(MAX_DRAWN_LANES)
            )
        })
    }
}

/// The lanes of a controller, if they are many.
struct Crowd<'l, 'r> {
    name: &'l str,
    color: usize,
    lanes: Vec<&'l Lane<'r>>,
}

/// The lanes by controller, in the order of their first lanes.
fn crowds<'l, 'r>(lanes: &'l [Lane<'r>]) -> Vec<Crowd<'l, 'r>> {
    let mut crowds: Vec<Crowd<'_, '_>> = Vec::new();
    for (lane, name) in lanes.iter().zip(controllers(lanes)) {
        match crowds.iter_mut().find(|crowd| crowd.name == name) {
            Some(crowd) => crowd.lanes.push(lane),
            None => crowds.push(Crowd {
                name,
                color: 0,
                lanes: vec![lane],
            }),
        }
    }
    let names: Vec<&str> = crowds.iter().map(|crowd| crowd.name).collect();
    for (crowd, color) in crowds.iter_mut().zip(places(&names)) {
        crowd.color = color;
    }
    crowds
}

impl Crowd<'_, '_> {
    /// Returns the deliveries of these lanes together, over whole intervals.
    fn total(&self, end: f64) -> TotalPlot {
        let throughputs = || self.lanes.iter().map(|lane| &lane.flow.throughput);
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
            name: self.name.to_string(),
            color: self.color,
            t: (0..whole)
                .map(|index| (index as f64 + 0.5) * interval.as_secs_f64())
                .collect(),
            rate: bytes
                .iter()
                .map(|bytes| round(*bytes as f64 * 8.0 / interval.as_secs_f64() / 1e6))
                .collect(),
        }
    }
}

fn path(record: &Record, points: u64) -> PathPlot {
    let spec = &record.scenario.path;
    let (rates_over_time, rtts) = (spec.data.rates(), spec.rtts());
    let hops = busiest(record, MAX_QUEUES).into_iter();
    let hops = hops.filter_map(|(hop, link)| Some((hop, &link.name, record.paths.get(hop)?)));
    let queues = hops.filter(|(.., path)| !path.samples.is_empty());
    PathPlot {
        rate: rates(spec),
        // The flows of a network have an RTprop each.
        rtprop: if record.scenario.links.is_empty() {
            rtprops(spec)
        } else {
            Vec::new()
        },
        bdp: steps(spec, |at| {
            let bdp = rates_over_time.at(at)?.bytes_in(rtts.at(at));
            Some(bdp.get() as f64 / 1e3)
        }),
        queues: queues
            .map(|(hop, name, path)| {
                let samples = thin(&path.samples, points);
                QueuePlot {
                    hop: (record.paths.len() > 1).then_some(hop),
                    name: name.clone(),
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
    let span = lane
        .flow
        .samples
        .last()
        .map_or(Duration::ZERO, |last| last.at);
    let (mut times, mut samples) = (Vec::new(), Vec::new());
    let mut before: Option<&FlowSample> = None;
    for sample in thin(&lane.flow.samples, points) {
        if let Some(before) = before {
            let rtt = before.srtt.or(before.rtt);
            let pause = sample.at.saturating_sub(before.at);
            if is_pause(pause, rtt, span) {
                times.push(seconds(before.at + pause / 2));
                samples.push(None);
            }
        }
        times.push(seconds(sample.at));
        samples.push(Some(sample));
        before = Some(sample);
    }
    LanePlot {
        states: stays(&lane.flow.samples),
        ..columns(lane, color, times, &samples)
    }
}

/// Returns a lane of a crowd: at each of the common times, the values of its latest sample, during its life.
fn in_crowd(lane: &Lane<'_>, color: usize, end: f64) -> LanePlot {
    let samples = &lane.flow.samples;
    let span = samples.last().map_or(Duration::ZERO, |sample| sample.at);
    let last = span.as_secs_f64();
    let times = (0..=CROWD_TIMES).map(|index| end * index as f64 / CROWD_TIMES as f64);
    let times: Vec<f64> = times.map(|at| (at * 1e4).round() / 1e4).collect();
    let seen = times.iter().map(|at| {
        let after = samples.partition_point(|sample| sample.at.as_secs_f64() <= *at);
        let latest = after.checked_sub(1).and_then(|latest| samples.get(latest));
        latest.filter(|latest| {
            let age = Duration::from_nanos((at * 1e9) as u64).saturating_sub(latest.at);
            *at <= last && !is_pause(age, latest.srtt.or(latest.rtt), span)
        })
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
        controller: lane.summary.controller.clone(),
        color,
        path: lane.record_index,
        t: times,
        pauses: (0..samples.len())
            .filter(|place| samples[*place].is_none())
            .collect(),
        rate: column(samples, |sample| Some(megabits(sample.delivery_rate?))),
        btlbw: column(samples, |sample| Some(megabits(sample.btl_bw?))),
        short_bw: bound(samples, |sample| Some(megabits(sample.short_term_bw?))),
        short_inflight: bound(samples, |sample| {
            Some(kilobytes(sample.short_term_inflight?))
        }),
        long_inflight: bound(samples, |sample| {
            Some(kilobytes(sample.long_term_inflight?))
        }),
        rtt: column(samples, |sample| Some(round(sample.rtt?.as_millis_f64()))),
        inflight: column(samples, |sample| Some(kilobytes(sample.inflight))),
        cwnd: column(samples, |sample| Some(kilobytes(sample.cwnd))),
        states: Vec::new(),
    }
}

/// Returns a column that is empty if no sample has a value.
fn bound(
    samples: &[Option<&FlowSample>],
    value: impl Fn(&FlowSample) -> Option<f64>,
) -> Vec<Option<f64>> {
    let values = column(samples, value);
    if values.iter().any(Option::is_some) {
        values
    } else {
        Vec::new()
    }
}

fn column(
    samples: &[Option<&FlowSample>],
    value: impl Fn(&FlowSample) -> Option<f64>,
) -> Vec<Option<f64>> {
    let values = samples.iter().map(|sample| (*sample).and_then(&value));
    values.collect()
}

/// Returns the periods of the flow's states, from all samples, so that short ones count.
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
