//! The end of a run: its record.

use std::time::Instant;

use record::{Record, Recorded, RunFacts};
use scenario::Network;
use units::Duration;

use crate::engine::Progress;
use crate::engine_kind::EngineKind;
use crate::flows::Flows;
use crate::hops::Hops;

/// A run that is over.
pub(crate) struct Outcome<'s> {
    pub network: &'s Network<'s>,
    pub engine: EngineKind,
    /// The real time at which it began.
    pub begin: Instant,
    /// The end in the scenario's time, unless all flows were complete before.
    pub at: Duration,
    pub is_partial: bool,
    /// The share of payload in the largest full packet of all flows.
    pub payload_share: f64,
    pub hops: Hops,
    pub flows: Flows,
}

impl Outcome<'_> {
    /// Reports the final progress of every flow and returns the record.
    pub fn record(self, watch: &(dyn Fn(Progress) + Sync)) -> Record {
        let completed = self.flows.completed().filter(|_| !self.is_partial);
        let end = completed.unwrap_or(self.at);
        self.flows.report_progress(end, watch);
        let (path, next) = self.hops.finish(end, self.payload_share);
        let flows = self.flows.flows.into_iter();
        let recorded = Recorded {
            path,
            next,
            flows: flows.map(|flow| flow.finish(end)).collect(),
            transfers: self.flows.transfers.finish(),
        };
        let run = RunFacts {
            network: self.network,
            engine: self.engine.name(),
            end,
            wall: self.begin.elapsed(),
            is_partial: self.is_partial,
            payload_share: self.payload_share,
        };
        Record::new(run, recorded)
    }
}
