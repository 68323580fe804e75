//! CDN, figure 4: throughput within a site and between sites.

use super::seen::{self, Seen};
use super::{After, CDN, Figure, transfers};
use crate::runs::Findings;
use draw::{Axis, BLUE, Bars, Chart, Dash, Look, Picture, Unit};

pub const FIGURE: Figure = Figure {
    name: "cdn-4-site-to-site",
    title: "Throughput within a site and between sites",
    after: After::Figure(4),
    publication: CDN,
    engines: &[lab::EngineKind::Sim],
    shows_samples: false,
    population: None,
    draw,
};

const FOREGROUND: &str = "flow.0.controller";

/// Large objects, in bytes: small ones fit the initial window, or little more, and all controllers send that alike.
const LARGE: f64 = 10e6;

/// Linux's BBR since 4.20 and before, and what each is compared to.
const BBR: &str = "flow.0.bbr1";
const TODAY: &str = "linux";

fn draw(findings: &[Findings]) -> Picture {
    let mut paths: Vec<String> = Vec::new();
    for seen in seen::all(findings) {
        let path = path(&seen);
        if !paths.contains(&path) {
            paths.push(path);
        }
    }
    let throughput = |controller: &str, is_today: Option<bool>, of: &str| {
        let seen = seen::with(findings, FOREGROUND, controller).filter(|seen| path(seen) == of);
        let seen = seen.filter(|seen| is_today.is_none_or(|is| (seen.value(BBR) == TODAY) == is));
        seen::median(seen.map(|seen| transfers::mean_throughput(&seen, LARGE)))
    };
    let shares = |is_today: bool| -> Vec<f64> {
        let share = |path: &String| {
            throughput("bbr1", Some(is_today), path) / throughput("cubic", None, path) * 100.0
        };
        paths.iter().map(share).collect()
    };
    let bars = |name: &str, look: Look, side: f64, heights: &[f64]| Bars {
        name: name.into(),
        look,
        width: WIDTH,
        bars: (0..)
            .zip(heights)
            .map(|(place, height): (u32, &f64)| (f64::from(place) + side, *height))
            .filter(|(_, height)| height.is_finite())
            .collect(),
        label: Some(|value| format!("{value:.0} %")),
    };
    let (today, before) = (shares(true), shares(false));
    let highest = today.iter().chain(&before).copied();
    let chart = Chart::new(
        Axis::of_kinds("Path", paths.clone()),
        Axis::from_zero(
            "Throughput of large objects, of CUBIC's",
            Unit::PERCENT,
            highest.filter(|share| share.is_finite()).chain([105.0]),
        ),
    )
    .with(bars("bbr1", Look::of_controller("bbr1"), -SIDE, &today))
    .with(bars(
        "bbr1 before Linux 4.20",
        Look::line(BLUE, Dash::Dotted),
        0.0,
        &before,
    ))
    .with(bars(
        "cubic",
        Look::of_controller("cubic"),
        SIDE,
        &vec![100.0; paths.len()],
    ));
    Picture::new("", chart)
}

/// How wide a bar is, and how far from the one beside it.
const WIDTH: f64 = 0.27;
const SIDE: f64 = 0.285;

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
