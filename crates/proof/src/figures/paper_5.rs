//! Figure 5: the round-trip times of the first eight seconds.

use super::runs::{self, CONTROLLER, StudyRun};
use super::{After, Figure, PAPER, curves, series};
use draw::{Axis, Picture, Rule, Unit};
use studies::runs::Findings;

pub const FIGURE: Figure = Figure::new(
    "paper-5-first-eight-seconds",
    "The first eight seconds: RTT of BBR and of CUBIC, each alone",
    After::Figure(PAPER, 5),
    draw,
)
.on(lab::EngineKind::ALL)
.with_samples();

const SHOWN_S: (f64, f64) = (0.0, 8.0);

fn draw(findings: &[Findings]) -> Picture {
    let of = |seen: &StudyRun<'_>| series::of(seen, SHOWN_S, series::rtt);
    let all = runs::all(findings).flat_map(|seen| of(&seen));
    let all: Vec<f64> = all.map(|(_, y)| y).collect();
    let charts = findings.chunks(1).map(|of_engine| {
        let (rtprop, full) = runs::all(of_engine).next().map_or((0.0, 0.0), |seen| {
            let (rtprop, buffer) = (seen.path().rtprop_ms, seen.path().buffer_bytes);
            let full = buffer.unwrap_or_default() as f64 * 8e3 / seen.rate();
            (rtprop, rtprop + full)
        });
        let curve = |seen: StudyRun<'_>| curves::of_controller(seen.value(CONTROLLER), of(&seen));
        let values = all.iter().copied().chain([full]);
        curves::over_time(SHOWN_S, Axis::from_zero("RTT", Unit::MILLISECONDS, values))
            .titled(runs::engine(findings, of_engine))
            .with(Rule::horizontal(rtprop, "RTprop"))
            .with(Rule::horizontal(full, "the buffer is full"))
            .with_all(runs::all(of_engine).map(curve))
    });
    let height = if findings.len() > 1 { 270.0 } else { 400.0 };
    Picture::of("", 1, height, charts)
}
