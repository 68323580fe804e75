//! The observations of one run, in one schema for every engine: samples over time, and a summary.
//!
//! An engine feeds a [`FlowRecorder`] for each flow, a [`PathRecorder`] for each bottleneck and a
//! [`TransferRecorder`], and builds a [`Record`] from their results with [`Record::new`]. Memory is bounded however
//! long the run: see [`Series`], [`Throughput`], [`Transfers`] and [`Distribution`]. The summary leaves out the
//! scenario's warmup; samples and transfers keep it.
//!
//! A [`Measure`] is a named number of a run. Everything in Fullpipe that compares runs uses the same list; see also
//! [`tables::statistics`].
//!
//! The input of recorders determines their output. From an engine in virtual time, the same scenario and seed
//! therefore give the same record, except for [`Summary::wall_s`].
//!
//! ```
//! use record::{Record, jain_index};
//!
//! /// How evenly the flows shared what they delivered.
//! fn fairness(record: &Record) -> Option<f64> {
//!     let flows = record.summary.flows.iter();
//!     jain_index(flows.map(|flow| flow.delivered_bytes as f64))
//! }
//!
//! assert_eq!(jain_index([2.0, 2.0]), Some(1.0));
//! assert_eq!(jain_index([4.0, 0.0]), Some(0.5));
//! ```

pub mod columns;
mod dimension;
mod distribution;
mod fairness;
mod flow;
mod host;
pub mod measure;
mod millionths;
mod path;
mod record;
mod series;
mod summary;
mod throughput;
mod together;
mod transfer;

pub use dimension::Dimension;
pub use distribution::Distribution;
pub use fairness::{Fairness, JainPerSecond, WhileAllLive, jain_index};
pub use flow::{FlowRecord, FlowRecorder, FlowSample, FlowSpan, FlowTotals, Limits, Opens};
pub use host::{HandedDown, HostRecorder, HostSummary};
pub use measure::Measure;
pub use path::{PathRecord, PathRecorder, PathSample, PathTotals};
pub use record::{Record, Recorded, RunFacts};
pub use series::{Point, Series};
pub use summary::{
    AppSummary, Departures, FlowSummary, LimitShares, PathSummary, PlaybackSummary, QueueMillis,
    RttMillis, Summary, Validity,
};
pub use throughput::Throughput;
pub use together::{OfController, Together};
pub use transfer::{Completions, Transfer, TransferRecorder, Transfers};
