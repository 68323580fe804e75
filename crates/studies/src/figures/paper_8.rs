//! Figure 8: goodput over random loss.

use super::seen::{self, Seen, mega};
use super::{After, Figure, PAPER};
use crate::runs::Findings;
use draw::{Axis, BLACK, Chart, Curve, Dash, Look, Picture, Unit};

pub const FIGURE: Figure = Figure {
    name: "paper-8-loss-sweep",
    title: "Goodput of BBR and of CUBIC over random loss",
    after: After::Figure(8),
    publication: PAPER,
    engines: lab::EngineKind::ALL,
    shows_samples: false,
    population: None,
    draw,
};

const LOSS: &str = "path.loss";

fn draw(findings: &[Findings]) -> Picture {
    let loss = |seen: &Seen<'_>| seen.number(LOSS) * 100.0;
    let goodput = |seen: &Seen<'_>| {
        mega(
            seen.flows()
                .iter()
                .map(|flow| flow.goodput_bps as f64)
                .sum(),
        )
    };
    // TCP's header is smaller than QUIC's: each engine has its limit, and the first one's is drawn.
    let first = findings.get(..1).unwrap_or_default();
    let limit = seen::medians(
        seen::all(first)
            .filter_map(|seen| Some((loss(&seen), mega(seen.record().paced_limit_bps()?)))),
    );
    let ticks = seen::values(findings, LOSS)
        .into_iter()
        .filter_map(|value| value.trim_end_matches('%').parse::<f64>().ok());
    let rate = seen::all(findings).find_map(|seen| seen.record().summary.path.rate_bps);
    let chart = Chart::new(
        Axis::log("Loss", Unit::PERCENT, 0.0008, 60.0).with_ticks(ticks.collect::<Vec<_>>()),
        Axis::from_zero(
            "Goodput",
            Unit::MEGABITS_PER_SECOND,
            [mega(rate.unwrap_or_default() as f64)],
        ),
    )
    .with(Curve::new(
        "limit: rate × (1 − loss) × payload share",
        Look::line(BLACK, Dash::Dotted),
        limit,
    ))
    .with_all(seen::by_controller(findings, loss, goodput));
    Picture::new("", chart)
}
