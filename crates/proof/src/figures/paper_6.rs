//! Figure 6: five BBR flows that start one after the other.

use super::runs::{self, StudyRun, mega};
use super::{After, Figure, PAPER, curves};
use draw::{Axis, Chart, Curve, Look, Picture, Rule, Unit};
use record::{FlowRecord, FlowSample};
use studies::runs::Findings;

pub const FIGURE: Figure = Figure::new(
    "paper-6-fair-share",
    "Throughput of five BBR flows that share a bottleneck",
    After::Figure(PAPER, 6),
    draw,
)
.on(lab::EngineKind::ALL)
.with_samples();

/// The time over which throughput is taken: shorter than a ProbeRTT, which is a dip of 200 ms, and longer than a gain cycle
/// of eight rounds.
const BIN_S: f64 = 0.2;

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

/// The flow's throughput in Mbit/s, at the middle of each bin of its life.
fn throughput(flow: &FlowRecord) -> Vec<(f64, f64)> {
    let start = flow.start.as_secs_f64();
    let bin = |sample: &FlowSample| (sample.at.as_secs_f64() / BIN_S).floor();
    let bins = flow.samples.chunk_by(|one, other| bin(one) == bin(other));
    // What is delivered by the end of a bin.
    let ends: Vec<(f64, u64)> = bins
        .filter_map(|bin_of| {
            let last = bin_of.last()?;
            Some((last.at.as_secs_f64(), last.delivered.get()))
        })
        .collect();
    ends.windows(2)
        .filter_map(|pair| {
            let [(from, before), (to, after)] = pair else {
                return None;
            };
            let bits = after.saturating_sub(*before) as f64 * 8.0;
            Some(((from + to) / 2.0, bits / (to - from) / 1e6))
        })
        .filter(|(middle, _)| *middle >= start)
        .collect()
}
