//! Figure 6: five BBR flows that start one after the other.

use super::seen;
use super::{After, Figure, PAPER};
use crate::runs::Findings;
use draw::{Axis, Chart, Curve, Look, Picture, Rule, Unit};
use record::FlowRecord;

pub const FIGURE: Figure = Figure {
    name: "paper-6-fair-share",
    title: "Throughput of five BBR flows that share a bottleneck",
    after: After::Figure(6),
    publication: PAPER,
    engines: lab::EngineKind::ALL,
    shows_samples: false,
    population: None,
    draw,
};

fn draw(findings: &[Findings]) -> Picture {
    let charts = seen::all(findings).map(|seen| {
        let record = seen.record();
        let end = record.summary.duration_s;
        let limit = record
            .summary
            .path
            .limit_bps
            .map_or(0.0, |limit| seen::mega(limit as f64));
        let highest = record.flows.iter().flat_map(throughput).map(|(_, y)| y);
        let flows = record.flows.iter().enumerate();
        let curve = |(place, flow): (usize, &FlowRecord)| {
            let name = format!(
                "flow {}, from {:.0} s on",
                place + 1,
                flow.start.as_secs_f64()
            );
            Curve::new(name, Look::of_place(place), throughput(flow))
        };
        Chart::new(
            Axis::linear("Time", Unit::SECONDS, 0.0, end),
            Axis::from_zero(
                "Throughput",
                Unit::MEGABITS_PER_SECOND,
                highest.chain([limit]),
            ),
        )
        .titled(if findings.len() > 1 {
            seen.engine.name()
        } else {
            ""
        })
        .with(Rule::horizontal(
            limit / record.flows.len().max(1) as f64,
            "a fifth of the limit",
        ))
        .with_all(flows.map(curve))
    });
    let height = if findings.len() > 1 { 290.0 } else { 400.0 };
    Picture::of("", 1, height, charts)
}

/// What the flow delivered, in Mbit/s, in the middle of each second of its life.
fn throughput(flow: &FlowRecord) -> Vec<(f64, f64)> {
    let interval = flow.throughput.interval().as_secs_f64();
    let seconds = flow.throughput.bytes().iter().zip(0u32..);
    seconds
        .map(|(bytes, index)| {
            let middle = (f64::from(index) + 0.5) * interval;
            (middle, *bytes as f64 * 8.0 / interval / 1e6)
        })
        .filter(|(middle, _)| *middle >= flow.start.as_secs_f64())
        .collect()
}
