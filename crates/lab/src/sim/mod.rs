//! Packets in virtual time: the same scenario and seed give the same record on any machine, but for how long it took.

mod network;
mod watch;

use std::time::{Duration as RealTime, Instant};

use ::sim::Simulation;
use path::Counters;
use units::{Duration, Time};

use super::{Cancel, Engine, EngineError, Progress, ways};
use record::{PathRecorder, PathSample, PathTotals, Record, Recorded, Run};
use scenario::{PathSpec, Scenario};
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
    fn name(&self) -> &'static str {
        "sim"
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
        let simulation =
            Simulation::new(network, Watch::new(scenario)).map_err(network::refused)?;
        let mut course = Course {
            simulation,
            paths: scenario
                .hops()
                .map(|hop| PathRecorder::new(hop.clone(), scenario.warmup))
                .collect(),
            told: begin,
        };
        let is_partial = course.run(scenario, watch, cancel)?;
        let Course {
            simulation, paths, ..
        } = course;
        let now = simulation.now().since(Time::ZERO);
        // The observer belongs to the simulation whose applications it is to be told about.
        let apps: Vec<_> = simulation
            .apps()
            .map(|(id, app)| (id, app.clone()))
            .collect();
        let mut watched = simulation.into_observer();
        apps.iter().for_each(|(id, app)| watched.note_app(*id, app));
        let end = match (is_partial, watched.all_completed(), scenario.duration) {
            (false, Some(completed), _) => completed,
            (false, None, Some(duration)) => duration,
            _ => now,
        };
        watched.tell(end, watch);
        let mut paths = paths
            .into_iter()
            .map(|path| path.finish(end, ways::payload_share(scenario)));
        let path = match paths.next() {
            Some(path) => path,
            None => PathRecorder::new(PathSpec::default(), scenario.warmup).finish(end, 1.0),
        };
        let (flows, transfers) = watched.finish(end);
        let recorded = Recorded {
            path,
            next: paths.collect(),
            flows,
            transfers: transfers.finish(),
        };
        let run = Run {
            scenario,
            engine: self.name(),
            end,
            wall: begin.elapsed(),
            is_partial,
            payload_share: ways::payload_share(scenario),
        };
        Ok(Record::new(run, recorded))
    }
}

/// A run under way.
struct Course {
    simulation: Simulation<Watch>,
    /// One for each hop.
    paths: Vec<PathRecorder>,
    /// When progress was told.
    told: Instant,
}

impl Course {
    /// Runs to the end, or until cancelled; whether that was it.
    fn run(
        &mut self,
        scenario: &Scenario,
        watch: &(dyn Fn(Progress) + Sync),
        cancel: &Cancel,
    ) -> Result<bool, EngineError> {
        let end = scenario.duration.unwrap_or(Duration::MAX);
        let mut at = Duration::ZERO;
        self.look(at);
        let is_cancelled = loop {
            if at >= end || !self.simulation.has_flows() {
                break false;
            }
            if cancel.is_cancelled() {
                break true;
            }
            let into_look = Duration::from_nanos(at.as_nanos() % LOOK.as_nanos());
            let next = (at + LOOK.saturating_sub(into_look)).min(end);
            at = match at < scenario.warmup {
                true => next.min(scenario.warmup),
                false => next,
            };
            self.simulation.run_until(Time::ZERO + at);
            self.look(at);
            if at.as_nanos().is_multiple_of(NOTE.as_nanos()) || at == scenario.warmup {
                self.note(at);
            }
            if scenario.duration.is_none()
                && at.saturating_sub(self.simulation.observer().last_arrival()) > PATIENCE
            {
                return Err(EngineError::Stalled { patience: PATIENCE });
            }
            if self.told.elapsed() >= TELL {
                self.told = Instant::now();
                self.simulation.observer().tell(at, watch);
            }
        };
        self.note(at);
        Ok(is_cancelled)
    }

    /// Notes what waits at each hop.
    fn look(&mut self, at: Duration) {
        for (hop, recorder) in self.paths.iter_mut().enumerate() {
            let Some(link) = self.simulation.link(network::data_link(hop)) else {
                continue;
            };
            let sample = PathSample {
                at,
                queue: link.queued.bytes,
                delay: link.queued.delay,
            };
            recorder.sample(sample, totals(&link.counters));
        }
    }

    /// Notes what flows have done.
    fn note(&mut self, at: Duration) {
        // The observer belongs to the simulation whose connections it is to be told about.
        let live: Vec<_> = self
            .simulation
            .connections()
            .map(|(id, sender, receiver)| (id.flow, watch::Counted::of(sender, receiver)))
            .collect();
        self.simulation.observer_mut().note(at, &live);
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
