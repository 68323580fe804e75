//! Figure 6: five BBR flows that start one after the other.

use super::runs::{self, StudyRun, mega};
use super::{After, Figure, PAPER, curves};
use draw::{Axis, Chart, Curve, Look, Picture, Rule, Unit};
use record::FlowRecord;
use studies::runs::Findings;

pub const FIGURE: Figure = Figure::new(
    "paper-6-fair-share",
    "Throughput of five BBR flows that share a bottleneck",
    After::Figure(PAPER, 6),
    draw,
)
.on(lab::EngineKind::ALL);

fn draw(findings: &[Findings]) -> Picture {
    let charts = findings.chunks(1).flat_map(|of_engine| {
        let engine = runs::engine(findings, of_engine);
        runs::all(of_engine).map(move |seen| chart(&seen, engine))
    });
    let height = if findings.len() > 1 { 290.0 } else { 400.0 };
    Picture::of("", 1, height, charts)
}

fn chart(seen: &StudyRun<'_>, engine: &str) -> Chart {
    let flows = &seen.record().flows;
    let limit = seen
        .path()
        .limit_bps
        .map_or(0.0, |limit| mega(limit as f64));
    let highest = flows.iter().flat_map(throughput).map(|(_, y)| y);
    let curve = |(place, flow): (usize, &FlowRecord)| {
        let (number, start) = (place + 1, flow.start.as_secs_f64());
        let name = format!("flow {number}, from {start:.0} s on");
        Curve::new(name, Look::of_place(place), throughput(flow))
    };
    let y = Axis::from_zero(
        "Throughput",
        Unit::MEGABITS_PER_SECOND,
        highest.chain([limit]),
    );
    let fair = limit / flows.len().max(1) as f64;
    let end = seen.record().summary.duration_s;
    curves::over_time((0.0, end), y)
        .titled(engine)
        .with(Rule::horizontal(fair, "a fifth of the limit"))
        .with_all(flows.iter().enumerate().map(curve))
}

/// The flow's throughput in Mbit/s, at the middle of each second of its life.
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
