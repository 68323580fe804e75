//! CDN, figure 1: the number of requests of each size and completion time.

use super::runs::{self, CONTROLLER};
use super::transfers::{self, Arrived};
use super::{After, CDN, Figure};
use draw::{Axis, Cell, Cells, Chart, Picture, Unit};
use studies::runs::Findings;

pub const FIGURE: Figure = Figure::new(
    "cdn-1-sizes-and-times",
    "Requests by object size and completion time",
    After::Figure(CDN, 1),
    draw,
);

/// The bounds of size classes in bytes, and of time classes in seconds.
const SIZES: [f64; 13] = [
    1e2, 3e2, 1e3, 3e3, 1e4, 3e4, 1e5, 3e5, 1e6, 3e6, 1e7, 3e7, 1e8,
];
const TIMES: [f64; 12] = [
    0.01, 0.03, 0.06, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 100.0,
];

fn draw(findings: &[Findings]) -> Picture {
    let of_each: Vec<(&str, Vec<Cell>)> = runs::values(findings, CONTROLLER)
        .into_iter()
        .map(|controller| {
            let seen = runs::with(findings, CONTROLLER, controller);
            let objects: Vec<Arrived> = seen.flat_map(|seen| transfers::of(&seen)).collect();
            (controller, counts(&objects))
        })
        .collect();
    let all = of_each.iter().flat_map(|(_, cells)| cells);
    let most = all.map(|cell| cell.amount).fold(1.0, f64::max);
    let charts = of_each.iter().map(|(controller, cells)| {
        let shaded = |cell: &Cell| Cell {
            // The logarithm shows single requests beside the largest count.
            shade: (1.0 + cell.amount).ln() / (1.0 + most).ln(),
            ..cell.clone()
        };
        let ends = |bounds: &[f64]| (bounds[0], bounds[bounds.len() - 1]);
        let (sizes, times) = (ends(&SIZES), ends(&TIMES));
        Chart::new(
            Axis::log("Size of the object", Unit::BYTES, sizes.0, sizes.1),
            Axis::log("Completion time", Unit::SECONDS, times.0, times.1).with_ticks(TIMES),
        )
        .titled(*controller)
        .with(Cells {
            name: "Requests".into(),
            unit: Unit::NONE,
            cells: cells.iter().map(shaded).collect(),
        })
    });
    Picture::of("", 2, 400.0, charts)
}

/// The number of objects of each size and time class, where there are any.
fn counts(objects: &[Arrived]) -> Vec<Cell> {
    transfers::cells([objects], (&SIZES, &TIMES), |[(count, _)]| {
        (count > 0).then(|| (count as f64, 0.0, short(count as f64)))
    })
}

/// The number, short enough for a cell.
fn short(count: f64) -> String {
    if count < 1e3 {
        format!("{count}")
    } else {
        format!("{:.1}k", count / 1e3)
    }
}
