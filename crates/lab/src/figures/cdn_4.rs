//! CDN, figure 4: throughput within a site and between sites.

use super::seen::{self, Seen};
use super::{After, CDN, Figure, transfers};
use crate::draw::{Axis, Bars, Chart, Look, Picture, Unit};
use crate::engine;
use crate::study::Findings;
use crate::sweep::Spread;

pub const FIGURE: Figure = Figure {
    name: "cdn-4-site-to-site",
    title: "Throughput within a site and between sites",
    after: After::Figure(4),
    publication: CDN,
    engines: &[engine::Kind::Sim],
    shows_samples: false,
    population: None,
    draw,
};

const FOREGROUND: &str = "flow.0.controller";

/// Large objects, in bytes: small ones fit the initial window, or little more, and all controllers send that alike.
const LARGE: f64 = 10e6;

fn draw(findings: &[Findings]) -> Picture {
    let mut paths: Vec<String> = Vec::new();
    for seen in seen::all(findings) {
        let path = path(&seen);
        if !paths.contains(&path) {
            paths.push(path);
        }
    }
    let throughput = |controller: &str, of: &str| {
        let seen = seen::with(findings, FOREGROUND, controller).filter(|seen| path(seen) == of);
        let means = seen.map(|seen| transfers::mean_throughput(&seen, LARGE));
        Spread::of(means.filter(|mean| mean.is_finite()).collect())
            .map_or(f64::NAN, |spread| spread.median)
    };
    let share = |path: &String| throughput("bbr1", path) / throughput("cubic", path) * 100.0;
    let shares: Vec<f64> = paths.iter().map(share).collect();
    let bars = |controller: &str, side: f64, heights: Vec<f64>| Bars {
        name: controller.into(),
        look: Look::of_controller(controller),
        width: 0.36,
        bars: (0..)
            .zip(heights)
            .map(|(place, height): (u32, f64)| (f64::from(place) + side, height))
            .collect(),
        label: Some(|value| format!("{value:.0} %")),
    };
    let highest = shares.iter().copied().filter(|share| share.is_finite());
    let chart = Chart::new(
        Axis::of_kinds("Path", paths.clone()),
        Axis::from_zero(
            "Throughput of large objects, of CUBIC's",
            Unit::PERCENT,
            highest.chain([105.0]),
        ),
    )
    .with(bars("bbr1", -0.19, shares))
    .with(bars("cubic", 0.19, vec![100.0; paths.len()]));
    Picture::new("", chart)
}

/// `between sites, 0.001 % loss`.
fn path(seen: &Seen<'_>) -> String {
    match seen.number("path.rtt") < 5.0 {
        true => "within a site".into(),
        false => format!(
            "between sites, {} % loss",
            seen.value("path.loss").trim_end_matches('%')
        ),
    }
}
