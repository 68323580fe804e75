//! Figure 2: 700 ms of a BBR flow in its steady state.

use super::runs::{self, StudyRun};
use super::{After, Figure, PAPER, curves, series};
use draw::{
    Axis, BLUE, Chart, Curve, Dash, GREEN, GREY, Look, ORANGE, PURPLE, Picture, Rule, Unit,
};
use studies::runs::Findings;

pub const FIGURE: Figure = Figure::new(
    "paper-2-steady-state",
    "Steady state: RTT, inflight and delivery rate over the gain cycle",
    After::Figure(PAPER, 2),
    draw,
)
.on(lab::EngineKind::ALL)
.with_samples();

/// The shown seconds from the start: long after Startup, and long before the first ProbeRTT.
const SHOWN_S: (f64, f64) = (4.0, 4.7);

/// The gains of the cycle.
const GAINS: [(f64, &str); 3] = [(1.25, "5/4"), (1.0, "1"), (0.75, "3/4")];

fn draw(findings: &[Findings]) -> Picture {
    let columns: Vec<[Chart; 4]> = findings
        .chunks(1)
        .flat_map(|of_engine| runs::all(of_engine).map(move |seen| (of_engine, seen)))
        .map(|(of_engine, seen)| charts(&seen, runs::engine(findings, of_engine)))
        .collect();
    let count = columns.len();
    Picture::of("", count, 170.0, series::row_by_row(columns))
}

fn charts(seen: &StudyRun<'_>, engine: &str) -> [Chart; 4] {
    let (rate, rtprop) = (runs::mega(seen.rate()), seen.path().rtprop_ms);
    let bdp_kb = rate * rtprop / 8.0;
    let chart = |name: &str, unit, (of, least, most): (f64, f64, f64)| {
        curves::over_time(SHOWN_S, Axis::linear(name, unit, of * least, of * most))
    };
    let curve = |name: &str, look, part| Curve::new(name, look, series::of(seen, SHOWN_S, part));
    let line = |colour| Look::line(colour, Dash::Solid);
    let dashed = |colour| Look::line(colour, Dash::Dashed);
    let max = "BtlBw, the maximum of ten round trips";
    [
        // The gain with which data are sent; what it does is seen below, a round trip later.
        curves::over_time(SHOWN_S, Axis::linear("Gain", Unit::NONE, 0.6, 1.4))
            .titled(engine)
            .with_all(GAINS.map(|(gain, name)| Rule::horizontal(gain, name)))
            .with(curve("pacing rate over BtlBw", line(PURPLE), series::pacing_gain).stepped()),
        chart("RTT", Unit::MILLISECONDS, (rtprop, 0.85, 1.5))
            .with(Rule::horizontal(rtprop, "RTprop"))
            .with(curve("RTT", line(BLUE), series::rtt)),
        chart("Inflight", Unit::KILOBYTES, (bdp_kb, 0.6, 1.6))
            .with(Rule::horizontal(bdp_kb, "BDP"))
            .with(curve("inflight", dashed(GREEN), series::inflight)),
        chart("Delivery rate", Unit::MEGABITS_PER_SECOND, (rate, 0.6, 1.2))
            .with(curve(max, line(GREY).wide(5.0), series::btl_bw).stepped())
            .with(curve(
                "delivery rate",
                dashed(ORANGE),
                series::delivery_rate,
            )),
    ]
}
