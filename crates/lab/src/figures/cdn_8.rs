//! CDN, figure 8: which times objects of each size take.

use super::seen;
use super::transfers::{self, Arrived};
use super::{CDN, Figure};
use crate::draw::{Axis, Cell, Cells, Chart, Picture};
use crate::engine;
use crate::study::Findings;

pub const FIGURE: Figure = Figure {
    name: "cdn-8-heat-map",
    title: "Which times objects of each size take: BBR's share minus CUBIC's",
    part: "figure 8",
    publication: CDN,
    engines: &[engine::Kind::Sim],
    shows_samples: false,
    population: None,
    draw,
};

const FOREGROUND: &str = "flow.0.controller";

/// The bounds of the sizes in kB, and of the times in seconds.
const SIZES: [f64; 9] = [1.0, 10.0, 30.0, 100.0, 300.0, 1e3, 3e3, 1e4, 1e5];
const TIMES: [f64; 11] = [0.05, 0.1, 0.15, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 60.0];

/// A difference of so many percentage points has the full colour.
const STRONG: f64 = 30.0;

/// With fewer objects of a size than this, their shares tell nothing.
const FEW: usize = 20;

fn draw(findings: &[Findings]) -> Picture {
    let objects = |controller| -> Vec<Arrived> {
        seen::with(findings, FOREGROUND, controller)
            .flat_map(|seen| transfers::of(&seen))
            .collect()
    };
    let (bbr, cubic) = (objects("bbr1"), objects("cubic"));
    let mut cells = Vec::new();
    for x in pairs(&SIZES) {
        let of_size = |objects: &[Arrived]| -> Vec<f64> {
            let of_size = objects.iter().filter(|object| is_in(object.bytes / 1e3, x));
            of_size.map(|object| object.took).collect()
        };
        let (bbr, cubic) = (of_size(&bbr), of_size(&cubic));
        if bbr.len().min(cubic.len()) < FEW {
            continue;
        }
        for y in pairs(&TIMES) {
            let share = |times: &[f64]| {
                let count = times.iter().filter(|took| is_in(**took, y)).count();
                count as f64 / times.len() as f64 * 100.0
            };
            let (bbr, cubic) = (share(&bbr), share(&cubic));
            if bbr + cubic > 0.0 {
                let label = format!("{:+.0}", bbr - cubic);
                cells.push(Cell {
                    x,
                    y,
                    value: (bbr - cubic) / STRONG,
                    label,
                });
            }
        }
    }
    let written = |value: &f64| {
        let text = if *value >= 1e3 {
            format!("{}M", value / 1e3)
        } else {
            format!("{value}k")
        };
        (*value, text)
    };
    let chart = Chart::new(
        Axis::log("Size of the objects (bytes), log scale", 1.0, 1e5)
            .with_ticks(SIZES.iter().map(written)),
        Axis::log("Completion time (s), log scale", 0.05, 60.0)
            .with_ticks(TIMES.iter().map(|time| (*time, time.to_string()))),
    )
    .with(Cells { cells });
    Picture::new("", chart)
}

fn pairs(bounds: &[f64]) -> impl Iterator<Item = (f64, f64)> {
    bounds.iter().copied().zip(bounds.iter().copied().skip(1))
}

fn is_in(value: f64, (from, to): (f64, f64)) -> bool {
    value >= from && value < to
}
