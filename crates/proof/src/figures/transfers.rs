//! The transfers of objects.

use std::collections::HashSet;

use super::runs::{self, StudyRun};
use draw::{Axis, Cell, Unit};
use record::Transfer;
use tables::statistics::{self, mean};

/// The size in bytes above which objects are large to the CDN. It measures their throughput, and the time of smaller
/// ones.
pub const LARGE_ABOVE_BYTES: f64 = 3e6;

/// A completed object.
#[derive(Debug, Clone, Copy)]
pub struct Arrived {
    pub bytes: f64,
    /// The duration in seconds.
    pub took: f64,
}

impl Arrived {
    /// Its throughput in Mbit/s.
    pub fn throughput(&self) -> f64 {
        self.bytes * 8.0 / self.took / 1e6
    }
}

/// The objects of a run that were requested after the warmup and completed.
pub fn of(seen: &StudyRun<'_>) -> Vec<Arrived> {
    of_groups(seen, |_| true)
}

/// Those of the groups of flows with these indices in the scenario.
pub fn of_groups(seen: &StudyRun<'_>, is_of: impl Fn(usize) -> bool) -> Vec<Arrived> {
    let flows = seen.flows().iter();
    let flows = flows.filter(|flow| flow.group.is_none_or(&is_of));
    let ids: HashSet<usize> = flows.map(|flow| flow.id).collect();
    let record = seen.record();
    let rows = record.transfers.rows.iter();
    let rows = rows.filter(|transfer| ids.contains(&transfer.flow));
    let arrived = |transfer: &Transfer| {
        let took = transfer
            .completed?
            .saturating_sub(transfer.start)
            .as_secs_f64();
        let bytes = transfer.bytes.get() as f64;
        (transfer.start >= record.scenario.warmup && took > 0.0).then_some(Arrived { bytes, took })
    };
    rows.filter_map(arrived).collect()
}

/// The throughputs of objects with more bytes than this, in Mbit/s.
pub fn throughputs(seen: &StudyRun<'_>, more_than: f64) -> Vec<f64> {
    let objects = of(seen).into_iter();
    let large = objects.filter(|object| object.bytes > more_than);
    large.map(|object| object.throughput()).collect()
}

/// The mean throughput of objects with more bytes than this, in Mbit/s.
pub fn mean_throughput(seen: &StudyRun<'_>, more_than: f64) -> f64 {
    mean(&throughputs(seen, more_than)).unwrap_or(f64::NAN)
}

/// The median time of the objects, in seconds.
pub fn median_time(objects: impl IntoIterator<Item = Arrived>) -> f64 {
    runs::median(objects.into_iter().map(|object| object.took))
}

/// The mean time of the objects, in seconds.
pub fn mean_time(objects: impl IntoIterator<Item = Arrived>) -> f64 {
    let times: Vec<f64> = objects.into_iter().map(|object| object.took).collect();
    mean(&times).unwrap_or(f64::NAN)
}

/// The standard deviation of the objects' times, in seconds. Not a number for fewer than two.
pub fn deviation(objects: impl IntoIterator<Item = Arrived>) -> f64 {
    let times: Vec<f64> = objects.into_iter().map(|object| object.took).collect();
    statistics::deviation(&times).unwrap_or(f64::NAN)
}

/// The cells that `cell` makes from several groups of objects, for each class of size and time. Its argument has, for
/// each group, the number of objects in both classes and the number in the size class.
pub fn cells<const GROUPS: usize>(
    groups: [&[Arrived]; GROUPS],
    (sizes, times): (&[f64], &[f64]),
    cell: impl Fn([(usize, usize); GROUPS]) -> Option<Shade>,
) -> Vec<Cell> {
    let mut cells = Vec::new();
    for x in between(sizes) {
        let of_size = groups.map(|objects| {
            let of_size = objects.iter().filter(|object| is_in(object.bytes, x));
            of_size.map(|object| object.took).collect::<Vec<f64>>()
        });
        for y in between(times) {
            let counts = of_size.each_ref().map(|took| {
                let of_time = took.iter().filter(|took| is_in(**took, y));
                (of_time.count(), took.len())
            });
            cells.extend(cell(counts).map(|(amount, shade, label)| Cell {
                x,
                y,
                amount,
                shade,
                label,
            }));
        }
    }
    cells
}

/// The amount of a cell, its shade, and its label.
type Shade = (f64, f64, String);

/// The intervals between successive bounds.
fn between(bounds: &[f64]) -> impl Iterator<Item = (f64, f64)> {
    bounds.iter().copied().zip(bounds.iter().copied().skip(1))
}

/// True if a value is between two bounds, the upper one excluded.
fn is_in(value: f64, (from, to): (f64, f64)) -> bool {
    value >= from && value < to
}

/// A logarithmic axis that covers all these values.
pub fn around(name: &str, unit: Unit, values: impl IntoIterator<Item = f64>) -> Axis {
    let ends = values.into_iter().filter(|value| value.is_finite());
    let (shortest, longest) = ends.fold((f64::INFINITY, 1.0), |(from, to): (f64, f64), value| {
        (from.min(value), to.max(value))
    });
    Axis::log(
        name,
        unit,
        (shortest * 0.9).min(longest / 2.0),
        longest * 1.1,
    )
}
