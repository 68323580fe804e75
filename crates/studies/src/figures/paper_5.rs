//! Figure 5: the round-trip times of the first eight seconds.

use super::seen::{self, CONTROLLER, Seen};
use super::{After, Figure, PAPER, series};
use crate::runs::Findings;
use draw::{Axis, Chart, Curve, Look, Picture, Rule, Unit};

pub const FIGURE: Figure = Figure {
    name: "paper-5-first-eight-seconds",
    title: "The first eight seconds: RTT of BBR and of CUBIC, each alone",
    after: After::Figure(5),
    publication: PAPER,
    engines: lab::EngineKind::ALL,
    shows_samples: true,
    population: None,
    draw,
};

const SHOWN: (f64, f64) = (0.0, 8.0);

fn draw(findings: &[Findings]) -> Picture {
    let of = |seen: &Seen<'_>| {
        let flow = seen.record().flows.first();
        flow.map(|flow| series::of(flow, SHOWN, series::rtt))
            .unwrap_or_default()
    };
    let all: Vec<f64> = seen::all(findings)
        .flat_map(|seen| of(&seen))
        .map(|(_, y)| y)
        .collect();
    let charts = findings.chunks(1).map(|of_engine| {
        let path = seen::all(of_engine)
            .next()
            .map(|seen| seen.record().summary.path.clone());
        let (rtprop, rate, buffer) = path.map_or((0.0, 1, 0), |path| {
            (
                path.rtprop_ms,
                path.rate_bps.unwrap_or(1),
                path.buffer_bytes.unwrap_or(0),
            )
        });
        let full = rtprop + buffer as f64 * 8e3 / rate as f64;
        let chart = Chart::new(
            Axis::linear("Time", Unit::SECONDS, SHOWN.0, SHOWN.1),
            Axis::from_zero("RTT", Unit::MILLISECONDS, all.iter().copied().chain([full])),
        );
        let curve = |seen: Seen<'_>| {
            let controller = seen.value(CONTROLLER);
            Curve::new(controller, Look::of_controller(controller), of(&seen))
        };
        let engine = of_engine
            .iter()
            .filter(|_| findings.len() > 1)
            .map(|of| of.engine.name());
        chart
            .titled(engine.collect::<String>())
            .with(Rule::horizontal(rtprop, "RTprop"))
            .with(Rule::horizontal(full, "the buffer is full"))
            .with_all(seen::all(of_engine).map(curve))
    });
    let height = if findings.len() > 1 { 270.0 } else { 400.0 };
    Picture::of("", 1, height, charts)
}
