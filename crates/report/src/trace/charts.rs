//! Charts of connections.

use draw::{Axis, Chart, Curve, Dash, GREY, Look, Picture, Rule, Unit, cdf};
use trace::{FlowSummary, FlowTimeline, Limit, Sample, Summary};
use units::{Duration, Rate, Time};

use super::table::limits;
use crate::points::is_pause;
use tables::numbers::{bits_per_sec, count, known, percent, span};
use tables::statistics::Sorted;

/// The maximum number of points of a time line.
const MAX_POINTS: usize = 1200;

/// The number of inflight values at which the operating point is shown.
const BINS: usize = 40;

/// The minimum number of samples at an inflight value for a distribution.
const MIN_BIN_SAMPLES: usize = 3;

/// The minimum number of connections for a distribution.
const MIN_CONNECTIONS: usize = 5;

/// The minimum ratio of values on a logarithmic axis. Others have a linear axis.
const MIN_LOG_RATIO: f64 = 5.0;

/// The labels of a distribution's lines.
const OUTER: &str = "5th and 95th percentile";
const MEDIAN: &str = "median";

/// The number of steps of a time line's rates.
const RATE_STEPS: u64 = 300;

/// Draws a flow over time, from its own start, and its operating point; `None` if it has few samples.
pub fn picture(timeline: &FlowTimeline, summary: &FlowSummary) -> Option<Picture> {
    let first = timeline.samples.first()?;
    flow(timeline, summary, first.at)
}

/// Draws a flow over time (as the paper's figure 2), and its operating point: RTT and delivery rate by inflight (as the
/// paper's figure 1).
pub fn flow(flow: &FlowTimeline, summary: &FlowSummary, origin: Time) -> Option<Picture> {
    let samples = &flow.samples[..];
    let (first, last) = (samples.first()?, samples.last()?);
    if samples.len() < 8 {
        return None;
    }
    let seconds = |at: Time| at.since(origin).as_secs_f64();
    let time = || Axis::linear("time", Unit::SECONDS, seconds(first.at), seconds(last.at));
    let every = samples.len().div_ceil(MAX_POINTS);
    let points = |samples: &[Sample], of: &dyn Fn(&Sample) -> Option<f64>| -> Vec<(f64, f64)> {
        let shown = samples.iter().step_by(every);
        shown
            .filter_map(|sample| Some((seconds(sample.at), of(sample)?)))
            .collect()
    };
    // A curve of measurements has a part for each time between two pauses.
    let parts = parts(samples);
    let measured = |name: &str, look: Look, of: &dyn Fn(&Sample) -> Option<f64>| -> Vec<Curve> {
        let parts = parts.iter().map(|part| points(part, of));
        parts.map(|points| Curve::new(name, look, points)).collect()
    };
    let line = |place| Look::of_place(place).wide(1.2);
    let rate = throughput(samples, &seconds);
    let btl_bw = points(samples, &|sample| Some(megabits(sample.btl_bw)));
    let rtt = |sample: &Sample| Some(sample.rtt?.as_millis_f64());
    let rtprop = points(samples, &|sample| Some(sample.rtprop?.as_millis_f64()));
    let inflight = |sample: &Sample| Some(sample.inflight.get() as f64 / 1e3);
    let reference = Look::line(GREY, Dash::Dashed);
    let values = |points: &[(f64, f64)]| points.iter().map(|point| point.1).collect::<Vec<_>>();
    let chart = |name, unit, curves: Vec<Curve>| {
        let all = curves.iter().flat_map(|curve| values(&curve.points));
        let axis = Axis::from_zero(name, unit, all.collect::<Vec<_>>());
        Chart::new(time(), axis).with_all(curves)
    };
    let over_time = [
        chart(
            "delivery rate",
            Unit::MEGABITS_PER_SECOND,
            vec![
                Curve::new("delivered", line(0), rate),
                Curve::new("BtlBw, RTprop", reference, btl_bw),
            ],
        ),
        chart(
            "RTT",
            Unit::MILLISECONDS,
            [
                measured("RTT", line(1), &rtt),
                vec![Curve::new("BtlBw, RTprop", reference, rtprop)],
            ]
            .concat(),
        ),
        chart(
            "in flight",
            Unit::KILOBYTES,
            measured("in flight", line(2), &inflight),
        ),
        bands(samples, time(), &seconds),
    ];
    let charts = over_time.into_iter().chain(operating_point(flow));
    let title = format!("{} → {}", summary.from, summary.to);
    let picture = Picture::of(title, 2, 240.0, charts);
    Some(explained(picture, summary))
}

fn explained(picture: Picture, flow: &FlowSummary) -> Picture {
    let packets = flow.packets.max(1) as f64;
    let bound = if flow.is_pipe_filled { "" } else { "at least " };
    let picture = picture.explained(format!(
        "RTprop {}, BtlBw {bound}{}, lost {}; {}; limited by {}.",
        known(flow.rtprop_ms, span),
        known(flow.btl_bw_ip_bps.map(|rate| rate as f64), bits_per_sec),
        known(flow.lost.map(|lost| lost as f64 / packets), percent),
        flow.captured(),
        flow.limited_by.as_ref().map_or("–".to_owned(), limits),
    ));
    match &flow.controller {
        Some(guess) => picture.explained(format!(
            "Controller: probably {} ({:.0} %), as it {}.",
            guess.controller,
            guess.probability * 100.0,
            guess.signs.join("; it ")
        )),
        None => picture,
    }
}

/// The samples between pauses.
fn parts(samples: &[Sample]) -> Vec<&[Sample]> {
    let (Some(first), Some(last)) = (samples.first(), samples.last()) else {
        return Vec::new();
    };
    let span = last.at.since(first.at);
    let is_on = |one: &Sample, next: &Sample| {
        let rtt = one.rtt.or(one.rtprop);
        !is_pause(next.at.since(one.at), rtt, span)
    };
    samples.chunk_by(is_on).collect()
}

/// Returns the delivery per second in steps, with a level line for each, so that the line is not below them in a pause.
fn throughput(samples: &[Sample], seconds: &impl Fn(Time) -> f64) -> Vec<(f64, f64)> {
    let (Some(first), Some(last)) = (samples.first(), samples.last()) else {
        return Vec::new();
    };
    let step = last.at.since(first.at) / RATE_STEPS;
    let mut points = Vec::new();
    let mut since = first;
    for sample in samples {
        let span = sample.at.since(since.at);
        if span >= step && !span.is_zero() {
            let bytes = sample.delivered - since.delivered;
            let rate = megabits(Rate::from_transfer(bytes, span));
            points.extend([since.at, sample.at].map(|at| (seconds(at), rate)));
            since = sample;
        }
    }
    points
}

/// Returns the flow's limits over time, as steps.
fn bands(samples: &[Sample], time: Axis, seconds: &impl Fn(Time) -> f64) -> Chart {
    let names = Limit::ALL
        .iter()
        .map(|limit| limit.name().replace('_', " "));
    let mut points: Vec<(f64, f64)> = Vec::new();
    let every = samples.len().div_ceil(MAX_POINTS);
    for sample in samples.iter().step_by(every) {
        points.push((seconds(sample.at), sample.limit as usize as f64));
    }
    let look = Look::of_place(3).wide(1.2);
    let curve = Curve::new("limited by", look, points).stepped();
    Chart::new(time, Axis::of_kinds("limited by", names)).with(curve)
}

/// Draws RTT and delivery rate as functions of inflight: the median, and the 5th and 95th percentiles.
fn operating_point(flow: &FlowTimeline) -> Vec<Chart> {
    let samples = &flow.samples[..];
    let Some(bdp) = flow.bdp.map(|bdp| bdp.get() as f64 / 1e3) else {
        return Vec::new();
    };
    let kilobytes = |sample: &Sample| sample.inflight.get() as f64 / 1e3;
    let most = samples.iter().map(kilobytes).fold(bdp, f64::max) * 1.02;
    let chart = |name: &str, unit, of: &dyn Fn(&Sample) -> Option<f64>| {
        let mut bins: Vec<Vec<f64>> = vec![Vec::new(); BINS];
        for sample in samples {
            let place = (kilobytes(sample) / most * BINS as f64) as usize;
            if let (Some(bin), Some(value)) = (bins.get_mut(place), of(sample)) {
                bin.push(value);
            }
        }
        let bins: Vec<Sorted> = bins.into_iter().map(Sorted::from_iter).collect();
        let quantile = |share: f64| {
            let points = bins.iter().enumerate().filter_map(|(place, bin)| {
                let value = bin.quantile(share)?;
                (bin.values().len() >= MIN_BIN_SAMPLES)
                    .then_some(((place as f64 + 0.5) / BINS as f64 * most, value))
            });
            points.collect::<Vec<_>>()
        };
        let curves = quantiles(quantile);
        let all: Vec<f64> = curves
            .iter()
            .flat_map(|curve| curve.points.iter().map(|point| point.1))
            .collect();
        let x = Axis::linear("in flight", Unit::KILOBYTES, 0.0, most);
        Chart::new(x, Axis::from_zero(name, unit, all))
            .with_all(curves)
            .with(Rule::vertical(bdp, "BDP"))
    };
    vec![
        chart("RTT", Unit::MILLISECONDS, &|sample| {
            Some(sample.rtt?.as_millis_f64())
        }),
        chart("delivery rate", Unit::MEGABITS_PER_SECOND, &|sample| {
            Some(megabits(sample.delivery_rate?))
        }),
    ]
}

/// Returns the lines of both charts, which share a legend.
fn quantiles(of: impl Fn(f64) -> Vec<(f64, f64)>) -> Vec<Curve> {
    let line = |dash, width| Look::line(Look::of_place(4).colour, dash).wide(width);
    let faint = line(Dash::Dotted, 1.2);
    vec![
        Curve::new(OUTER, faint, of(0.05)),
        Curve::new(OUTER, faint, of(0.95)),
        Curve::new(MEDIAN, line(Dash::Solid, 1.6), of(0.5)),
    ]
}

/// Returns an axis from the minimum to the maximum of these values, with a little room. A logarithmic axis of less than
/// a decade has few round numbers.
fn axis_of(name: &str, unit: Unit, least: f64, most: f64) -> Axis {
    if most < least * MIN_LOG_RATIO {
        return Axis::linear(name, unit, least * 0.95, most * 1.05);
    }
    Axis::log(name, unit, least * 0.8, most * 1.25)
}

/// Draws distributions over connections, with each one's direction of the most data.
pub fn distributions(summary: &Summary) -> Option<Picture> {
    let flows: Vec<&FlowSummary> = summary
        .connections
        .iter()
        .filter_map(|connection| connection.flows.first())
        .collect();
    if flows.len() < MIN_CONNECTIONS {
        return None;
    }
    let chart = |name: &str, unit, scale: f64, of: &dyn Fn(&FlowSummary) -> Option<f64>| {
        let values: Vec<f64> = flows
            .iter()
            .filter_map(|flow| Some(of(flow)? / scale))
            .filter(|value| value.is_finite() && *value > 0.0)
            .collect();
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        let most = values.iter().copied().fold(0.0, f64::max);
        (most > 0.0).then(|| {
            let y = Axis::linear("connections", Unit::PERCENT, 0.0, 100.0);
            let points = cdf(values).into_iter().map(|(x, y)| (x, y * 100.0));
            let curve = Curve::new("connections", Look::of_place(0).wide(1.6), points);
            Chart::new(axis_of(name, unit, least, most), y).with(curve)
        })
    };
    let charts = [
        chart("goodput", Unit::MEGABITS_PER_SECOND, 1e6, &|flow| {
            Some(flow.goodput_bps? as f64)
        }),
        chart("RTprop", Unit::MILLISECONDS, 1.0, &|flow| flow.rtprop_ms),
        chart("BtlBw", Unit::MEGABITS_PER_SECOND, 1e6, &|flow| {
            Some(flow.btl_bw_ip_bps? as f64)
        }),
        chart("lost", Unit::PERCENT, 0.01, &|flow| {
            Some(flow.lost? as f64 / flow.packets.max(1) as f64)
        }),
    ];
    let charts: Vec<Chart> = charts.into_iter().flatten().collect();
    (!charts.is_empty()).then(|| {
        let all = count(summary.connections.len() as u64, "connection");
        let title = if flows.len() < summary.connections.len() {
            format!("{} of {all}: those with data", flows.len())
        } else {
            all
        };
        Picture::of(title, 2, 260.0, charts).explained(
            "The share of the connections with at most this value. Connections without a loss are not in the last chart.",
        )
    })
}

fn megabits(rate: Rate) -> f64 {
    rate.bits_per_sec() as f64 / 1e6
}

/// The start of the time lines.
pub fn origin(firsts: impl Iterator<Item = Time>) -> Time {
    firsts.min().unwrap_or(Time::ZERO + Duration::ZERO)
}

#[cfg(test)]
mod tests {
    use trace::Endpoint;
    use units::Bytes;

    use super::*;

    #[test]
    fn the_legend_shows_each_line_as_it_is_drawn() {
        let sample = |number: u64| Sample {
            at: Time::ZERO + Duration::from_millis(number),
            rtt: Some(Duration::from_millis(40 + number % 7)),
            delivery_rate: Some(Rate::from_bits_per_sec(1_000_000 * (1 + number % 9))),
            inflight: Bytes::new(1000 * (number % 50)),
            btl_bw: Rate::from_bits_per_sec(9_000_000),
            rtprop: Some(Duration::from_millis(40)),
            delivered: Bytes::new(number * 1000),
            retransmitted: 0,
            limit: Limit::Bottleneck,
        };
        let flow = FlowTimeline {
            from: Endpoint {
                address: std::net::Ipv4Addr::LOCALHOST.into(),
                port: 443,
            },
            bdp: Some(Bytes::new(45_000)),
            samples: (0..1000).map(sample).collect(),
        };
        let keys = Picture::of("", 2, 240.0, operating_point(&flow)).keys();
        let names: Vec<&str> = keys.iter().map(|key| &*key.name).collect();
        assert_eq!(names, ["5th and 95th percentile", "median"]);
        for key in &keys {
            assert!(key.colour.is_some() && key.dash.is_some(), "{key:?}");
        }
        assert_ne!(keys[0].dash, keys[1].dash);
    }

    #[test]
    fn a_pause_interrupts_curves_and_its_rate_is_nothing() {
        let sample = |millis: u64, delivered: u64| Sample {
            at: Time::ZERO + Duration::from_millis(millis),
            rtt: Some(Duration::from_millis(40)),
            delivery_rate: None,
            inflight: Bytes::new(1000),
            btl_bw: Rate::from_bits_per_sec(8_000_000),
            rtprop: Some(Duration::from_millis(40)),
            delivered: Bytes::new(delivered),
            retransmitted: 0,
            limit: Limit::Bottleneck,
        };
        // The flow sends a megabyte in a second, nothing for ten seconds, and again.
        let burst = |from: u64, before: u64| {
            (0..=100).map(move |step| sample(from + step * 10, before + step * 10_000))
        };
        let samples: Vec<Sample> = burst(0, 0).chain(burst(11_000, 1_000_000)).collect();
        let parts = parts(&samples);
        assert_eq!(
            parts.iter().map(|part| part.len()).collect::<Vec<_>>(),
            [101; 2]
        );
        let rates = throughput(&samples, &|at: Time| at.since(Time::ZERO).as_secs_f64());
        let level = |from: f64, to: f64| {
            let steps = rates
                .chunks(2)
                .filter(|step| step[0].0 >= from && step[1].0 <= to);
            let rates: Vec<f64> = steps
                .map(|step| (step[0].1, step[1].1))
                .map(|(one, other)| {
                    assert_eq!(one, other);
                    one
                })
                .collect();
            (
                rates.iter().copied().fold(f64::INFINITY, f64::min),
                rates.iter().copied().fold(0.0, f64::max),
            )
        };
        assert_eq!(level(0.0, 1.0), (8.0, 8.0));
        assert_eq!(level(1.0, 11.0), (0.0, 0.0));
        assert_eq!(level(11.0, 12.0), (8.0, 8.0));
    }

    #[test]
    fn an_axis_of_values_that_are_near_each_other_has_more_than_one_number() {
        let axis = |least, most| axis_of("RTprop", Unit::MILLISECONDS, least, most);
        let linear = |from, to| Axis::linear("RTprop", Unit::MILLISECONDS, from, to);
        assert_eq!(axis(20.0, 24.0), linear(19.0, 24.0 * 1.05));
        assert_eq!(axis(20.0, 20.0), linear(19.0, 21.0));
        let log = Axis::log("RTprop", Unit::MILLISECONDS, 0.8, 125.0);
        assert_eq!(axis(1.0, 100.0), log);
    }
}
