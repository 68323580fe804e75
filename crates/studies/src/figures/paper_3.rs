//! Figure 3: the bottleneck's rate doubles, and is halved.

use super::seen::{self, Seen};
use super::{After, Figure, PAPER, series};
use crate::runs::Findings;
use draw::{Axis, BLUE, Chart, Curve, Dash, GREEN, GREY, Look, ORANGE, Picture, Rule, Unit};

pub const FIGURE: Figure = Figure {
    name: "paper-3-bandwidth-change",
    title: "The bottleneck's rate doubles at 20 s and is halved at 40 s",
    after: After::Figure(3),
    publication: PAPER,
    engines: lab::EngineKind::ALL,
    shows_samples: true,
    population: None,
    draw,
};

const AT: &str = "path.change.0.at";

/// What is shown of each run: from and to so many seconds around the change.
const BEFORE: f64 = 0.8;
const AFTER: f64 = 3.2;

fn draw(findings: &[Findings]) -> Picture {
    let charts = findings.chunks(1).flat_map(|of_engine| {
        let steps: Vec<Seen<'_>> = seen::all(of_engine).collect();
        let engine = of_engine.iter().filter(|_| findings.len() > 1);
        let name: String = engine.map(|of| of.engine.name()).collect();
        // Row by row, a step beside the other.
        let columns: Vec<[Chart; 3]> = steps.iter().map(|step| charts(step, &steps)).collect();
        let rows = (0..3).flat_map(|row| {
            let charts = columns.iter().filter_map(move |charts| charts.get(row));
            charts.cloned().collect::<Vec<Chart>>()
        });
        rows.map(|chart| chart.titled(name.as_str()))
            .collect::<Vec<Chart>>()
    });
    Picture::of("", 2, 185.0, charts)
}

/// When the rate changes, in seconds.
fn change(seen: &Seen<'_>) -> f64 {
    seen.number(AT) / 1e3
}

/// A part of what is shown of a step.
fn of(seen: &Seen<'_>, part: series::Part) -> Vec<(f64, f64)> {
    let shown = (change(seen) - BEFORE, change(seen) + AFTER);
    let flow = seen.record().flows.first();
    flow.map(|flow| series::of(flow, shown, part))
        .unwrap_or_default()
}

/// The charts of a step. All steps have the same axes, to be compared.
fn charts(seen: &Seen<'_>, steps: &[Seen<'_>]) -> [Chart; 3] {
    let rtprop = seen.record().summary.path.rtprop_ms;
    let chart = |name: &str, unit: Unit, part: series::Part| {
        let highest = steps.iter().flat_map(|step| of(step, part)).map(|(_, y)| y);
        let x = Axis::linear(
            "Time",
            Unit::SECONDS,
            change(seen) - BEFORE,
            change(seen) + AFTER,
        );
        let rates = ["path.rate", "path.change.0.rate"].map(|field| seen.number(field) / 1e6);
        Chart::new(x, Axis::from_zero(name, unit, highest)).with(Rule::vertical(
            change(seen),
            format!("{} → {} Mbit/s", rates[0], rates[1]),
        ))
    };
    let curve = |name: &str, look: Look, part| Curve::new(name, look, of(seen, part));
    let line = |colour| Look::line(colour, Dash::Solid);
    [
        chart("Inflight", Unit::KILOBYTES, series::inflight).with(curve(
            "inflight",
            line(GREEN),
            series::inflight,
        )),
        chart("RTT", Unit::MILLISECONDS, series::rtt)
            .with(Rule::horizontal(rtprop, "RTprop"))
            .with(curve("RTT", line(BLUE), series::rtt)),
        chart("Rate", Unit::MEGABITS_PER_SECOND, series::btl_bw)
            .with(curve("BtlBw", line(GREY).wide(5.0), series::btl_bw).stepped())
            .with(curve(
                "delivery rate",
                Look::line(ORANGE, Dash::Dashed),
                series::delivery_rate,
            )),
    ]
}
