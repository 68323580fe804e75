//! Packets in virtual time: the same scenario and seed give the same record on any machine, but for how long it took.

mod network;
mod watch;

use std::time::{Duration as RealTime, Instant};

use ::sim::Simulation;
use path::Counters;
use record::{PathTotals, Record};
use scenario::Scenario;
use units::{Duration, Time};

use crate::engine::{Cancel, Engine, Progress};
use crate::engine_kind::EngineKind;
use crate::error::EngineError;
use crate::flows::FlowId;
use crate::hops::Hops;
use crate::outcome::Outcome;
use crate::ways;
use watch::Watch;

/// How often queues are looked at.
const LOOK: Duration = Duration::from_millis(1);

/// At every hundredth look, what flows have done is noted: ten times a second.
const NOTE: Duration = Duration::from_millis(100);

/// How often progress is told, in real time.
const TELL: RealTime = RealTime::from_millis(50);

/// A scenario without a duration in which nothing arrives for so long will not come to an end: more than the longest
/// retransmission timeout, several times over.
const PATIENCE: Duration = Duration::from_secs(3600);

/// The engine `sim`: hosts as Linux has them, and paths, in virtual time.
///
/// A flow whose application opens a connection for each of its objects is one flow of the record: its counters are the
/// sums over its connections, its RTTs those of all of them, its samples those of whichever had an ACK.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sim;

impl Sim {
    /// The engine.
    pub fn new() -> Sim {
        Sim
    }
}

impl Engine for Sim {
    fn kind(&self) -> EngineKind {
        EngineKind::Sim
    }

    fn check(&self, scenario: &Scenario) -> Result<(), EngineError> {
        scenario.check()?;
        let network = network::config(scenario)?;
        Simulation::new(network, ()).map_err(network::refused)?;
        Ok(())
    }

    fn run(
        &self,
        scenario: &Scenario,
        watch: &(dyn Fn(Progress) + Sync),
        cancel: &Cancel,
    ) -> Result<Record, EngineError> {
        scenario.check()?;
        let begin = Instant::now();
        let network = network::config(scenario)?;
        let mut course = Course {
            scenario,
            simulation: Simulation::new(network, Watch::new(scenario)).map_err(network::refused)?,
            hops: Hops::of(scenario),
            told: begin,
        };
        let is_partial = course.run(watch, cancel)?;
        let Course {
            simulation, hops, ..
        } = course;
        let now = simulation.now().since(Time::ZERO);
        // The observer belongs to the simulation whose applications it is to be told about.
        let apps: Vec<_> = simulation
            .apps()
            .map(|(id, app)| (FlowId(id.flow), app.clone()))
            .collect();
        let mut flows = simulation.into_observer().finish();
        for (id, app) in &apps {
            flows.cut_off(*id, app);
        }
        let outcome = Outcome {
            scenario,
            engine: self.kind(),
            begin,
            at: scenario.duration.filter(|_| !is_partial).unwrap_or(now),
            is_partial,
            payload_share: ways::payload_share(scenario),
            hops,
            flows,
        };
        Ok(outcome.record(watch))
    }
}

/// A run under way.
struct Course<'s> {
    scenario: &'s Scenario,
    simulation: Simulation<Watch>,
    hops: Hops,
    /// When progress was told.
    told: Instant,
}

impl Course<'_> {
    /// Runs to the end, or until cancelled; whether that was it.
    fn run(
        &mut self,
        watch: &(dyn Fn(Progress) + Sync),
        cancel: &Cancel,
    ) -> Result<bool, EngineError> {
        let end = self.scenario.duration.unwrap_or(Duration::MAX);
        let mut at = Duration::ZERO;
        self.look(at);
        while at < end && self.simulation.has_flows() && !cancel.is_cancelled() {
            at = self.next_look(at).min(end);
            self.simulation.run_until(Time::ZERO + at);
            self.look(at);
            if at.as_nanos().is_multiple_of(NOTE.as_nanos()) || at == self.scenario.warmup {
                self.note(at);
            }
            let silence = at.saturating_sub(self.simulation.observer().last_arrival);
            if self.scenario.duration.is_none() && silence > PATIENCE {
                return Err(EngineError::Stalled { patience: PATIENCE });
            }
            if self.told.elapsed() >= TELL {
                self.told = Instant::now();
                self.simulation.observer().flows.tell(at, watch);
            }
        }
        self.note(at);
        Ok(at < end && self.simulation.has_flows())
    }

    /// When queues are looked at after this time: also when the warmup ends.
    fn next_look(&self, at: Duration) -> Duration {
        let into_look = Duration::from_nanos(at.as_nanos() % LOOK.as_nanos());
        let next = at + LOOK.saturating_sub(into_look);
        if at < self.scenario.warmup {
            next.min(self.scenario.warmup)
        } else {
            next
        }
    }

    /// Notes what waits at each hop.
    fn look(&mut self, at: Duration) {
        let simulation = &self.simulation;
        self.hops.look(at, |hop| {
            let link = simulation.link(network::data_link(hop));
            let link = link.expect("every hop has a link of data");
            (link.queued, totals(&link.counters))
        });
    }

    /// Notes what flows have done.
    fn note(&mut self, at: Duration) {
        // The observer belongs to the simulation whose connections it is to be told about.
        let live: Vec<_> = self
            .simulation
            .connections()
            .map(|(id, sender, receiver)| {
                let totals = watch::totals(Time::ZERO + at, sender, receiver);
                (FlowId(id.flow), totals)
            })
            .collect();
        self.simulation.observer_mut().flows.note(at, live);
    }
}

fn totals(counters: &Counters) -> PathTotals {
    PathTotals {
        transmitted: counters.transmitted.bytes,
        drops: Some(counters.drops.packets + counters.policer_drops.packets),
        marks: Some(counters.marks.packets),
        random_losses: Some(counters.random_losses.packets),
        late_packets: None,
        overflows: None,
    }
}
