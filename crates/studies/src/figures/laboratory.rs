//! The three classes of traffic of the CDN's testbed, beside long transfers of either controller.

use super::seen::{self, Seen};
use super::{After, CDN, Figure, testbed, transfers};
use crate::runs::Findings;
use draw::{Axis, Chart, Curve, Dash, Look, Mark, Picture, Unit, cdf};

pub const FIGURE: Figure = Figure {
    name: "laboratory",
    title: "Completion times in three classes of traffic, beside background of either controller",
    after: After::Text("the testbed (figure 7)"),
    publication: CDN,
    engines: &[lab::EngineKind::Sim],
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
        let x = transfers::around(
            "Completion time",
            Unit::MILLISECONDS,
            times.iter().flatten().copied(),
        );
        let curves = seen.iter().zip(&times).map(|(seen, times)| {
            let (foreground, background) = (seen.value(FOREGROUND), seen.value(BACKGROUND));
            let (dash, variant) = match background {
                "bbr1" => (Dash::Dashed, "beside bbr1"),
                _ => (Dash::Solid, "beside cubic"),
            };
            let mark = if foreground == "bbr1" {
                Mark::Circle
            } else {
                Mark::Square
            };
            let look = Look::line(Look::of_controller(foreground).colour, dash).marked(mark);
            let points = cdf(times.iter().copied());
            Curve::new(foreground, look, points).variant(variant)
        });
        let title = seen.first().map(|seen| {
            let path = &seen.record().summary.path;
            let rate = testbed::rate(path.rate_bps.unwrap_or_default() as f64);
            format!("{}: {rate}, {} ms", testbed::class(seen), path.rtprop_ms)
        });
        Chart::new(x, Axis::linear("Share of objects", Unit::NONE, 0.0, 1.0))
            .titled(title.unwrap_or_default())
            .with_all(curves)
    });
    Picture::of("", 1, 260.0, charts)
}

/// How long the objects of a run took.
fn milliseconds(seen: &Seen<'_>) -> Vec<f64> {
    let objects = transfers::of(seen);
    objects.iter().map(|object| object.took * 1e3).collect()
}
