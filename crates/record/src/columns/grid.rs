//! Flows at common times. Samples are taken at ACKs, whose times differ from flow to flow.

use scenario::Scenario;
use tables::Column;
use units::Duration;

use crate::flow::FlowRecord;
use crate::record::Record;

use super::rows::{SampleRow, sample_columns};

/// The maximum number of rows of a grid.
pub const MAX_ROWS: u64 = 100_000_000;

/// The number of rows of the grid of this scenario's run; `None` if the run's length is not known in advance.
pub fn rows(scenario: &Scenario, step: Duration) -> Option<u64> {
    let flows = scenario.each_flow().count() as u64;
    Some(flows.saturating_mul(times(scenario.duration?, step)))
}

/// The number of times of a grid.
fn times(end: Duration, step: Duration) -> u64 {
    end.as_nanos() / step.as_nanos().max(1) + 1
}

/// `grid.parquet`: one row for each flow and each multiple of `step` from the start on, flow by flow, with the flow's
/// latest sample. Before its first sample and after its end, it has none.
pub fn grid(
    record: &Record,
    step: Duration,
) -> (
    Vec<Column<'_, SampleRow<'_>>>,
    impl Iterator<Item = SampleRow<'_>>,
) {
    let end = record.summary.end();
    let rows = record.flows.iter().flat_map(move |flow| {
        let mut next = 0;
        (0..times(end, step)).map(move |index| {
            let at = step * index;
            while flow.samples.get(next).is_some_and(|sample| sample.at <= at) {
                next += 1;
            }
            let latest = next.checked_sub(1).and_then(|last| flow.samples.get(last));
            SampleRow {
                flow,
                at,
                sample: latest.filter(|_| lives(flow, at)),
            }
        })
    });
    (sample_columns(), rows)
}

fn lives(flow: &FlowRecord, at: Duration) -> bool {
    flow.completed.is_none_or(|completed| at <= completed)
}
