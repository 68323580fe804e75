//! A run in numbers: the same fields for every engine, null where an engine cannot see one.

mod flow;
mod millis;
mod path;
mod validity;

pub use flow::{AppSummary, FlowSummary, LimitShares, PlaybackSummary};
pub use millis::{QueueMillis, RttMillis};
pub use path::PathSummary;
pub use validity::{Departures, Validity};

use serde::{Deserialize, Serialize};
use units::Duration;

use crate::fairness::Fairness;
use crate::millionths::millionths;
use crate::together::{OfController, Together};
use crate::transfer::Completions;

/// A run in numbers, over everything after the warmup.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Summary {
    /// The scenario's name.
    pub scenario: String,
    /// The engine that ran it: `sim`, `quic`, `linux`.
    pub engine: String,
    /// The scenario's seed.
    pub seed: u64,
    /// The length of the run, in the scenario's time.
    #[serde(serialize_with = "millionths")]
    pub duration_s: f64,
    /// The elapsed real time.
    #[serde(serialize_with = "millionths")]
    pub wall_s: f64,
    /// Whether the run was ended early; the record then covers the time until its end.
    #[serde(rename = "partial")]
    pub is_partial: bool,
    /// Whether the machine was fast enough to be the path of the scenario.
    pub validity: Validity,
    /// The bottleneck.
    pub path: PathSummary,
    /// Further bottlenecks behind the first, in the order of the path.
    pub next: Vec<PathSummary>,
    /// The flows, in the order of the scenario's groups.
    pub flows: Vec<FlowSummary>,
    /// All flows over the same time, from the first start to the last end.
    pub together: Together,
    /// The same for the flows of each controller.
    pub controllers: Vec<OfController>,
    /// The times of transfers, by controller and size; empty if there were none.
    pub completions: Vec<Completions>,
    /// The evenness of the flows.
    pub fairness: Fairness,
}

impl Summary {
    /// The end of the run, in the scenario's time.
    pub fn end(&self) -> Duration {
        Duration::from_nanos((self.duration_s * 1e9).round() as u64)
    }
}
