//! The change of throughput by BBR in each of many networks.

use super::runs::{self, CONTROLLER};
use super::{After, CDN, Figure, curves, transfers};
use draw::{Chart, Curve, Dash, GREEN, Look, Picture, Rule, cdf};
use studies::runs::Findings;

pub const FIGURE: Figure = Figure::new(
    "networks",
    "BBR's throughput compared with CUBIC's, network by network",
    After::Text(CDN, "the networks (figures 5 and 6)"),
    draw,
);

fn draw(findings: &[Findings]) -> Picture {
    let ratios = runs::pairs(findings, CONTROLLER, "bbr1", "cubic", |seen| {
        transfers::mean_throughput(seen, 0.0)
    });
    let changes = ratios.into_iter().map(|ratio| (ratio - 1.0) * 100.0);
    let changes: Vec<f64> = changes.collect();
    let better = changes.iter().filter(|change| **change > 0.0).count();
    let share = better as f64 / changes.len().max(1) as f64 * 100.0;
    let chart = Chart::new(
        curves::around_zero("Change of the mean throughput by BBR", &changes, 1.05),
        curves::share_of("networks"),
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
