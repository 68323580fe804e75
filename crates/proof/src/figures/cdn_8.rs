//! CDN, figure 8: completion times of objects of 3 MB, to clients and between sites.

use super::runs;
use super::testbed::{self, FOREGROUND, RTT};
use super::{After, CDN, Figure, curves, transfers};
use draw::{Chart, Picture, Unit};
use studies::runs::Findings;

pub const FIGURE: Figure = Figure::new(
    "cdn-8-objects-of-3mb",
    "Completion times of objects of 3 MB, to clients and between sites",
    After::Figure(CDN, 8),
    draw,
);

/// The size of the measured objects, in bytes. Other objects are cross traffic.
const MEASURED_BYTES: f64 = 3e6;

fn draw(findings: &[Findings]) -> Picture {
    let charts = runs::values(findings, RTT).into_iter().map(|rtt| {
        let curves = curves::distributions(findings, FOREGROUND, |seen| {
            let objects = Some(seen).filter(|seen| seen.value(RTT) == rtt);
            let objects = objects.map_or(Vec::new(), |seen| transfers::of(&seen));
            let measured = objects
                .into_iter()
                .filter(|object| object.bytes == MEASURED_BYTES);
            measured.map(|object| object.took * 1e3)
        });
        let all = curves::across(&curves);
        let x = transfers::around("Completion time", Unit::MILLISECONDS, all);
        let class = runs::with(findings, RTT, rtt)
            .next()
            .map(|seen| testbed::class(&seen));
        Chart::new(x, curves::share_of("objects"))
            .titled(class.unwrap_or_default())
            .with_all(curves)
    });
    Picture::of("", 2, 360.0, charts)
}
