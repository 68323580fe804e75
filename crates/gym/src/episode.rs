//! An episode: a run in virtual time that stops where an agent has to decide.

use std::sync::Arc;
use std::time::Instant;

use congestion::AnyController;
use document::DocumentError;
use lab::{EngineKind, Sim};
use scenario::Scenario;
use simulate::{FlowId, MakeController, Run, RunError};
use units::{Duration, Time};

use crate::agent::{Agent, Seat, Seated};
use crate::truth::{TRUTH, Truth};
use crate::view::Observation;

/// What follows a decision.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// What the agent sees.
    pub seen: Observation,
    /// The truth about the path, which it does not see.
    pub truth: [f64; TRUTH.len()],
    /// Whether its flow has delivered everything, or could not be opened.
    pub has_ended: bool,
    /// Whether the run is over, and the flow has not ended.
    pub is_cut_off: bool,
}

/// The events after which a caller may end a run that takes long: some milliseconds of a processor.
const EVENTS: u32 = 1 << 12;

/// A run whose flow an agent controls.
#[derive(Debug)]
pub struct Episode {
    scenario: Scenario,
    run: Run<(), Seated>,
    seat: Arc<Seat>,
    truth: Truth,
    flow: FlowId,
    began: Instant,
    /// Whether the first decision is still to come.
    is_new: bool,
    is_over: bool,
}

impl Episode {
    /// An episode at its start. The agent has the group of flows with this index, which is one connection. Its decisions are a
    /// smoothed RTT apart, or this interval if that is longer.
    ///
    /// # Errors
    ///
    /// The scenario is invalid or impossible, or the flow is not a single connection.
    pub fn new(scenario: Scenario, group: usize, interval: Duration) -> Result<Episode, RunError> {
        let Some(spec) = scenario.flows.get(group) else {
            let reason = "the scenario has no such flow";
            return Err(DocumentError::new(format!("flow.{group}"), reason).into());
        };
        if spec.count != 1 || spec.opens_many() {
            let field = if spec.count == 1 { "app" } else { "count" };
            let reason = "an agent controls one connection; give its flow a count of 1, and no app that opens several";
            return Err(scenario.flow_error(group, field, reason).into());
        }
        let seat = Arc::new(Seat::default());
        let controllers = |of: usize| -> Result<MakeController<Seated>, DocumentError> {
            if of == group {
                let seat = Arc::clone(&seat);
                return Ok(MakeController::new(move |connection| {
                    Seated::Agent(Box::new(Agent::new(&seat, connection, interval)))
                }));
            }
            let settings = scenario.our_controller(of, EngineKind::Sim.name())?;
            Ok(MakeController::new(move |connection| {
                Seated::Ours(Box::new(AnyController::on_host(settings, connection)))
            }))
        };
        let network = scenario.network();
        let run = Sim::new().begin(&network, &controllers)?;
        let truth = Truth::of(&network, group);
        let before = &scenario.flows[..group];
        let flow = before.iter().map(|flow| flow.starts().count()).sum();
        Ok(Episode {
            run,
            seat,
            truth,
            flow: FlowId(flow),
            began: Instant::now(),
            is_new: true,
            is_over: false,
            scenario,
        })
    }

    /// Takes the agent's decision, and goes on to the next one. The first call goes on to the first decision, and takes
    /// none. Nothing if `go_on`, which is asked from time to time, ends it before.
    ///
    /// # Errors
    ///
    /// The packets take too much memory.
    pub fn step(
        &mut self,
        action: [f64; 2],
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<Option<Row>, RunError> {
        if !self.is_new {
            self.seat.act(action);
        }
        let mut events = 0_u32;
        while !self.is_over && !self.seat.is_due() {
            let has_more = self.run.step_event()?;
            self.is_over = !has_more || self.has_ended();
            events = events.wrapping_add(1);
            if events.is_multiple_of(EVENTS) && !go_on() {
                // The decision was taken. The next call goes on to the one that this call would have ended at.
                self.is_new = true;
                return Ok(None);
            }
        }
        self.is_new = false;
        Ok(Some(self.row()))
    }

    /// Whether nothing more can be decided.
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// The record of the run until now, without samples over time.
    pub fn record(&self) -> record::Record {
        let network = self.scenario.network();
        let (outcome, ()) = self.run.so_far(&network, self.began.elapsed());
        outcome.record(&|_| ())
    }

    /// Whether the flow has delivered everything, or could not be opened.
    fn has_ended(&self) -> bool {
        self.run.flows()[self.flow].is_over()
    }

    fn row(&self) -> Row {
        let at = self.run.at();
        let has_ended = self.has_ended();
        Row {
            seen: self.seat.observe(Time::ZERO + at),
            truth: self.truth.at(at),
            has_ended,
            is_cut_off: self.is_over && !has_ended,
        }
    }
}
