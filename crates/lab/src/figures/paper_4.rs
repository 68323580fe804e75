//! Figure 4: the first second of a flow with BBR, and of one with CUBIC.

use super::seen::{self, CONTROLLER, Seen};
use super::{Figure, PAPER, series};
use crate::draw::{Axis, BLUE, Chart, Curve, Dash, GREEN, Look, Picture, Rule, VERMILLION};
use crate::engine;
use crate::study::Findings;

pub const FIGURE: Figure = Figure {
    name: "paper-4-first-second",
    title: "The first second: what is sent and acknowledged, and the RTT",
    part: "figure 4",
    publication: PAPER,
    engines: engine::Kind::ALL,
    shows_samples: true,
    population: None,
    draw,
};

const SHOWN: (f64, f64) = (0.0, 1.0);

fn draw(findings: &[Findings]) -> Picture {
    let charts = findings.chunks(1).flat_map(|of_engine| {
        let seen: Vec<Seen<'_>> = seen::all(of_engine).collect();
        let name = |seen: &Seen<'_>| seen::named(findings, of_engine, seen.value(CONTROLLER));
        let upper: Vec<Chart> = seen
            .iter()
            .map(|of| data(of, &seen).titled(name(of)))
            .collect();
        let lower: Vec<Chart> = seen.iter().map(|of| rtt(of, &seen)).collect();
        [upper, lower].into_iter().flatten().collect::<Vec<Chart>>()
    });
    Picture::of("", seen::values(findings, CONTROLLER).len(), 260.0, charts)
}

fn of(seen: &Seen<'_>, part: series::Part) -> Vec<(f64, f64)> {
    let flow = seen.record().flows.first();
    flow.map(|flow| series::of(flow, SHOWN, part))
        .unwrap_or_default()
}

/// A value axis that has room for this part of all of them, to be compared.
fn axis(name: &str, all: &[Seen<'_>], part: series::Part) -> Axis {
    let highest = all.iter().flat_map(|seen| of(seen, part)).map(|(_, y)| y);
    Axis::from_zero(name, highest)
}

fn x() -> Axis {
    Axis::linear("Time (s)", SHOWN.0, SHOWN.1)
}

/// What had been sent, and what had been acknowledged. The line between them is as high as what was in flight.
fn data(seen: &Seen<'_>, all: &[Seen<'_>]) -> Chart {
    let colour = if seen.value(CONTROLLER) == "bbr1" {
        GREEN
    } else {
        VERMILLION
    };
    let sent = format!("sent, {}", seen.value(CONTROLLER));
    states(Chart::new(x(), axis("Data (kB)", all, series::sent)), seen)
        .with(Curve::new(
            sent,
            Look::line(colour, Dash::Solid),
            of(seen, series::sent),
        ))
        .with(Curve::new(
            "acknowledged",
            Look::line(BLUE, Dash::Dashed),
            of(seen, series::acked),
        ))
}

fn rtt(seen: &Seen<'_>, all: &[Seen<'_>]) -> Chart {
    let look = Look::of_controller(seen.value(CONTROLLER));
    let rtprop = seen.record().summary.path.rtprop_ms;
    Chart::new(x(), axis("RTT (ms)", all, series::rtt))
        .with(Rule::horizontal(rtprop, "RTprop"))
        .with(Curve::new(
            format!("RTT, {}", seen.value(CONTROLLER)),
            look,
            of(seen, series::rtt),
        ))
}

/// A line where a state begins, from the second state on.
fn states(chart: Chart, seen: &Seen<'_>) -> Chart {
    let samples = seen
        .record()
        .flows
        .first()
        .map(|flow| &flow.samples[..])
        .unwrap_or_default();
    let changes = samples.windows(2).filter_map(|pair| match pair {
        [before, after] if before.state != after.state => {
            Some(Rule::vertical(after.at.as_secs_f64(), after.state))
        }
        _ => None,
    });
    chart.with_all(changes.take(3))
}
