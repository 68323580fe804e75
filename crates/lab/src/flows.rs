//! What is seen of all flows.

use std::ops::{Index, IndexMut};

use record::{FlowTotals, TransferRecorder};
use scenario::Scenario;
use transport::app::{self, App};
use units::Duration;

use crate::engine::Progress;
use crate::flow::Flow;

/// One of a run's flows, by its place among the scenario's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct FlowId(pub usize);

/// All flows, watched.
#[derive(Debug)]
pub(crate) struct Flows {
    pub flows: Vec<Flow>,
    pub transfers: TransferRecorder,
}

impl Flows {
    /// Every flow of the scenario; `nothing` is what an engine counts of one that has done nothing.
    pub fn new(scenario: &Scenario, nothing: FlowTotals) -> Flows {
        Flows::of(scenario, Flow::all(scenario, nothing))
    }

    /// These flows, which are all of the scenario.
    pub fn of(scenario: &Scenario, flows: Vec<Flow>) -> Flows {
        Flows {
            flows,
            transfers: TransferRecorder::new(scenario.warmup),
        }
    }

    /// Keeps no samples of any.
    pub fn without_samples(self) -> Flows {
        let flows = self.flows.into_iter().map(Flow::without_samples);
        Flows {
            flows: flows.collect(),
            ..self
        }
    }

    /// Notes what all flows have done by `at`; `live` is what their connections that are not over have done.
    pub fn note(&mut self, at: Duration, live: impl IntoIterator<Item = (FlowId, FlowTotals)>) {
        for flow in &mut self.flows {
            flow.totals = flow.over;
        }
        for (id, totals) in live {
            let flow = &mut self[id];
            flow.totals = flow.totals + totals;
        }
        for flow in &mut self.flows {
            flow.note(at, flow.totals);
        }
    }

    /// Notes an object that was delivered.
    pub fn deliver(&mut self, id: FlowId, object: &app::Transfer) {
        let transfer = self[id].deliver(object);
        self.transfers.note(transfer);
    }

    /// Notes the application of a connection that has not delivered everything, once it will not any more.
    pub fn cut_off(&mut self, id: FlowId, app: &App) {
        for transfer in self[id].cut_off(app) {
            self.transfers.note(transfer);
        }
    }

    /// Notes all that each flow has to deliver as one transfer, at the end of the run.
    pub fn transfer_whole(&mut self) {
        for transfer in self.flows.iter().filter_map(Flow::whole) {
            self.transfers.note(transfer);
        }
    }

    /// When the last flow was complete, if all are.
    pub fn completed(&self) -> Option<Duration> {
        let completed = self.flows.iter().map(|flow| flow.span().completed);
        completed.collect::<Option<Vec<_>>>()?.into_iter().max()
    }

    /// Tells how far the flows have come by `at`.
    pub fn tell(&self, at: Duration, watch: &(dyn Fn(Progress) + Sync)) {
        self.flows.iter().for_each(|flow| watch(flow.progress(at)));
    }
}

impl Index<FlowId> for Flows {
    type Output = Flow;

    fn index(&self, id: FlowId) -> &Flow {
        &self.flows[id.0]
    }
}

impl IndexMut<FlowId> for Flows {
    fn index_mut(&mut self, id: FlowId) -> &mut Flow {
        &mut self.flows[id.0]
    }
}
