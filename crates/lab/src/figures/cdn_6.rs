//! CDN, figure 6: how long an object takes, by its size.

use super::seen::{self, CONTROLLER};
use super::{CDN, Figure};
use crate::draw::{Axis, Chart, Curve, Dash, Look, Mark, Picture};
use crate::engine;
use crate::study::Findings;

pub const FIGURE: Figure = Figure {
    name: "cdn-6-time-by-size",
    title: "Time to load an object, by its size",
    part: "figure 6",
    publication: CDN,
    engines: engine::Kind::ALL,
    shows_samples: false,
    population: None,
    draw,
};

const SIZE: &str = "flow.bytes";
const LOSS: &str = "path.loss";

fn draw(findings: &[Findings]) -> Picture {
    let losses = seen::values(findings, LOSS);
    let charts = losses.iter().map(|loss| {
        let curves = findings
            .chunks(1)
            .enumerate()
            .flat_map(|(engine, of_engine)| {
                seen::values(of_engine, CONTROLLER)
                    .into_iter()
                    .map(move |controller| {
                        let seen = seen::with(of_engine, CONTROLLER, controller)
                            .filter(|seen| seen.value(LOSS) == *loss);
                        let time = |seen: &seen::Seen<'_>| {
                            seen.flows().iter().find_map(|flow| flow.completed_s)
                        };
                        let points =
                            seen.filter_map(|seen| Some((seen.number(SIZE) / 1e3, time(&seen)?)));
                        let look = match engine {
                            0 => Look::of_controller(controller),
                            _ => Look {
                                dash: Dash::None,
                                ..Look::of_controller(controller)
                            },
                        };
                        let mark = if controller == "bbr1" {
                            Mark::Circle
                        } else {
                            Mark::Square
                        };
                        let name = seen::named(findings, of_engine, controller);
                        Curve::new(name, look.marked(mark), seen::medians(points))
                    })
            });
        Chart::new(
            Axis::log("Size (kB), log scale", 0.8, 130_000.0),
            Axis::log("Time (s), log scale", 0.05, 100.0),
        )
        .titled(format!("{loss} loss"))
        .with_all(curves)
    });
    Picture::of("", losses.len(), 330.0, charts)
}
