//! CDN, figure 8: completion times of objects of 3 MB, to clients and from site to site.

use super::seen::{self, Seen};
use super::{After, CDN, Figure, testbed, transfers};
use crate::runs::Findings;
use draw::{Axis, Chart, Curve, Look, Picture, Unit, cdf};

pub const FIGURE: Figure = Figure {
    name: "cdn-8-objects-of-3mb",
    title: "Completion times of objects of 3 MB: to clients, and from site to site",
    after: After::Figure(8),
    publication: CDN,
    engines: &[lab::EngineKind::Sim],
    shows_samples: false,
    population: None,
    draw,
};

const FOREGROUND: &str = "flow.0.controller";

/// The objects that are measured, in bytes; others are there to disturb them.
const SIZE: f64 = 3e6;

fn draw(findings: &[Findings]) -> Picture {
    let paths = seen::values(findings, "path.rtt");
    let charts = paths.iter().map(|rtt| {
        let times = |controller: &str| -> Vec<f64> {
            let seen = seen::with(findings, FOREGROUND, controller);
            let on_path = seen.filter(|seen| seen.value("path.rtt") == *rtt);
            let objects = on_path.flat_map(|seen| transfers::of(&seen));
            let measured = objects.filter(|object| object.bytes == SIZE);
            measured.map(|object| object.took * 1e3).collect()
        };
        let curves: Vec<Curve> = seen::values(findings, FOREGROUND)
            .into_iter()
            .map(|controller| {
                let times = times(controller);
                let look = Look::of_controller(controller);
                Curve::new(controller, look, cdf(times))
            })
            .collect();
        let all = curves
            .iter()
            .flat_map(|curve| &curve.points)
            .map(|(x, _)| *x);
        let x = transfers::around("Completion time", Unit::MILLISECONDS, all);
        let class = |seen: Seen<'_>| testbed::class(&seen);
        let title = seen::with(findings, "path.rtt", rtt).next().map(class);
        Chart::new(x, Axis::linear("Share of objects", Unit::NONE, 0.0, 1.0))
            .titled(title.unwrap_or_default())
            .with_all(curves)
    });
    Picture::of("", 2, 360.0, charts)
}
