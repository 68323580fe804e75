//! The end of a run: its record.

use std::time::Duration as RealTime;

use record::{Record, Recorded, RunFacts};
use scenario::Network;
use units::Duration;

use crate::flows::Flows;
use crate::hops::Hops;
use crate::progress::Progress;

/// A run that is over.
#[derive(Debug)]
pub struct Outcome<'s> {
    /// The scenario, with the routes of its flows.
    pub network: &'s Network<'s>,
    /// The engine's name.
    pub engine: &'static str,
    /// The elapsed real time.
    pub wall: RealTime,
    /// The end in the scenario's time, unless all flows were complete before.
    pub at: Duration,
    /// Whether the run was ended early.
    pub is_partial: bool,
    /// The share of payload in the largest full packet of all flows.
    pub payload_share: f64,
    /// The bottlenecks.
    pub hops: Hops,
    /// The flows.
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
            engine: self.engine,
            end,
            wall: self.wall,
            is_partial: self.is_partial,
            payload_share: self.payload_share,
        };
        Record::new(run, recorded)
    }
}
