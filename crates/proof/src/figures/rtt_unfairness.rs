//! The shares of a bottleneck that flows of different RTprop share.

use super::runs::{self, CONTROLLER, StudyRun, mega};
use super::{After, CDN, Figure, curves};
use draw::{Axis, Chart, Curve, Dash, Look, Mark, Picture, Unit};
use studies::runs::Findings;

pub const FIGURE: Figure = Figure::new(
    "rtt-unfairness",
    "Two flows of different RTprop on one bottleneck",
    After::Text(CDN, "the section on unfairness"),
    draw,
)
.on(&[lab::EngineKind::Sim, lab::EngineKind::Linux]);

const LONGER: &str = "flow.1.rtt";

fn draw(findings: &[Findings]) -> Picture {
    let charts = findings.chunks(1).flat_map(|of_engine| {
        let all: Vec<f64> = runs::all(of_engine)
            .flat_map(|seen| [goodput(&seen, 0), goodput(&seen, 1)])
            .collect();
        runs::values(of_engine, CONTROLLER)
            .into_iter()
            .map(move |controller| {
                let colour = curves::look_of(controller).colour;
                let curve = |flow: usize, variant: &str, dash, mark| {
                    let seen = runs::with(of_engine, CONTROLLER, controller);
                    let points = seen.map(|seen| (seen.number(LONGER), goodput(&seen, flow)));
                    let look = Look::line(colour, dash).marked(mark);
                    Curve::new(controller, look, runs::medians(points)).variant(variant)
                };
                Chart::new(
                    Axis::log("RTprop of the longer flow", Unit::MILLISECONDS, 9.0, 180.0),
                    Axis::from_zero("Goodput", Unit::MEGABITS_PER_SECOND, all.iter().copied()),
                )
                .titled(runs::titled(findings, of_engine, controller))
                .with(curve(0, "RTprop 10 ms", Dash::Dashed, Mark::Square))
                .with(curve(1, "longer RTprop", Dash::Solid, Mark::Circle))
            })
    });
    Picture::of("", 2, 360.0, charts)
}

/// The goodput of one of the two flows in Mbit/s.
fn goodput(seen: &StudyRun<'_>, flow: usize) -> f64 {
    seen.flows()
        .get(flow)
        .map_or(f64::NAN, |flow| mega(flow.goodput_bps as f64))
}
