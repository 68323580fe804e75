//! Figure 7: BBR beside CUBIC on the paths of a wide area network.

use super::seen::{self, CONTROLLER};
use super::{Figure, PAPER, transfers};
use crate::draw::{Axis, Chart, Curve, Dash, GREEN, Look, Picture, Rule, cdf};
use crate::engine;
use crate::study::Findings;

pub const FIGURE: Figure = Figure {
    name: "paper-7-wide-area",
    title: "BBR's throughput over CUBIC's on the paths of a wide area network",
    part: "figure 7",
    publication: PAPER,
    engines: &[engine::Kind::Sim],
    shows_samples: false,
    population: None,
    draw,
};

fn draw(findings: &[Findings]) -> Picture {
    let ratios = seen::pairs(findings, CONTROLLER, "bbr1", "cubic", |seen| {
        transfers::mean_throughput(seen, 0.0)
    });
    let highest = ratios.iter().copied().fold(2.0, f64::max) * 1.1;
    let lowest = ratios.iter().copied().fold(1.0, f64::min) * 0.9;
    let name = format!("{} paths", ratios.len());
    let chart = Chart::new(
        Axis::log("BBR's throughput over CUBIC's, log scale", lowest, highest),
        Axis::linear("Share of paths", 0.0, 1.0),
    )
    .with(Rule::vertical(1.0, "the same"))
    .with(Rule::vertical(2.0, "twice"))
    .with(Rule::vertical(25.0, "25 times"))
    .with(Curve::new(
        name,
        Look::line(GREEN, Dash::Solid).wide(2.5),
        cdf(ratios),
    ));
    Picture::new("", chart)
}
