//! Figure 4: the first second of a flow with BBR, and of one with CUBIC.

use super::runs::{self, CONTROLLER, StudyRun};
use super::{After, Figure, PAPER, curves, series};
use draw::{Axis, BLUE, Chart, Curve, Dash, Look, Mark, ORANGE, Picture, Rule, Unit};
use studies::runs::Findings;

pub const FIGURE: Figure = Figure::new(
    "paper-4-first-second",
    "The first second of BBR and of CUBIC, each alone: data sent, and RTT",
    After::Figure(PAPER, 4),
    draw,
)
.on(lab::EngineKind::ALL)
.with_samples();

const SHOWN_S: (f64, f64) = (0.0, 1.0);

/// The controller whose states are shown.
const STATES_OF: &str = "bbr1";

/// One row for data and one for RTTs, with both controllers in each chart; one column for each engine.
fn draw(findings: &[Findings]) -> Picture {
    let engines = || findings.chunks(1);
    let upper = engines().map(|of_engine| {
        let chart = data(
            of_engine,
            axis("Data", Unit::KILOBYTES, findings, series::sent),
        );
        chart.titled(runs::engine(findings, of_engine))
    });
    let lower = engines().map(|of_engine| {
        rtt(
            of_engine,
            axis("RTT", Unit::MILLISECONDS, findings, series::rtt),
        )
    });
    let charts: Vec<Chart> = upper.chain(lower).collect();
    Picture::of("", findings.len(), 290.0, charts)
}

fn of(seen: &StudyRun<'_>, part: series::Part) -> Vec<(f64, f64)> {
    series::of(seen, SHOWN_S, part)
}

/// A value axis with room for this quantity of all runs, for comparison.
fn axis(name: &str, unit: Unit, findings: &[Findings], part: series::Part) -> Axis {
    let highest = runs::all(findings).flat_map(|seen| of(&seen, part));
    Axis::from_zero(name, unit, highest.map(|(_, y)| y))
}

/// The bytes sent and the bytes acknowledged. The distance between the curves is the amount in flight.
fn data(of_engine: &[Findings], y: Axis) -> Chart {
    let mut chart = curves::over_time(SHOWN_S, y);
    for seen in runs::all(of_engine) {
        let controller = seen.value(CONTROLLER);
        if controller == STATES_OF {
            chart = states(chart, &seen);
        }
        let acknowledged = match controller {
            STATES_OF => Look::line(BLUE, Dash::Solid).marked(Mark::Circle),
            _ => Look::line(ORANGE, Dash::Dotted),
        };
        chart = chart
            .with(curves::of_controller(controller, of(&seen, series::sent)))
            .with(Curve::new(
                format!("{controller}, acknowledged"),
                acknowledged,
                of(&seen, series::acked),
            ));
    }
    chart
}

fn rtt(of_engine: &[Findings], y: Axis) -> Chart {
    let mut chart = curves::over_time(SHOWN_S, y);
    for (place, seen) in runs::all(of_engine).enumerate() {
        if place == 0 {
            let rtprop = seen.path().rtprop_ms;
            chart = chart.with(Rule::horizontal(rtprop, "RTprop"));
        }
        let rtts = of(&seen, series::rtt);
        chart = chart.with(curves::of_controller(seen.value(CONTROLLER), rtts));
    }
    chart
}

/// Marks the beginning of each state after the first.
fn states(chart: Chart, seen: &StudyRun<'_>) -> Chart {
    let flow = seen.record().flows.first();
    let samples = flow.map_or(&[][..], |flow| &flow.samples);
    let controller = seen.value(CONTROLLER);
    let changes = samples.windows(2).filter_map(|pair| match pair {
        [before, after] if before.state != after.state => {
            let name = format!("{controller}: {}", after.state?);
            Some(Rule::vertical(after.at.as_secs_f64(), name))
        }
        _ => None,
    });
    chart.with_all(changes.take(3))
}
