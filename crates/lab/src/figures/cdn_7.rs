//! CDN, figure 7: its laboratory.

use super::seen::{self, Seen};
use super::{CDN, Figure, transfers};
use crate::draw::{Axis, Chart, Curve, Dash, Look, Picture, cdf};
use crate::engine;
use crate::study::Findings;

pub const FIGURE: Figure = Figure {
    name: "cdn-7-laboratory",
    title: "Completion times in three classes of traffic, beside background of either controller",
    part: "figure 7",
    publication: CDN,
    engines: &[engine::Kind::Sim],
    shows_samples: false,
    population: None,
    draw,
};

const FOREGROUND: &str = "flow.0.controller";
const BACKGROUND: &str = "flow.1.controller";

fn draw(findings: &[Findings]) -> Picture {
    let classes = seen::values(findings, "path.rtt");
    let charts = classes.iter().map(|rtt| {
        let seen: Vec<Seen<'_>> = seen::with(findings, "path.rtt", rtt).collect();
        let times: Vec<Vec<f64>> = seen.iter().map(milliseconds).collect();
        let all = || times.iter().flatten().copied();
        let (shortest, longest) = (
            all().fold(f64::INFINITY, f64::min),
            all().fold(1.0, f64::max),
        );
        let curves = seen.iter().zip(&times).map(|(seen, times)| {
            let (foreground, background) = (seen.value(FOREGROUND), seen.value(BACKGROUND));
            let dash = if background == "bbr1" {
                Dash::Dashed
            } else {
                Dash::Solid
            };
            let look = Look {
                dash,
                ..Look::of_controller(foreground)
            };
            Curve::new(
                format!("{foreground} beside {background}"),
                look,
                cdf(times.iter().copied()),
            )
        });
        let path = seen
            .first()
            .map(|seen| format!("{}, {rtt}", seen.value("path.rate")));
        let class = match path.as_deref().and_then(|path| path.split_once("bit,")) {
            Some(("50m", _)) => "clients",
            Some(("1g", _)) => "between sites",
            _ => "within a site",
        };
        Chart::new(
            Axis::log(
                "Completion time (ms), log scale",
                (shortest * 0.9).min(longest / 2.0),
                longest * 1.1,
            ),
            Axis::linear("Share of objects", 0.0, 1.0),
        )
        .titled(format!("{class}: {}", path.unwrap_or_default()))
        .with_all(curves)
    });
    Picture::of("", 1, 260.0, charts)
}

/// How long the objects of a run took.
fn milliseconds(seen: &Seen<'_>) -> Vec<f64> {
    transfers::of(seen)
        .iter()
        .map(|object| object.took * 1e3)
        .collect()
}
