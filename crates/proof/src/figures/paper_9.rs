//! Figure 9: round-trip times of a population of users, by region.

use super::runs::{self, CONTROLLER};
use super::{After, Figure, PAPER, curves};
use crate::study::Population;
use draw::{Axis, BLUE, Chart, Dash, Look, Picture, Unit};
use studies::runs::Findings;

pub const FIGURE: Figure = Figure::new(
    "paper-9-population",
    "Median RTT with BBR and with CUBIC, by region",
    After::Figure(PAPER, 9),
    draw,
)
.of(Population {
    members: 1_625,
    quick: 39,
});

const REGION: &str = "region";

fn draw(findings: &[Findings]) -> Picture {
    let regions = runs::values(findings, REGION);
    let rtts = |controller: &str| -> Vec<f64> {
        let median = |region: &&str| {
            let seen = runs::with(findings, REGION, region);
            let seen = seen.filter(|seen| seen.value(CONTROLLER) == controller);
            let rtts = seen.filter_map(|seen| seen.flows().iter().find_map(|flow| flow.rtt_ms.p50));
            runs::median(rtts)
        };
        regions.iter().map(median).collect()
    };
    let (bbr, cubic) = (rtts("bbr1"), rtts("cubic"));
    let pairs = bbr.iter().zip(&cubic);
    let reductions: Vec<f64> = pairs
        .map(|(bbr, cubic)| (1.0 - bbr / cubic) * 100.0)
        .collect();
    let x = || Axis::of_kinds("Region", regions.iter().copied());
    let controller = |name: &str, side, heights: &[f64]| {
        let look = curves::look_of(name);
        curves::bars(name, look, (0.36, side), heights, |rtt| format!("{rtt:.0}"))
    };
    let reduction = curves::bars(
        "by how much BBR's is lower",
        Look::line(BLUE, Dash::Solid),
        (0.5, 0.0),
        &reductions,
        |share| format!("{share:.0} %"),
    );
    let charts = [
        Chart::new(
            x(),
            // RTTs of 2.5G are a hundred times as long as others.
            Axis::log("Median RTT", Unit::MILLISECONDS, 10.0, 3e4),
        )
        .with(controller("bbr1", -0.19, &bbr))
        .with(controller("cubic", 0.19, &cubic)),
        Chart::new(
            x(),
            Axis::linear("Lower with BBR", Unit::PERCENT, 0.0, 100.0),
        )
        .with(reduction),
    ];
    Picture::of("", 1, 260.0, charts).explained(
        "Access networks drawn from the distributions in scenarios/population.toml, which names their sources and the \
         assumptions; each runs once with each controller, for a minute of video. Medians over a region's users of \
         their median RTTs. \"2.5G\" is not a region: it stands for the mobile users of all regions with 8 to 114 \
         kbit/s behind deep buffers, whom the paper mentions only in its text.",
    )
}
