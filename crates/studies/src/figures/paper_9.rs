//! Figure 9: round-trip times of a population of users, by region.

use super::seen::{self, CONTROLLER};
use super::{After, Figure, PAPER};
use crate::runs::Findings;
use crate::study::Population;
use draw::{Axis, BLUE, Bars, Chart, Dash, Look, Picture, Unit};
use record::statistics::median;

pub const FIGURE: Figure = Figure {
    name: "paper-9-population",
    title: "Median RTT with BBR and with CUBIC, by region",
    after: After::Figure(9),
    publication: PAPER,
    engines: &[lab::EngineKind::Sim],
    shows_samples: false,
    population: Some(Population {
        members: 1_500,
        quick: 30,
    }),
    draw,
};

const REGION: &str = "region";

fn draw(findings: &[Findings]) -> Picture {
    let regions = seen::values(findings, REGION);
    let rtts = |controller: &str| -> Vec<f64> {
        let median = |region: &&str| {
            let seen = seen::with(findings, REGION, region);
            let seen = seen.filter(|seen| seen.value(CONTROLLER) == controller);
            let rtts = seen.filter_map(|seen| seen.flows().iter().find_map(|flow| flow.rtt_ms.p50));
            median(rtts).unwrap_or(f64::NAN)
        };
        regions.iter().map(median).collect()
    };
    let (bbr, cubic) = (rtts("bbr1"), rtts("cubic"));
    let reductions = bbr
        .iter()
        .zip(&cubic)
        .map(|(bbr, cubic)| (1.0 - bbr / cubic) * 100.0);
    let bars = |name: &str, look, width, side: f64, heights: Vec<f64>, label| Bars {
        name: name.into(),
        look,
        width,
        bars: (0u32..)
            .zip(heights)
            .map(|(place, height)| (f64::from(place) + side, height))
            .collect(),
        label: Some(label),
    };
    let milliseconds: fn(f64) -> String = |value| format!("{value:.0}");
    let percent: fn(f64) -> String = |value| format!("{value:.0} %");
    let x = || Axis::of_kinds("Region", regions.iter().copied());
    let controller = |name: &str, side, heights: &[f64]| {
        let look = Look::of_controller(name);
        bars(name, look, 0.36, side, heights.to_vec(), milliseconds)
    };
    let look = Look::line(BLUE, Dash::Solid);
    let charts = [
        Chart::new(
            x(),
            Axis::from_zero(
                "Median RTT",
                Unit::MILLISECONDS,
                bbr.iter().chain(&cubic).copied(),
            ),
        )
        .with(controller("bbr1", -0.19, &bbr))
        .with(controller("cubic", 0.19, &cubic)),
        Chart::new(
            x(),
            Axis::linear("Lower with BBR", Unit::PERCENT, 0.0, 100.0),
        )
        .with(bars(
            "by how much BBR's is lower",
            look,
            0.5,
            0.0,
            reductions.collect(),
            percent,
        )),
    ];
    Picture::of("", 1, 260.0, charts).explained(
        "Access networks drawn from the distributions in scenarios/population.toml, which tells their sources and \
         what is assumed; each once with either controller, watching a minute of video. The median over a region's \
         users of their median RTTs.",
    )
}
