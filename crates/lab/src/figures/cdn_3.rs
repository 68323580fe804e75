//! CDN, figure 3: completion time and jitter by the size of objects.

use super::seen::{self, CONTROLLER, Seen};
use super::{CDN, Figure, transfers};
use crate::draw::{Axis, BLUE, Bars, Chart, Dash, GREEN, Look, Picture};
use crate::engine;
use crate::study::Findings;
use crate::sweep::Spread;

pub const FIGURE: Figure = Figure {
    name: "cdn-3-completion-and-jitter",
    title: "What BBR changes of completion time and jitter, by the size of objects",
    part: "figure 3",
    publication: CDN,
    engines: &[engine::Kind::Sim],
    shows_samples: false,
    population: None,
    draw,
};

/// The scenario's groups, in its order, and the sizes of their objects in bytes.
const SIZES: [(&str, f64); 5] = [
    ("10 kB", 1e4),
    ("100 kB", 1e5),
    ("1 MB", 1e6),
    ("10 MB", 1e7),
    ("50 MB", 5e7),
];

fn draw(findings: &[Findings]) -> Picture {
    let times = improvements(findings, |seen, place| {
        let size = SIZES.get(place).map_or(0.0, |(_, size)| *size);
        transfers::median_time(
            transfers::of(seen)
                .into_iter()
                .filter(|object| object.bytes == size),
        )
    });
    let jitters = improvements(findings, |seen, place| {
        let rtt = seen.flows().get(place).map(|flow| flow.rtt_ms);
        let spread = rtt.and_then(|rtt| Some(rtt.p95? - rtt.p50?));
        spread.unwrap_or(f64::NAN)
    });
    let chart = |name: &str, y: &str, colour, bars: Vec<(f64, f64)>| {
        let farthest =
            |sign: f64| bars.iter().map(|(_, y)| y * sign).fold(10.0, f64::max) * 1.25 * sign;
        let kinds = SIZES.map(|(name, _)| name);
        Chart::new(
            Axis::of_kinds("Size of the objects", kinds),
            Axis::linear(y, farthest(-1.0), farthest(1.0)),
        )
        .with(Bars {
            name: name.into(),
            look: Look::line(colour, Dash::Solid),
            width: 0.55,
            bars,
            label: Some(|value| format!("{value:+.0} %")),
        })
    };
    let charts = [
        chart(
            "time that BBR saves",
            "Shorter completion time (%)",
            GREEN,
            times,
        ),
        chart("jitter that BBR saves", "Less jitter (%)", BLUE, jitters),
    ];
    Picture::of("", 2, 340.0, charts)
}

/// Of each size, what BBR saves of what CUBIC has, in percent.
fn improvements(
    findings: &[Findings],
    measure: impl Fn(&Seen<'_>, usize) -> f64,
) -> Vec<(f64, f64)> {
    let median = |controller, place| {
        let seen = seen::with(findings, CONTROLLER, controller);
        let values = seen
            .map(|seen| measure(&seen, place))
            .filter(|value| value.is_finite());
        Spread::of(values.collect()).map_or(f64::NAN, |spread| spread.median)
    };
    let saved = |place| (1.0 - median("bbr1", place) / median("cubic", place)) * 100.0;
    let bars = (0..SIZES.len()).map(|place| (place as f64, saved(place)));
    bars.filter(|(_, saved)| saved.is_finite()).collect()
}
