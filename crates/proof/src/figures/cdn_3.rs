//! CDN, figure 3: completion time and jitter by the size of objects.

use super::runs::{self, CONTROLLER};
use super::transfers::{self, Arrived, deviation, mean_time};
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

/// The field whose values are the settings of the line.
const SETTING: &str = "name";

fn draw(findings: &[Findings]) -> Picture {
    let settings = runs::values(findings, SETTING);
    let charts = settings.iter().flat_map(|setting| {
        let chart = |what, measure| {
            Chart::new(
                Axis::log("Size of the object", Unit::BYTES, 6e3, 9e7),
                Axis::log(what, Unit::SECONDS, 0.003, 90.0),
            )
            .titled(*setting)
            .with_all(by_size(findings, setting, measure))
        };
        [
            chart("Mean completion time", mean_time),
            chart("Jitter", deviation),
        ]
    });
    Picture::of("", 2, 340.0, charts)
}

/// For each controller and size, the median of a measure over the runs' objects of this size.
fn by_size(findings: &[Findings], setting: &str, measure: fn(Vec<Arrived>) -> f64) -> Vec<Curve> {
    let curve = |controller| {
        let seen = runs::with(findings, CONTROLLER, controller);
        let of_setting = seen.filter(|seen| seen.value(SETTING) == setting);
        let points = of_setting.flat_map(|seen| {
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
