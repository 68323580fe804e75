//! CDN, figure 2: the throughput of its clients with each controller.

use super::seen::{self, CONTROLLER, Seen};
use super::{CDN, Figure, transfers};
use crate::draw::{Axis, BLUE, Chart, Curve, Dash, Look, Mark, Picture, Rule};
use crate::engine;
use crate::study::Findings;

pub const FIGURE: Figure = Figure {
    name: "cdn-2-client-throughput",
    title: "Throughput of the CDN's clients with each controller",
    part: "figure 2",
    publication: CDN,
    engines: &[engine::Kind::Sim, engine::Kind::Linux],
    shows_samples: false,
    population: None,
    draw,
};

const LOAD: &str = "flow.app.load";
const LOSS: &str = "path.loss";

/// Smaller objects are over before their controller matters.
const LARGE: f64 = 1e6;

fn draw(findings: &[Findings]) -> Picture {
    let x = || {
        Axis::linear(
            "Load of the clients' line (% of its rate), as it changes over a day",
            0.0,
            90.0,
        )
    };
    let mut throughputs = Vec::new();
    let mut gains = Vec::new();
    for of_engine in findings.chunks(1) {
        let marks = [
            (Mark::Circle, Dash::Solid),
            (Mark::Square, Dash::Dashed),
            (Mark::Triangle, Dash::Dotted),
        ];
        for (loss, (mark, dash)) in seen::values(of_engine, LOSS).into_iter().zip(marks) {
            let of = |controller| {
                let seen = seen::with(of_engine, CONTROLLER, controller)
                    .filter(|seen| seen.value(LOSS) == loss);
                seen::medians(
                    seen.map(|seen| (load(&seen), transfers::mean_throughput(&seen, LARGE))),
                )
            };
            let named =
                |name: &str| seen::named(findings, of_engine, &format!("{name}, {loss} loss"));
            for controller in seen::values(of_engine, CONTROLLER) {
                let look = Look::of_controller(controller).marked(mark);
                throughputs.push(Curve::new(named(controller), look, of(controller)));
            }
            let ratios = seen::ratios(&of("bbr1"), &of("cubic")).into_iter();
            let points = ratios.map(|(load, ratio)| (load, (ratio - 1.0) * 100.0));
            let look = Look::line(BLUE, dash).marked(mark);
            gains.push(Curve::new(named("BBR over CUBIC"), look, points));
        }
    }
    let heights = |curves: &[Curve]| -> Vec<f64> {
        curves
            .iter()
            .flat_map(|curve| &curve.points)
            .map(|(_, y)| *y)
            .collect()
    };
    let (highest, changes) = (heights(&throughputs), heights(&gains));
    let farthest = |sign: f64| {
        changes
            .iter()
            .map(|change| change * sign)
            .fold(10.0, f64::max)
            * 1.15
            * sign
    };
    let charts = [
        Chart::new(x(), Axis::from_zero("Mean throughput (Mbit/s)", highest)).with_all(throughputs),
        Chart::new(
            x(),
            Axis::linear("BBR over CUBIC (%)", farthest(-1.0), farthest(1.0)),
        )
        .with(Rule::horizontal(0.0, "the same"))
        .with_all(gains),
    ];
    Picture::of("", 1, 270.0, charts)
}

/// What is asked for, as a share of the bottleneck's rate in percent.
fn load(seen: &Seen<'_>) -> f64 {
    let rate = seen.record().summary.path.rate_bps.unwrap_or(1);
    seen.number(LOAD) / rate as f64 * 100.0
}
