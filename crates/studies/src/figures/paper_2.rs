//! Figure 2: 700 ms of a BBR flow in its steady state.

use super::series;
use super::{After, Figure, PAPER};
use crate::figures::seen;
use crate::runs::Findings;
use draw::{Axis, BLUE, Chart, Curve, Dash, GREEN, GREY, Look, ORANGE, Picture, Rule, Unit};

pub const FIGURE: Figure = Figure {
    name: "paper-2-steady-state",
    title: "Steady state: RTT, inflight and delivery rate over the gain cycle",
    after: After::Figure(2),
    publication: PAPER,
    engines: lab::EngineKind::ALL,
    shows_samples: true,
    population: None,
    draw,
};

/// What is shown, in seconds from the start: long after Startup, and long before the first ProbeRTT.
const SHOWN: (f64, f64) = (4.0, 4.7);

fn draw(findings: &[Findings]) -> Picture {
    let columns: Vec<[Chart; 3]> = seen::all(findings)
        .map(|seen| charts(&seen, findings.len()))
        .collect();
    // Row by row: a row has the same chart of each engine.
    let rows = (0..3).flat_map(|row| {
        columns
            .iter()
            .filter_map(move |charts| charts.get(row).cloned())
    });
    Picture::of("", columns.len(), 195.0, rows)
}

fn charts(seen: &seen::Seen<'_>, engines: usize) -> [Chart; 3] {
    let record = seen.record();
    let path = &record.summary.path;
    let rate = seen::mega(path.rate_bps.unwrap_or_default() as f64);
    let bdp_kb = rate * path.rtprop_ms / 8.0;
    let of = |part| {
        record
            .flows
            .first()
            .map(|flow| series::of(flow, SHOWN, part))
            .unwrap_or_default()
    };
    let x = || Axis::linear("Time", Unit::SECONDS, SHOWN.0, SHOWN.1);
    let line = |colour| Look::line(colour, Dash::Solid);
    let title = if engines > 1 { seen.engine.name() } else { "" };
    [
        Chart::new(
            x(),
            Axis::linear(
                "RTT",
                Unit::MILLISECONDS,
                path.rtprop_ms * 0.9,
                path.rtprop_ms * 1.5,
            ),
        )
        .titled(title)
        .with(Rule::horizontal(path.rtprop_ms, "RTprop"))
        .with(Curve::new("RTT", line(BLUE), of(series::rtt))),
        Chart::new(
            x(),
            Axis::linear("Inflight", Unit::KILOBYTES, bdp_kb * 0.6, bdp_kb * 1.6),
        )
        .with(Rule::horizontal(bdp_kb, "BDP"))
        .with(Curve::new(
            "inflight",
            Look::line(GREEN, Dash::Dashed),
            of(series::inflight),
        )),
        Chart::new(
            x(),
            Axis::linear(
                "Delivery rate",
                Unit::MEGABITS_PER_SECOND,
                rate * 0.6,
                rate * 1.2,
            ),
        )
        .with(
            Curve::new(
                "BtlBw, the maximum of ten round trips",
                line(GREY).wide(5.0),
                of(series::btl_bw),
            )
            .stepped(),
        )
        .with(Curve::new(
            "delivery rate",
            Look::line(ORANGE, Dash::Dashed),
            of(series::delivery_rate),
        )),
    ]
}
