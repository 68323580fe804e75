//! What was observed in one run, in one schema whatever the engine: samples over time, and a summary.
//!
//! An engine feeds a [`FlowRecorder`] for each flow and a [`PathRecorder`], and puts what they return into a
//! [`Record`]. Memory is bounded however long the run: see [`Series`]. The summary leaves out the scenario's warmup;
//! the samples keep it.

mod distribution;
mod flow;
mod path;
mod series;
mod summary;

pub use distribution::Distribution;
pub use flow::{FlowRecord, FlowRecorder, FlowSample, FlowSpan, FlowTotals};
pub use path::{PathRecord, PathRecorder, PathSample, PathTotals};
pub use series::{Point, Series};
pub use summary::{
    Fairness, FlowSummary, PathSummary, QueueMillis, RttMillis, Summary, jain_index,
};

use crate::scenario::Scenario;

/// What was observed in one run of a scenario.
#[derive(Debug, Clone)]
pub struct Record {
    /// What was run.
    pub scenario: Scenario,
    /// The run in numbers.
    pub summary: Summary,
    /// Samples of each flow, in the order of the summary's flows.
    pub flows: Vec<FlowRecord>,
    /// Samples of the bottleneck.
    pub path: PathRecord,
    /// Whether the run was ended before its time: the record is then of what happened until then.
    pub is_partial: bool,
}
