//! The completion times of objects by size.

use super::runs;
use super::testbed::FOREGROUND;
use super::transfers::{self, Arrived};
use super::{After, CDN, Figure};
use draw::{Axis, Cells, Chart, Picture, Unit};
use studies::runs::Findings;

pub const FIGURE: Figure = Figure::new(
    "time-shares",
    "Completion times of objects by size: BBR's share minus CUBIC's",
    After::Text(CDN, "sizes and times (figure 1)"),
    draw,
);

/// The bounds of size classes in bytes, and of time classes in seconds.
const SIZES: [f64; 9] = [1e3, 1e4, 3e4, 1e5, 3e5, 1e6, 3e6, 1e7, 1e8];
const TIMES: [f64; 11] = [0.05, 0.1, 0.15, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 60.0];

/// The difference in percentage points that has the full colour.
const FULL_COLOUR_POINTS: f64 = 30.0;

/// The fewest objects of a size whose shares are meaningful.
const MIN_OBJECTS: usize = 20;

/// A rounded number with its sign; zero without one.
fn signed(value: f64) -> String {
    match value.round() {
        0.0 => "0".into(),
        whole => format!("{whole:+}"),
    }
}

fn draw(findings: &[Findings]) -> Picture {
    let objects = |controller| -> Vec<Arrived> {
        runs::with(findings, FOREGROUND, controller)
            .flat_map(|seen| transfers::of(&seen))
            .collect()
    };
    let (bbr, cubic) = (objects("bbr1"), objects("cubic"));
    let cells = transfers::cells([&bbr, &cubic], (&SIZES, &TIMES), |[bbr, cubic]| {
        if bbr.1.min(cubic.1) < MIN_OBJECTS {
            return None;
        }
        let share = |(count, all): (usize, usize)| count as f64 / all as f64 * 100.0;
        let (bbr, cubic) = (share(bbr), share(cubic));
        let more = bbr - cubic;
        (bbr + cubic > 0.0).then(|| (more, more / FULL_COLOUR_POINTS, signed(more)))
    });
    let chart = Chart::new(
        Axis::log("Size of the object", Unit::BYTES, 1e3, 1e8).with_ticks(SIZES),
        Axis::log("Completion time", Unit::SECONDS, 0.05, 60.0).with_ticks(TIMES),
    )
    .with(Cells {
        name: "BBR's share minus CUBIC's".into(),
        unit: Unit::PERCENT,
        cells,
    });
    Picture::new("", chart)
}
