//! Packets in virtual time: the same scenario and seed give the same record on any machine, but for how long it took.

mod network;
mod numbers;
mod pcap;
mod watch;

use std::io::Write;
use std::time::{Duration as RealTime, Instant};

use ::sim::{LinkView, Simulation};
use congestion::Controller;
use path::{Counters, Queued};
use record::{PathTotals, Record};
use scenario::Scenario;
use units::{Duration, Time};

use crate::engine::{Cancel, Engine, Progress};
use crate::engine_kind::EngineKind;
use crate::error::EngineError;
use crate::flows::{FlowId, Flows};
use crate::hops::Hops;
use crate::outcome::Outcome;
use crate::ways;
use pcap::Pcap;
use watch::{Tap, Watch};

pub use network::MakeControllers;

/// How often queues are looked at.
const LOOK: Duration = Duration::from_millis(1);

/// At every hundredth look, what flows have done is noted: ten times a second.
const NOTE: Duration = Duration::from_millis(100);

/// How often the run looks up from its work, to tell progress or to end before its time.
const LOOK_UP: Duration = Duration::from_millis(10);

/// With many flows, a lot may happen in a moment. After so many events, the run looks whether it is to end: some milliseconds.
const EVENTS: usize = 1 << 14;

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
        let network = network::config(scenario, &|group| network::ours(scenario, group))?;
        Simulation::new(network, ()).map_err(network::refused)?;
        Ok(())
    }

    fn run(
        &self,
        scenario: &Scenario,
        watch: &(dyn Fn(Progress) + Sync),
        cancel: &Cancel,
    ) -> Result<Record, EngineError> {
        let controllers = |group| network::ours(scenario, group);
        self.run_with(scenario, &controllers, watch, cancel)
    }

    fn run_without_samples(
        &self,
        scenario: &Scenario,
        watch: &(dyn Fn(Progress) + Sync),
        cancel: &Cancel,
    ) -> Result<Record, EngineError> {
        let (hops, flows) = (Hops::of(scenario), Flows::new(scenario, watch::NOTHING));
        let (hops, flows) = (hops.without_samples(), flows.without_samples());
        let controllers = |group| network::ours(scenario, group);
        let course = Course::new(scenario, &controllers, hops, flows, ())?;
        let (record, ()) = course.record(watch, cancel)?;
        Ok(record)
    }
}

impl Sim {
    /// As [`Engine::run`], with controllers of any type: `controllers` makes those of a group of flows, by its place.
    ///
    /// # Errors
    ///
    /// Those of [`Engine::run`]; or `controllers` knows none for a group.
    pub fn run_with<C: Controller>(
        &self,
        scenario: &Scenario,
        controllers: MakeControllers<'_, C>,
        watch: &(dyn Fn(Progress) + Sync),
        cancel: &Cancel,
    ) -> Result<Record, EngineError> {
        let (hops, flows) = (Hops::of(scenario), Flows::new(scenario, watch::NOTHING));
        let course = Course::new(scenario, controllers, hops, flows, ())?;
        let (record, ()) = course.record(watch, cancel)?;
        Ok(record)
    }

    /// As [`Engine::run`], and writes what each flow's sending end and its receiving end sent and received as captures
    /// (pcapng): headers as they would be, without payload. Gives back what they were written to.
    ///
    /// # Errors
    ///
    /// Those of [`Engine::run`]; or a capture could not be written.
    pub fn run_captured<W: Write>(
        &self,
        scenario: &Scenario,
        watch: &(dyn Fn(Progress) + Sync),
        cancel: &Cancel,
        to: [W; 2],
    ) -> Result<(Record, [W; 2]), EngineError> {
        let each = scenario.each_flow();
        let mss = each.map(|(flow, _)| scenario.mss(flow)).collect();
        let pcap = Pcap::new(to, mss).map_err(EngineError::Capture)?;
        let (hops, flows) = (Hops::of(scenario), Flows::new(scenario, watch::NOTHING));
        let controllers = |group| network::ours(scenario, group);
        let course = Course::new(scenario, &controllers, hops, flows, pcap)?;
        let (record, pcap) = course.record(watch, cancel)?;
        Ok((record, pcap.finish().map_err(EngineError::Capture)?))
    }
}

/// A run under way.
struct Course<'s, T, C> {
    scenario: &'s Scenario,
    simulation: Simulation<Watch<T>, C>,
    hops: Hops,
    /// Whether nothing waited at any hop, or was transmitted, when that was last looked at.
    is_idle: bool,
    begin: Instant,
    /// When progress was told.
    told: Instant,
}

impl<'s, T: Tap, C: Controller> Course<'s, T, C> {
    /// Of the scenario, of which hops and flows are watched, and packets if the tap wants them.
    fn new(
        scenario: &'s Scenario,
        controllers: MakeControllers<'_, C>,
        hops: Hops,
        flows: Flows,
        tap: T,
    ) -> Result<Course<'s, T, C>, EngineError> {
        scenario.check()?;
        let begin = Instant::now();
        let network = network::config(scenario, controllers)?;
        let watch = Watch::new(scenario, flows, tap);
        Ok(Course {
            scenario,
            simulation: Simulation::new(network, watch).map_err(network::refused)?,
            hops,
            is_idle: false,
            begin,
            told: begin,
        })
    }

    /// Runs to the end, or until cancelled.
    fn record(
        mut self,
        watch: &(dyn Fn(Progress) + Sync),
        cancel: &Cancel,
    ) -> Result<(Record, T), EngineError> {
        let is_partial = self.run(watch, cancel)?;
        let Course {
            scenario,
            simulation,
            hops,
            begin,
            ..
        } = self;
        let now = simulation.now().since(Time::ZERO);
        // The observer belongs to the simulation whose applications it is to be told about.
        let apps: Vec<_> = simulation
            .apps()
            .map(|(id, app)| (FlowId(id.flow), app.clone()))
            .collect();
        let (mut flows, tap) = simulation.into_observer().finish();
        for (id, app) in &apps {
            flows.cut_off(*id, app);
        }
        let outcome = Outcome {
            scenario,
            engine: EngineKind::Sim,
            begin,
            at: scenario.duration.filter(|_| !is_partial).unwrap_or(now),
            is_partial,
            payload_share: ways::payload_share(scenario),
            hops,
            flows,
        };
        Ok((outcome.record(watch), tap))
    }

    /// Runs to the end, or until cancelled; whether that was it.
    fn run(
        &mut self,
        watch: &(dyn Fn(Progress) + Sync),
        cancel: &Cancel,
    ) -> Result<bool, EngineError> {
        let end = self.scenario.duration.unwrap_or(Duration::MAX);
        let mut at = Duration::ZERO;
        self.look(at);
        let mut is_cancelled = cancel.is_cancelled();
        while at < end && self.simulation.has_flows() && !is_cancelled {
            at = self.next_look(at).min(end);
            // Where nothing waits, nothing will until something happens.
            if self.is_idle && self.simulation.next_at() > Time::ZERO + at {
                self.hops.look(at, |_| Queued::default());
            } else {
                while !self.simulation.run_events(Time::ZERO + at, EVENTS) {
                    if cancel.is_cancelled() {
                        at = self.simulation.now().since(Time::ZERO);
                        is_cancelled = true;
                        break;
                    }
                }
                self.look(at);
            }
            if at.as_nanos().is_multiple_of(NOTE.as_nanos()) || at == self.scenario.warmup {
                self.note(at);
            }
            if !at.as_nanos().is_multiple_of(LOOK_UP.as_nanos()) {
                continue;
            }
            let silence = at.saturating_sub(self.simulation.observer().last_arrival);
            if self.scenario.duration.is_none() && silence > PATIENCE {
                return Err(EngineError::Stalled { patience: PATIENCE });
            }
            is_cancelled |= cancel.is_cancelled();
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
        let mut is_idle = true;
        self.hops.look(at, |hop| {
            let link = link(simulation, hop);
            is_idle &= link.is_idle();
            link.queued()
        });
        self.is_idle = is_idle;
    }

    /// Notes what links and flows have done.
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
        let simulation = &self.simulation;
        self.hops
            .note(at, |hop| totals(&link(simulation, hop).counters()));
    }
}

/// The link that carries data over the hop at this place.
fn link<T: Tap, C: Controller>(simulation: &Simulation<Watch<T>, C>, hop: usize) -> LinkView<'_> {
    let link = simulation.link(network::data_link(hop));
    link.expect("every hop has a link of data")
}

fn totals(counters: &Counters) -> PathTotals {
    PathTotals {
        transmitted: counters.transmitted.bytes,
        drops: Some(counters.drops.packets + counters.policer_drops.packets),
        marks: Some(counters.marks.packets),
        random_losses: Some(counters.random_losses.packets),
        corrupted: Some(counters.corrupted.packets),
        too_big: Some(counters.too_big.packets),
        late_packets: None,
        released_packets: None,
        lateness: None,
        overflows: None,
    }
}
