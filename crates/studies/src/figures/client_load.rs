//! The throughput of clients with each controller, over the load of their line.

use super::seen::{self, CONTROLLER, Seen};
use super::{After, CDN, Figure, transfers};
use crate::runs::Findings;
use draw::{Axis, BLACK, Chart, Curve, Dash, Look, Mark, Picture, Rule, Unit};

pub const FIGURE: Figure = Figure {
    name: "client-load",
    title: "Throughput of clients with each controller, over the load of their line",
    after: After::Text("the throughput of clients (figure 2)"),
    publication: CDN,
    engines: &[lab::EngineKind::Sim, lab::EngineKind::Linux],
    shows_samples: false,
    population: None,
    draw,
};

const LOAD: &str = "flow.app.load";
const LOSS: &str = "path.loss";

/// Smaller objects are over before their controller matters.
const LARGE: f64 = 1e6;

const DASHES: [Dash; 3] = [Dash::Solid, Dash::Dashed, Dash::Dotted];

/// A row for throughputs, and one for their change; a column for each engine.
fn draw(findings: &[Findings]) -> Picture {
    let (mut throughputs, mut changes) = (Vec::new(), Vec::new());
    for of_engine in findings.chunks(1) {
        let (mut of_each, mut of_both) = (Vec::new(), Vec::new());
        for (loss, dash) in seen::values(of_engine, LOSS).into_iter().zip(DASHES) {
            let of = |controller| {
                let seen = seen::with(of_engine, CONTROLLER, controller);
                let seen = seen.filter(|seen| seen.value(LOSS) == loss);
                let point =
                    |seen: Seen<'_>| (load(&seen), transfers::mean_throughput(&seen, LARGE));
                seen::medians(seen.map(point))
            };
            let variant = format!("{loss} loss");
            for controller in seen::values(of_engine, CONTROLLER) {
                let mark = if controller == "bbr1" {
                    Mark::Circle
                } else {
                    Mark::Square
                };
                let colour = Look::of_controller(controller).colour;
                let look = Look::line(colour, dash).marked(mark);
                of_each.push(Curve::new(controller, look, of(controller)).variant(&variant));
            }
            let ratios = seen::ratios(&of("bbr1"), &of("cubic")).into_iter();
            let points = ratios.map(|(load, ratio)| (load, (ratio - 1.0) * 100.0));
            let look = Look::line(BLACK, dash).marked(Mark::Diamond);
            of_both.push(Curve::new("bbr1 over cubic", look, points).variant(&variant));
        }
        throughputs.push((of_each, seen::engine(findings, of_engine)));
        changes.push(of_both);
    }
    let x = || Axis::linear("Load of the clients' line", Unit::PERCENT, 0.0, 90.0);
    let heights = |curves: &[Curve]| -> Vec<f64> {
        let points = curves.iter().flat_map(|curve| &curve.points);
        points.map(|(_, y)| *y).collect()
    };
    let highest: Vec<f64> = throughputs.iter().flat_map(|(of, _)| heights(of)).collect();
    let all: Vec<f64> = changes.iter().flat_map(|of| heights(of)).collect();
    let farthest = |sign: f64| {
        let ends = all.iter().map(|change| change * sign);
        ends.fold(10.0, f64::max) * 1.15 * sign
    };
    let columns = findings.len();
    let upper = throughputs.into_iter().map(|(curves, engine)| {
        let y = Axis::from_zero(
            "Mean throughput",
            Unit::MEGABITS_PER_SECOND,
            highest.clone(),
        );
        Chart::new(x(), y).titled(engine).with_all(curves)
    });
    let lower = changes.into_iter().map(|curves| {
        let y = Axis::linear(
            "BBR over CUBIC",
            Unit::PERCENT,
            farthest(-1.0),
            farthest(1.0),
        );
        Chart::new(x(), y)
            .with(Rule::horizontal(0.0, "the same"))
            .with_all(curves)
    });
    let charts: Vec<Chart> = upper.chain(lower).collect();
    Picture::of("", columns, 270.0, charts)
}

/// What is asked for, as a share of the bottleneck's rate in percent.
fn load(seen: &Seen<'_>) -> f64 {
    let rate = seen.record().summary.path.rate_bps.unwrap_or(1);
    seen.number(LOAD) / rate as f64 * 100.0
}
