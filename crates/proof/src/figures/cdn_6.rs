//! CDN, figure 6: completion time over object size, in the network that gains.

use super::runs::{self, CONTROLLER};
use super::{After, CDN, Figure, curves};
use draw::{Axis, BLACK, Chart, Curve, Dash, Look, Mark, Picture, Rule, Unit};
use studies::runs::Findings;

pub const FIGURE: Figure = Figure::new(
    "cdn-6-time-by-size",
    "Completion time by object size, in the network that gains from BBR",
    After::Figure(CDN, 6),
    draw,
)
.on(lab::EngineKind::ALL);

const SIZE: &str = "flow.bytes";

fn draw(findings: &[Findings]) -> Picture {
    let time = |seen: &runs::StudyRun<'_>| {
        let mut flows = seen.flows().iter();
        flows.find_map(|flow| flow.completed_s).unwrap_or(f64::NAN)
    };
    let curves = curves::by_controller(findings, |seen| seen.number(SIZE), time);
    let of = |controller| {
        let seen = runs::with(runs::of_first(findings), CONTROLLER, controller);
        runs::medians(seen.map(|seen| (seen.number(SIZE), time(&seen))))
    };
    let size = || Axis::log("Size of the object", Unit::BYTES, 8e2, 1.3e8);
    let ratio = Curve::new(
        "bbr1's time over cubic's",
        Look::line(BLACK, Dash::Solid).marked(Mark::Diamond),
        runs::ratios(&of("bbr1"), &of("cubic")),
    );
    let charts = [
        Chart::new(
            size(),
            Axis::log("Completion time", Unit::SECONDS, 0.1, 2e3),
        )
        .with_all(curves),
        Chart::new(
            size(),
            Axis::linear("BBR's time over CUBIC's", Unit::NONE, 0.0, 1.4),
        )
        .with(Rule::horizontal(1.0, "the same"))
        .with(ratio),
    ];
    Picture::of("", 2, 360.0, charts)
}
