//! CDN, figure 3: completion time and jitter by the size of objects.

use super::seen::{self, CONTROLLER, Seen};
use super::{After, CDN, Figure, curves, transfers};
use crate::runs::Findings;
use draw::{Axis, Chart, Curve, Mark, Picture, Unit};

pub const FIGURE: Figure = Figure::new(
    "cdn-3-time-and-jitter",
    "Mean completion time and jitter for wireline clients, by the size of the object",
    After::Figure(CDN, 3),
    draw,
);

/// The sizes of the objects of the scenario's groups, in its order, in bytes.
const SIZES: [f64; 5] = [1e4, 1e5, 1e6, 1e7, 5e7];

fn draw(findings: &[Findings]) -> Picture {
    let times = by_size(findings, |seen, place| {
        let of_size = |object: &transfers::Arrived| object.bytes == SIZES[place];
        let objects = transfers::of(seen).into_iter().filter(of_size);
        transfers::mean_time(objects)
    });
    let jitters = by_size(findings, |seen, place| {
        let rtt = seen.flows().get(place).map(|flow| flow.rtt_ms);
        let spread = rtt.and_then(|rtt| Some(rtt.p95? - rtt.p50?));
        spread.unwrap_or(f64::NAN)
    });
    let jitter = Axis::from_zero("Jitter", Unit::MILLISECONDS, curves::heights(&jitters));
    let size = || Axis::log("Size of the object", Unit::BYTES, 6e3, 9e7);
    let charts = [
        Chart::new(
            size(),
            Axis::log("Mean completion time", Unit::SECONDS, 0.05, 60.0),
        )
        .with_all(times),
        Chart::new(size(), jitter).with_all(jitters),
    ];
    Picture::of("", 2, 340.0, charts)
}

/// For each controller, medians of the runs over the size.
fn by_size(findings: &[Findings], measure: impl Fn(&Seen<'_>, usize) -> f64) -> Vec<Curve> {
    let curve = |controller| {
        let seen = seen::with(findings, CONTROLLER, controller);
        let points = seen.flat_map(|seen| {
            let of_place = |(place, size)| (size, measure(&seen, place));
            SIZES
                .into_iter()
                .enumerate()
                .map(of_place)
                .collect::<Vec<_>>()
        });
        let look = curves::look_of(controller).marked(Mark::Circle);
        Curve::new(controller, look, seen::medians(points))
    };
    let controllers = seen::values(findings, CONTROLLER);
    controllers.into_iter().map(curve).collect()
}
