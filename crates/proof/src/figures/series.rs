//! A flow's samples as curves.

use units::Rate;

use super::runs::StudyRun;
use draw::Chart;
use record::FlowSample;

/// The drawn quantity of a sample, if the sample has it.
pub type Part = fn(&FlowSample) -> Option<f64>;

/// The points of a run's first flow between two times: seconds and a quantity. One more point at each end extends the
/// curve to the edges.
pub fn of(seen: &StudyRun<'_>, (from, to): (f64, f64), part: Part) -> Vec<(f64, f64)> {
    let flows = seen.record().flows.iter();
    let points = flows.take(1).flat_map(|flow| &flow.samples);
    let points: Vec<(f64, f64)> = points
        .filter_map(|sample| Some((sample.at.as_secs_f64(), part(sample)?)))
        .collect();
    let first = points
        .partition_point(|(at, _)| *at < from)
        .saturating_sub(1);
    let last = (points.partition_point(|(at, _)| *at <= to) + 1).min(points.len());
    points.get(first..last).unwrap_or_default().to_vec()
}

/// The charts of several columns, row by row.
pub fn row_by_row<const ROWS: usize>(columns: Vec<[Chart; ROWS]>) -> Vec<Chart> {
    let rows = (0..ROWS).flat_map(|row| columns.iter().map(move |charts| charts[row].clone()));
    rows.collect()
}

/// The round-trip time in milliseconds.
pub fn rtt(sample: &FlowSample) -> Option<f64> {
    Some(sample.rtt?.as_millis_f64())
}

/// The amount in flight, in kilobytes.
pub fn inflight(sample: &FlowSample) -> Option<f64> {
    Some(sample.inflight.get() as f64 / 1e3)
}

/// The delivery rate in Mbit/s.
pub fn delivery_rate(sample: &FlowSample) -> Option<f64> {
    sample.delivery_rate.map(mbit)
}

/// BBR's estimate of the bottleneck bandwidth in Mbit/s.
pub fn btl_bw(sample: &FlowSample) -> Option<f64> {
    sample.btl_bw.map(mbit)
}

/// The pacing rate as a multiple of BtlBw.
pub fn pacing_gain(sample: &FlowSample) -> Option<f64> {
    Some(mbit(sample.pacing_rate) / mbit(sample.btl_bw?))
}

/// The amount acknowledged, in kilobytes.
pub fn acked(sample: &FlowSample) -> Option<f64> {
    Some(sample.delivered.get() as f64 / 1e3)
}

/// The amount sent, with retransmissions, in kilobytes: all that was acknowledged, lost, or is in flight.
pub fn sent(sample: &FlowSample) -> Option<f64> {
    let sum = sample.delivered + sample.lost + sample.inflight;
    Some(sum.get() as f64 / 1e3)
}

fn mbit(rate: Rate) -> f64 {
    rate.bits_per_sec() as f64 / 1e6
}
