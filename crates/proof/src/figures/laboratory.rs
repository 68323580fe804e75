//! The three classes of traffic of the CDN's testbed, each on a line of its own beside long transfers of either controller.

use super::runs::{self, StudyRun};
use super::testbed::{self, FOREGROUND, RTT};
use super::{After, CDN, Figure, curves, transfers};
use draw::{Chart, Curve, Dash, Look, Picture, Unit, cdf};
use studies::runs::Findings;

pub const FIGURE: Figure = Figure::new(
    "laboratory",
    "Completion times in three classes of traffic, beside background of either controller",
    After::Text(CDN, "the three patterns of traffic"),
    draw,
);

const BACKGROUND: &str = "flow.1.controller";

fn draw(findings: &[Findings]) -> Picture {
    let classes = runs::values(findings, RTT);
    let charts = classes.iter().map(|rtt| {
        let seen: Vec<StudyRun<'_>> = runs::with(findings, RTT, rtt).collect();
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
            let colour = curves::look_of(foreground).colour;
            let look = Look::line(colour, dash).marked(curves::mark_of(foreground));
            let points = cdf(times.iter().copied());
            Curve::new(foreground, look, points).variant(variant)
        });
        let title = seen.first().map(|seen| {
            let (class, rate) = (testbed::class(seen), testbed::rate(seen.rate()));
            format!("{class}: {rate}, {} ms", seen.path().rtprop_ms)
        });
        Chart::new(x, curves::share_of("objects"))
            .titled(title.unwrap_or_default())
            .with_all(curves)
    });
    Picture::of("", 1, 260.0, charts)
}

/// The times of a run's objects.
fn milliseconds(seen: &StudyRun<'_>) -> Vec<f64> {
    let objects = transfers::of(seen);
    objects.iter().map(|object| object.took * 1e3).collect()
}
