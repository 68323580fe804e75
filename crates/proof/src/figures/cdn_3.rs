//! CDN, figure 3: completion time and jitter by the size of objects.

use super::runs::{self, CONTROLLER};
use super::transfers::{self, Arrived};
use super::{After, CDN, Figure, curves};
use draw::{Axis, Chart, Curve, Mark, Picture, Unit};
use studies::runs::Findings;

pub const FIGURE: Figure = Figure::new(
    "cdn-3-time-and-jitter",
    "Mean completion time and jitter for wireline clients, by object size",
    After::Figure(CDN, 3),
    draw,
);

/// The object sizes of the scenario's groups, in order, in bytes.
const SIZES: [f64; 5] = [1e4, 1e5, 1e6, 1e7, 5e7];

fn draw(findings: &[Findings]) -> Picture {
    let times = by_size(findings, transfers::mean_time);
    let jitters = by_size(findings, transfers::deviation);
    let size = || Axis::log("Size of the object", Unit::BYTES, 6e3, 9e7);
    let charts = [
        Chart::new(
            size(),
            Axis::log("Mean completion time", Unit::SECONDS, 0.05, 60.0),
        )
        .with_all(times),
        Chart::new(
            size(),
            Axis::log("Jitter of the completion time", Unit::SECONDS, 0.05, 60.0),
        )
        .with_all(jitters),
    ];
    Picture::of("", 2, 340.0, charts)
}

/// For each controller and size, the median of a measure over the runs' objects of this size.
fn by_size(findings: &[Findings], measure: impl Fn(Vec<Arrived>) -> f64) -> Vec<Curve> {
    let curve = |controller| {
        let seen = runs::with(findings, CONTROLLER, controller);
        let points = seen.flat_map(|seen| {
            let objects = transfers::of(&seen);
            SIZES.map(|size| {
                let of_size = objects.iter().filter(|object| object.bytes == size);
                (size, measure(of_size.copied().collect()))
            })
        });
        let look = curves::look_of(controller).marked(Mark::Circle);
        Curve::new(controller, look, runs::medians(points))
    };
    let controllers = runs::values(findings, CONTROLLER);
    controllers.into_iter().map(curve).collect()
}
