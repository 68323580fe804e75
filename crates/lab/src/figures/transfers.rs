//! What became of objects.

use super::seen::Seen;
use crate::record::Transfer;
use crate::sweep::Spread;

/// An object that arrived.
#[derive(Debug, Clone, Copy)]
pub struct Arrived {
    pub bytes: f64,
    /// How long it took, in seconds.
    pub took: f64,
}

impl Arrived {
    /// Its throughput in Mbit/s.
    pub fn throughput(&self) -> f64 {
        self.bytes * 8.0 / self.took / 1e6
    }
}

/// The objects of a run that were asked for after the warmup, and arrived.
pub fn of(seen: &Seen<'_>) -> Vec<Arrived> {
    let record = seen.record();
    let rows = record.transfers.rows.iter();
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

/// The mean throughput of objects of at least so many bytes, in Mbit/s.
pub fn mean_throughput(seen: &Seen<'_>, at_least: f64) -> f64 {
    let large = of(seen)
        .into_iter()
        .filter(|object| object.bytes >= at_least);
    let throughputs: Vec<f64> = large.map(|object| object.throughput()).collect();
    throughputs.iter().sum::<f64>() / throughputs.len() as f64
}

/// The median time of these objects, in seconds.
pub fn median_time(objects: impl IntoIterator<Item = Arrived>) -> f64 {
    let times = objects.into_iter().map(|object| object.took).collect();
    Spread::of(times).map_or(f64::NAN, |spread| spread.median)
}
