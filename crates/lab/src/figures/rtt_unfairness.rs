//! Who has how much of a bottleneck that flows of different RTprop share.

use super::seen::{self, CONTROLLER, Seen, mega};
use super::{CDN, Figure};
use crate::draw::{Axis, Chart, Curve, Dash, Look, Mark, Picture};
use crate::engine;
use crate::study::Findings;

pub const FIGURE: Figure = Figure {
    name: "rtt-unfairness",
    title: "Two flows of different RTprop on one bottleneck",
    part: "the section on unfairness",
    publication: CDN,
    engines: &[engine::Kind::Sim, engine::Kind::Linux],
    shows_samples: false,
    population: None,
    draw,
};

const LONGER: &str = "flow.1.rtt";

fn draw(findings: &[Findings]) -> Picture {
    let charts = findings.chunks(1).flat_map(|of_engine| {
        let all: Vec<f64> = seen::all(of_engine)
            .flat_map(|seen| [goodput(&seen, 0), goodput(&seen, 1)])
            .collect();
        seen::values(of_engine, CONTROLLER)
            .into_iter()
            .map(move |controller| {
                let colour = Look::of_controller(controller).colour;
                let curve = |flow: usize, name: &str, dash, mark| {
                    let seen = seen::with(of_engine, CONTROLLER, controller);
                    let points = seen.map(|seen| (seen.number(LONGER), goodput(&seen, flow)));
                    let name = format!("{controller}, {name}");
                    Curve::new(
                        name,
                        Look::line(colour, dash).marked(mark),
                        seen::medians(points),
                    )
                };
                Chart::new(
                    Axis::log("RTprop of the longer flow (ms), log scale", 9.0, 180.0),
                    Axis::from_zero("Goodput (Mbit/s)", all.iter().copied()),
                )
                .titled(seen::named(findings, of_engine, controller))
                .with(curve(0, "RTprop 10 ms", Dash::Dashed, Mark::Square))
                .with(curve(1, "longer RTprop", Dash::Solid, Mark::Circle))
            })
    });
    Picture::of("", 2, 360.0, charts)
}

/// The goodput of one of the two flows in Mbit/s.
fn goodput(seen: &Seen<'_>, flow: usize) -> f64 {
    seen.flows()
        .get(flow)
        .map_or(f64::NAN, |flow| mega(flow.goodput_bps as f64))
}
