//! A run in virtual time, step by step.

use std::sync::Arc;
use std::time::Duration as RealTime;

use ::sim::{LinkView, Room, Simulation};
use congestion::Controller;
use path::Queued;
use record::{FlowTotals, PathTotals};
use scenario::{Crossing, Network};
use transport::app::App;
use units::{Duration, Time};

use crate::ENGINE;
use crate::error::RunError;
use crate::flows::{FlowId, Flows};
use crate::hops::Hops;
use crate::network::{self, MakeControllers};
use crate::outcome::Outcome;
use crate::watch::{self, Tap, Watch};
use crate::ways;

/// The intervals at which queues are sampled: longer ones with more links. Each divides [`COUNTER_INTERVAL`].
const QUEUE_SAMPLE_INTERVALS_MS: [u64; 7] = [1, 2, 5, 10, 20, 50, 100];

/// The maximum number of links whose queues are sampled in one millisecond.
const MAX_SAMPLES_PER_MS: u64 = 64;

/// The interval at which the counters of flows and links are recorded: a multiple of the interval of queue samples.
const COUNTER_INTERVAL: Duration = Duration::from_millis(100);

/// The virtual time of a step.
const STEP_TIME: Duration = Duration::from_millis(10);

/// The number of events between two queue samples after which a step ends: some milliseconds. With many flows, much may
/// happen at one time.
const MAX_EVENTS_PER_STEP: usize = 1 << 14;

/// A scenario without a duration fails after this time without arrivals: several times the longest retransmission
/// timeout.
const STALL_TIMEOUT: Duration = Duration::from_secs(3600);

/// A run under way.
#[derive(Debug)]
pub struct Run<T, C> {
    simulation: Simulation<Watch<T>, C>,
    hops: Hops,
    /// The interval at which queues are sampled.
    sample_interval: Duration,
    /// Whether every bottleneck was idle at the last sample, and nothing has happened since: no packet queued or in
    /// transmission.
    is_idle: bool,
    /// The time of the last sample.
    at: Duration,
    warmup: Duration,
    duration: Option<Duration>,
}

impl<T: Tap, C: Controller> Run<T, C> {
    /// Creates a run that observes `hops` and `flows`, and packets if the tap wants them. Its packets have this room.
    ///
    /// # Errors
    ///
    /// The scenario is invalid, or asks for something impossible.
    pub fn new(
        network: &Network<'_>,
        controllers: MakeControllers<'_, C>,
        hops: Hops,
        flows: Flows,
        tap: T,
        room: Arc<Room>,
    ) -> Result<Run<T, C>, RunError> {
        let scenario = network.scenario();
        scenario.check()?;
        let config = network::config(network, controllers)?;
        let watch = Watch::new(network, flows, tap);
        let mut run = Run {
            simulation: Simulation::new(config, watch).map_err(network::refused)?,
            sample_interval: sample_interval(hops.count()),
            hops,
            is_idle: false,
            at: Duration::ZERO,
            warmup: scenario.warmup,
            duration: scenario.duration,
        };
        run.simulation.enter(room);
        run.sample(Duration::ZERO);
        Ok(run)
    }

    /// Gives the tap the packets that pass an end of a link: those that enter it in the direction of the crossing, and
    /// those that leave it in the opposite direction.
    pub fn tap(&mut self, crossing: Crossing) {
        let [entered, left] = [crossing, crossing.opposite()].map(network::link_of);
        self.simulation.tap(entered, left);
    }

    /// The time in the scenario until which the run has come.
    pub fn at(&self) -> Duration {
        let now = self.simulation.now().since(Time::ZERO);
        self.at.max(now)
    }

    /// The observed state of the flows.
    pub fn flows(&self) -> &Flows {
        &self.simulation.observer().flows
    }

    /// The number of packets that take memory: those on their way, and sent ones that are not acknowledged.
    pub fn packets(&self) -> u64 {
        self.simulation.packets()
    }

    /// The number of packets that links, network cards and delays have transmitted, each time that one did.
    pub fn transmissions(&self) -> u64 {
        self.simulation.transmissions()
    }

    /// Runs for some milliseconds, of the scenario's time or of a processor's. Returns whether there is more to run.
    ///
    /// # Errors
    ///
    /// The scenario has no duration, and its path lets nothing through; or the packets exceed the bounds of their room.
    pub fn step(&mut self) -> Result<bool, RunError> {
        self.step_of(MAX_EVENTS_PER_STEP)
    }

    /// Runs as [`Run::step`] does, but for one event at most: for whoever acts between an event and the next.
    ///
    /// # Errors
    ///
    /// Those of [`Run::step`].
    pub fn step_event(&mut self) -> Result<bool, RunError> {
        self.step_of(1)
    }

    fn step_of(&mut self, most: usize) -> Result<bool, RunError> {
        while self.is_under_way() {
            let at = self.next_sample();
            // An idle link stays idle until the next event.
            if self.is_idle && self.simulation.next_at() > Time::ZERO + at {
                self.hops.sample(at, |_| Queued::default());
            } else {
                self.is_idle = false;
                let until = Time::ZERO + at;
                if !self.simulation.run_events(until, most) {
                    let excess = self.simulation.excess();
                    return excess.map_or(Ok(true), |of| Err(RunError::excess(of, self.at())));
                }
                self.sample(at);
            }
            self.at = at;
            if at.as_nanos().is_multiple_of(COUNTER_INTERVAL.as_nanos()) || at == self.warmup {
                self.note(at);
            }
            if at.as_nanos().is_multiple_of(STEP_TIME.as_nanos()) {
                break;
            }
        }
        let silence = self
            .at
            .saturating_sub(self.simulation.observer().last_arrival);
        if self.duration.is_none() && silence > STALL_TIMEOUT {
            return Err(RunError::Stalled {
                silence: STALL_TIMEOUT,
            });
        }
        Ok(self.is_under_way())
    }

    /// Ends the run, which is partial if there was more to run. `wall` is the elapsed real time, for the record.
    pub fn finish<'n>(mut self, network: &'n Network<'n>, wall: RealTime) -> (Outcome<'n>, T) {
        self.note(self.at());
        let end = self.end();
        end.outcome(network, wall, self.hops, self.simulation.into_observer())
    }

    /// What [`Run::finish`] would return now. The run goes on as if nothing had been asked. This copies all samples.
    pub fn so_far<'n>(&self, network: &'n Network<'n>, wall: RealTime) -> (Outcome<'n>, T)
    where
        T: Clone,
    {
        let (at, mut hops) = (self.at(), self.hops.clone());
        let mut watch = self.simulation.observer().clone();
        watch.flows.note(at, self.live(at));
        hops.note(at, |crossing| counters(&self.simulation, crossing));
        self.end().outcome(network, wall, hops, watch)
    }

    fn is_under_way(&self) -> bool {
        self.duration.is_none_or(|end| self.at < end) && self.simulation.has_flows()
    }

    /// The time of the next queue sample; the ends of the warmup and of the run are such times, too.
    fn next_sample(&self) -> Duration {
        let interval = self.sample_interval;
        let into_interval = Duration::from_nanos(self.at.as_nanos() % interval.as_nanos());
        let next = self.at + interval.saturating_sub(into_interval);
        let next = next.min(self.duration.unwrap_or(Duration::MAX));
        if self.at < self.warmup {
            next.min(self.warmup)
        } else {
            next
        }
    }

    /// Records the queue of each bottleneck.
    fn sample(&mut self, at: Duration) {
        let simulation = &self.simulation;
        let mut is_idle = true;
        self.hops.sample(at, |crossing| {
            let link = link(simulation, crossing);
            is_idle &= link.is_idle();
            link.queued()
        });
        self.is_idle = is_idle;
    }

    /// Records the counters of links and flows.
    fn note(&mut self, at: Duration) {
        let live = self.live(at);
        self.simulation.observer_mut().flows.note(at, live);
        let simulation = &self.simulation;
        self.hops
            .note(at, |crossing| counters(simulation, crossing));
    }

    /// The counters of open connections. Copied, because the simulation owns the observer that has to receive them.
    fn live(&self, at: Duration) -> Vec<(FlowId, FlowTotals)> {
        let connections = self.simulation.connections();
        let live = connections.map(|(id, sender, receiver)| {
            let totals = watch::totals(Time::ZERO + at, sender, receiver);
            (FlowId(id.flow), totals)
        });
        live.collect()
    }

    fn end(&self) -> End {
        let apps = self.simulation.apps();
        let is_partial = self.is_under_way();
        let now = self.simulation.now().since(Time::ZERO);
        End {
            at: self.duration.filter(|_| !is_partial).unwrap_or(now),
            is_partial,
            apps: apps
                .map(|(id, app)| (FlowId(id.flow), app.clone()))
                .collect(),
        }
    }
}

/// The end of a run, or what it would be.
struct End {
    at: Duration,
    is_partial: bool,
    /// The applications of open connections. Copied, because the simulation owns the observer that has to receive them.
    apps: Vec<(FlowId, App)>,
}

impl End {
    fn outcome<'n, T>(
        self,
        network: &'n Network<'n>,
        wall: RealTime,
        hops: Hops,
        watch: Watch<T>,
    ) -> (Outcome<'n>, T) {
        let (mut flows, tap) = watch.finish();
        for (id, app) in &self.apps {
            flows.cut_off(*id, app);
        }
        let outcome = Outcome {
            network,
            engine: ENGINE,
            wall,
            at: self.at,
            is_partial: self.is_partial,
            payload_share: ways::payload_share(network),
            hops,
            flows,
        };
        (outcome, tap)
    }
}

/// The interval at which the queues of so many links are sampled.
fn sample_interval(links: u64) -> Duration {
    let least = links.div_ceil(MAX_SAMPLES_PER_MS);
    let mut intervals = QUEUE_SAMPLE_INTERVALS_MS.into_iter();
    let longest = QUEUE_SAMPLE_INTERVALS_MS[QUEUE_SAMPLE_INTERVALS_MS.len() - 1];
    let interval = intervals.find(|interval| *interval >= least);
    Duration::from_millis(interval.unwrap_or(longest))
}

fn link<T: Tap, C: Controller>(
    simulation: &Simulation<Watch<T>, C>,
    crossing: Crossing,
) -> LinkView<'_> {
    let link = simulation.link(network::link_of(crossing));
    link.expect("every direction of a link is in the simulation")
}

fn counters<T: Tap, C: Controller>(
    simulation: &Simulation<Watch<T>, C>,
    crossing: Crossing,
) -> PathTotals {
    let counters = link(simulation, crossing).counters();
    PathTotals {
        packets: Some(counters.transmitted.packets),
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
