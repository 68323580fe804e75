//! By how much BBR changes the throughput of each of many networks.

use super::seen::{self, CONTROLLER};
use super::{After, CDN, Figure, transfers};
use crate::runs::Findings;
use draw::{Axis, Chart, Curve, Dash, GREEN, Look, Picture, Rule, Unit, cdf};

pub const FIGURE: Figure = Figure {
    name: "networks",
    title: "BBR's throughput beside CUBIC's, network by network",
    after: After::Text("the networks (figures 5 and 6)"),
    publication: CDN,
    engines: &[lab::EngineKind::Sim],
    shows_samples: false,
    population: None,
    draw,
};

fn draw(findings: &[Findings]) -> Picture {
    let ratios = seen::pairs(findings, CONTROLLER, "bbr1", "cubic", |seen| {
        transfers::mean_throughput(seen, 0.0)
    });
    let changes: Vec<f64> = ratios
        .into_iter()
        .map(|ratio| (ratio - 1.0) * 100.0)
        .collect();
    let better = changes.iter().filter(|change| **change > 0.0).count();
    let share = better as f64 / changes.len().max(1) as f64 * 100.0;
    let ends = |sign: f64| {
        changes
            .iter()
            .map(|change| change * sign)
            .fold(10.0, f64::max)
            * 1.05
            * sign
    };
    let chart = Chart::new(
        Axis::linear(
            "Change of the mean throughput by BBR",
            Unit::PERCENT,
            ends(-1.0),
            ends(1.0),
        ),
        Axis::linear("Share of networks", Unit::NONE, 0.0, 1.0),
    )
    .with(Rule::vertical(0.0, "the same"))
    .with(Curve::new(
        format!("{} networks", changes.len()),
        Look::line(GREEN, Dash::Solid).wide(2.5),
        cdf(changes),
    ));
    Picture::new("", chart).explained(format!(
        "In {share:.0} % of the networks BBR's throughput is higher."
    ))
}
