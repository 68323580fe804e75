//! Figure 8: goodput over random loss.

use super::runs::{self, StudyRun, mega};
use super::{After, Figure, PAPER, curves};
use draw::{Axis, BLACK, Chart, Curve, Dash, Look, Picture, Unit};
use studies::runs::Findings;

pub const FIGURE: Figure = Figure::new(
    "paper-8-loss-sweep",
    "Goodput of BBR and of CUBIC over random loss",
    After::Figure(PAPER, 8),
    draw,
)
.on(lab::EngineKind::ALL);

const LOSS: &str = "path.loss";

fn draw(findings: &[Findings]) -> Picture {
    let loss = |seen: &StudyRun<'_>| seen.number(LOSS) * 100.0;
    let goodput = |seen: &StudyRun<'_>| mega(seen.goodput());
    // TCP's header is smaller than QUIC's. Each engine therefore has its own limit; that of the first is drawn.
    let limit = runs::medians(
        runs::all(runs::of_first(findings))
            .filter_map(|seen| Some((loss(&seen), mega(seen.record().paced_limit_bps()?)))),
    );
    let ticks = runs::values(findings, LOSS)
        .into_iter()
        .filter_map(|value| value.trim_end_matches('%').parse::<f64>().ok());
    let rate = runs::all(findings).next().map_or(0.0, |seen| seen.rate());
    let chart = Chart::new(
        Axis::log("Loss", Unit::PERCENT, 0.0008, 60.0).with_ticks(ticks.collect::<Vec<_>>()),
        Axis::from_zero("Goodput", Unit::MEGABITS_PER_SECOND, [mega(rate)]),
    )
    .with(Curve::new(
        "limit: rate × (1 − loss) × payload share",
        Look::line(BLACK, Dash::Dotted),
        limit,
    ))
    .with_all(curves::by_controller(findings, loss, goodput));
    Picture::new("", chart)
}
