//! The throughput of clients with each controller, over the load of their line.

use super::runs::{self, CONTROLLER, StudyRun};
use super::{After, CDN, Figure, curves, transfers};
use draw::{Axis, BLACK, Chart, Curve, Dash, Look, Mark, Picture, Rule, Unit};
use studies::runs::Findings;

pub const FIGURE: Figure = Figure::new(
    "client-load",
    "Throughput of clients with each controller, over the load of their line",
    After::Text(CDN, "the throughput of clients (figure 2)"),
    draw,
)
.on(&[lab::EngineKind::Sim, lab::EngineKind::Linux]);

const LOAD: &str = "flow.app.load";
const LOSS: &str = "path.loss";

/// The least size of an object in bytes whose time depends on the controller.
const MIN_LARGE_BYTES: f64 = 1e6;

const DASHES: [Dash; 3] = [Dash::Solid, Dash::Dashed, Dash::Dotted];

/// A row for throughputs, and one for their change; a column for each engine.
fn draw(findings: &[Findings]) -> Picture {
    let (mut throughputs, mut changes) = (Vec::new(), Vec::new());
    for of_engine in findings.chunks(1) {
        let (mut of_each, mut of_both) = (Vec::new(), Vec::new());
        for (loss, dash) in runs::values(of_engine, LOSS).into_iter().zip(DASHES) {
            let of = |controller| {
                let seen = runs::with(of_engine, CONTROLLER, controller);
                let seen = seen.filter(|seen| seen.value(LOSS) == loss);
                let point = |seen: StudyRun<'_>| {
                    (
                        load(&seen),
                        transfers::mean_throughput(&seen, MIN_LARGE_BYTES),
                    )
                };
                runs::medians(seen.map(point))
            };
            let variant = format!("{loss} loss");
            for controller in runs::values(of_engine, CONTROLLER) {
                let colour = curves::look_of(controller).colour;
                let look = Look::line(colour, dash).marked(curves::mark_of(controller));
                of_each.push(Curve::new(controller, look, of(controller)).variant(&variant));
            }
            let ratios = runs::ratios(&of("bbr1"), &of("cubic")).into_iter();
            let points = ratios.map(|(load, ratio)| (load, (ratio - 1.0) * 100.0));
            let look = Look::line(BLACK, dash).marked(Mark::Diamond);
            of_both.push(Curve::new("bbr1 over cubic", look, points).variant(&variant));
        }
        throughputs.push((of_each, runs::engine(findings, of_engine)));
        changes.push(of_both);
    }
    let x = || Axis::linear("Load of the clients' line", Unit::PERCENT, 0.0, 90.0);
    let all = throughputs.iter().flat_map(|(of, _)| curves::heights(of));
    let y = Axis::from_zero("Mean throughput", Unit::MEGABITS_PER_SECOND, all);
    let all: Vec<f64> = changes.iter().flat_map(|of| curves::heights(of)).collect();
    let change = curves::around_zero("BBR over CUBIC", &all, 1.15);
    let columns = findings.len();
    let upper = throughputs
        .into_iter()
        .map(|(curves, engine)| Chart::new(x(), y.clone()).titled(engine).with_all(curves));
    let lower = changes.into_iter().map(|curves| {
        Chart::new(x(), change.clone())
            .with(Rule::horizontal(0.0, "the same"))
            .with_all(curves)
    });
    let charts: Vec<Chart> = upper.chain(lower).collect();
    Picture::of("", columns, 270.0, charts)
}

/// The offered load as a share of the bottleneck's rate, in percent.
fn load(seen: &StudyRun<'_>) -> f64 {
    seen.number(LOAD) / seen.rate() * 100.0
}
