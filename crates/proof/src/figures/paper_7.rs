//! Figure 7: BBR beside CUBIC on the paths of a wide area network.

use super::runs::{self, CONTROLLER};
use super::{After, Figure, PAPER, curves, transfers};
use draw::{Axis, BLACK, Chart, Curve, Dash, Look, Picture, Rule, Unit, cdf};
use studies::runs::Findings;

pub const FIGURE: Figure = Figure::new(
    "paper-7-wide-area",
    "BBR's throughput over CUBIC's on the paths of a wide area network",
    After::Figure(PAPER, 7),
    draw,
);

fn draw(findings: &[Findings]) -> Picture {
    let throughput = |seen: &runs::StudyRun<'_>| transfers::mean_throughput(seen, 0.0);
    let ratios = runs::pairs(findings, CONTROLLER, "bbr1", "cubic", throughput);
    let highest = ratios.iter().copied().fold(2.0, f64::max) * 1.1;
    let lowest = ratios.iter().copied().fold(1.0, f64::min) * 0.9;
    let name = format!("BBR's over CUBIC's on {} paths", ratios.len());
    let share = || curves::share_of("paths");
    let of_each = curves::distributions(findings, CONTROLLER, |seen| [throughput(&seen)]);
    let all = || curves::across(&of_each);
    let (least, most) = (
        all().fold(f64::INFINITY, f64::min),
        all().fold(1.0, f64::max),
    );
    let inset = Chart::new(
        Axis::log(
            "Throughput",
            Unit::MEGABITS_PER_SECOND,
            least.min(most / 2.0) * 0.9,
            most * 1.1,
        ),
        share(),
    )
    .with_all(of_each);
    let chart = Chart::new(
        Axis::log("BBR's throughput over CUBIC's", Unit::NONE, lowest, highest),
        share(),
    )
    .with(Rule::vertical(1.0, "the same"))
    .with(Rule::vertical(2.0, "twice"))
    .with(Rule::vertical(25.0, "25 times"))
    .with(Curve::new(
        name,
        Look::line(BLACK, Dash::Solid).wide(2.5),
        cdf(ratios),
    ))
    .with_inset(inset);
    Picture::new("", chart)
}
