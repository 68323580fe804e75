//! Figure 3: the bottleneck's rate doubles, and is halved.

use super::runs::{self, StudyRun};
use super::{After, Figure, PAPER, curves, series};
use draw::{Axis, BLUE, Chart, Curve, Dash, GREEN, GREY, Look, ORANGE, Picture, Rule, Unit};
use studies::runs::Findings;

pub const FIGURE: Figure = Figure::new(
    "paper-3-bandwidth-change",
    "The bottleneck's rate doubles at 20 s and is halved at 40 s",
    After::Figure(PAPER, 3),
    draw,
)
.on(lab::EngineKind::ALL)
.with_samples();

const AT: &str = "path.change.0.at";

/// The shown seconds before and after the change.
const SECONDS_BEFORE: f64 = 0.8;
const SECONDS_AFTER: f64 = 3.2;

fn draw(findings: &[Findings]) -> Picture {
    let charts = findings.chunks(1).flat_map(|of_engine| {
        let steps: Vec<StudyRun<'_>> = runs::all(of_engine).collect();
        let columns = steps.iter().map(|step| charts(step, &steps)).collect();
        let engine = runs::engine(findings, of_engine);
        let rows = series::row_by_row(columns).into_iter();
        rows.map(move |chart| chart.titled(engine))
    });
    Picture::of("", 2, 185.0, charts)
}

/// The time of the change, in seconds.
fn change(seen: &StudyRun<'_>) -> f64 {
    seen.number(AT) / 1e3
}

/// The shown span of a step, in seconds.
fn shown(seen: &StudyRun<'_>) -> (f64, f64) {
    (change(seen) - SECONDS_BEFORE, change(seen) + SECONDS_AFTER)
}

/// One quantity within the shown span of a step.
fn of(seen: &StudyRun<'_>, part: series::Part) -> Vec<(f64, f64)> {
    series::of(seen, shown(seen), part)
}

/// The charts of a step. All steps have the same axes, for comparison.
fn charts(seen: &StudyRun<'_>, steps: &[StudyRun<'_>]) -> [Chart; 3] {
    let rtprop = seen.path().rtprop_ms;
    let chart = |name: &str, unit: Unit, part: series::Part| {
        let highest = steps.iter().flat_map(|step| of(step, part)).map(|(_, y)| y);
        let rates = ["path.rate", "path.change.0.rate"].map(|field| seen.number(field) / 1e6);
        curves::over_time(shown(seen), Axis::from_zero(name, unit, highest)).with(Rule::vertical(
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
