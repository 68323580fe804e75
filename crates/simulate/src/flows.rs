//! The observed state of all flows.

use std::ops::{Index, IndexMut};

use record::{FlowTotals, TransferRecorder};
use scenario::Scenario;
use transport::app::{self, App};
use units::Duration;

use crate::flow::Flow;
use crate::progress::Progress;

/// The index of a flow among the scenario's flows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlowId(pub usize);

/// The observed state of all flows.
#[derive(Debug, Clone)]
pub struct Flows {
    /// The flows, in the order of the scenario.
    pub flows: Vec<Flow>,
    /// Their transfers.
    pub transfers: TransferRecorder,
}

impl Flows {
    /// Creates every flow of the scenario; `nothing` has the counters of a flow that has sent nothing yet.
    pub fn new(scenario: &Scenario, nothing: FlowTotals) -> Flows {
        Flows::of(scenario, Flow::all(scenario, nothing))
    }

    /// Wraps the scenario's flows.
    pub fn of(scenario: &Scenario, flows: Vec<Flow>) -> Flows {
        Flows {
            flows,
            transfers: TransferRecorder::new(scenario.warmup),
        }
    }

    /// Records no samples of any flow.
    pub fn without_samples(self) -> Flows {
        let flows = self.flows.into_iter().map(Flow::without_samples);
        Flows {
            flows: flows.collect(),
            ..self
        }
    }

    /// Records the counters of all flows at `at`; `live` has those of their open connections.
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

    /// Records a delivered object.
    pub fn deliver(&mut self, id: FlowId, object: &app::Transfer) {
        let transfer = self[id].deliver(object);
        self.transfers.note(transfer);
    }

    /// Records the application of a connection that will never deliver everything.
    pub fn cut_off(&mut self, id: FlowId, app: &App) {
        for transfer in self[id].cut_off(app) {
            self.transfers.note(transfer);
        }
    }

    /// Records each flow's bytes as one transfer, at the end of the run.
    pub fn note_whole_transfers(&mut self) {
        for transfer in self.flows.iter().filter_map(Flow::as_transfer) {
            self.transfers.note(transfer);
        }
    }

    /// The completion time of the last flow, if all are complete.
    pub fn completed(&self) -> Option<Duration> {
        let completed = self.flows.iter().map(|flow| flow.span().completed);
        completed.collect::<Option<Vec<_>>>()?.into_iter().max()
    }

    /// Reports the progress of every flow at `at`.
    pub fn report_progress(&self, at: Duration, watch: &(dyn Fn(Progress) + Sync)) {
        self.flows.iter().for_each(|flow| watch(flow.progress(at)));
    }
}

impl Index<FlowId> for Flows {
    type Output = Flow;

    #[inline]
    fn index(&self, id: FlowId) -> &Flow {
        &self.flows[id.0]
    }
}

impl IndexMut<FlowId> for Flows {
    #[inline]
    fn index_mut(&mut self, id: FlowId) -> &mut Flow {
        &mut self.flows[id.0]
    }
}
