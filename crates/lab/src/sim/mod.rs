//! Packets in virtual time: the same scenario and seed give the same record on any machine, except for the elapsed
//! real time.

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
use scenario::{Crossing, Network, Scenario};
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

/// The intervals at which queues are sampled: longer ones with more links. Each divides [`COUNTER_INTERVAL`].
const QUEUE_SAMPLE_INTERVALS_MS: [u64; 7] = [1, 2, 5, 10, 20, 50, 100];

/// The maximum number of links whose queues are sampled in one millisecond.
const MAX_SAMPLES_PER_MS: u64 = 64;

/// The interval at which the counters of flows and links are recorded: a multiple of the interval of queue samples.
const COUNTER_INTERVAL: Duration = Duration::from_millis(100);

/// The interval, in virtual time, at which the run checks for cancellation and reports progress.
const CHECK_INTERVAL: Duration = Duration::from_millis(10);

/// The number of events after which the run checks for cancellation: some milliseconds. With many flows, much may
/// happen at one time.
const MAX_EVENTS_PER_CHECK: usize = 1 << 14;

/// The interval at which progress is reported, in real time.
const PROGRESS_INTERVAL: RealTime = RealTime::from_millis(50);

/// A scenario without a duration fails after this time without arrivals: several times the longest retransmission
/// timeout.
const STALL_TIMEOUT: Duration = Duration::from_secs(3600);

/// The engine `sim`: hosts like Linux, and paths, in virtual time.
///
/// A flow that opens a connection for each of its objects is one flow of the record. Its counters are sums over its
/// connections, its RTTs are those of all of them, and its samples are those of any connection that had an ACK.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sim;

impl Sim {
    /// Creates the engine.
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
        let controllers = |group| network::ours(scenario, group);
        let config = network::config(&scenario.network(), &controllers)?;
        Simulation::new(config, ()).map_err(network::refused)?;
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
        let network = scenario.network();
        let (hops, flows) = (
            Hops::of(&network),
            Flows::new(scenario, watch::NOTHING_SENT),
        );
        let (hops, flows) = (hops.without_samples(), flows.without_samples());
        let controllers = |group| network::ours(scenario, group);
        let run = Run::new(&network, &controllers, hops, flows, ())?;
        let (record, ()) = run.record(watch, cancel)?;
        Ok(record)
    }
}

impl Sim {
    /// Runs a scenario as [`Engine::run`] does, with controllers of any type: `controllers` makes those of a group of
    /// flows, given its index.
    ///
    /// # Errors
    ///
    /// Those of [`Engine::run`], or `controllers` returns one for a group.
    pub fn run_with<C: Controller>(
        &self,
        scenario: &Scenario,
        controllers: MakeControllers<'_, C>,
        watch: &(dyn Fn(Progress) + Sync),
        cancel: &Cancel,
    ) -> Result<Record, EngineError> {
        let network = scenario.network();
        let (hops, flows) = (
            Hops::of(&network),
            Flows::new(scenario, watch::NOTHING_SENT),
        );
        let run = Run::new(&network, controllers, hops, flows, ())?;
        let (record, ()) = run.record(watch, cancel)?;
        Ok(record)
    }

    /// Runs a scenario as [`Engine::run`] does, and writes captures (pcapng) of what each flow's sending end and
    /// receiving end sent and received: headers as on a real network, without payload. Returns the writers.
    ///
    /// # Errors
    ///
    /// Those of [`Engine::run`], or a capture could not be written.
    pub fn run_captured<W: Write>(
        &self,
        scenario: &Scenario,
        watch: &(dyn Fn(Progress) + Sync),
        cancel: &Cancel,
        to: [W; 2],
    ) -> Result<(Record, [W; 2]), EngineError> {
        let (record, ends, _) =
            self.run_captured_at(scenario, watch, cancel, to, Vec::<(Crossing, W)>::new())?;
        Ok((record, ends))
    }

    /// Runs a scenario as [`Sim::run_captured`] does, and also writes captures at the entrances of links. Such a capture
    /// has what one at an end of a real link has: the packets that enter the link in the direction of the crossing, and
    /// those that leave it in the opposite direction. Returns the writers.
    ///
    /// # Errors
    ///
    /// Those of [`Sim::run_captured`].
    pub fn run_captured_at<W: Write>(
        &self,
        scenario: &Scenario,
        watch: &(dyn Fn(Progress) + Sync),
        cancel: &Cancel,
        to: [W; 2],
        links: Vec<(Crossing, W)>,
    ) -> Result<(Record, [W; 2], Vec<W>), EngineError> {
        let network = scenario.network();
        let crossings: Vec<Crossing> = links.iter().map(|(crossing, _)| *crossing).collect();
        let links = links.into_iter().map(|(crossing, to)| {
            let name = network.name(crossing);
            (name.unwrap_or_default(), to)
        });
        let sizes = watch::segment_sizes(&network);
        let pcap = Pcap::new(to, links.collect(), sizes).map_err(EngineError::Capture)?;
        let (hops, flows) = (
            Hops::of(&network),
            Flows::new(scenario, watch::NOTHING_SENT),
        );
        let controllers = |group| network::ours(scenario, group);
        let mut run = Run::new(&network, &controllers, hops, flows, pcap)?;
        for crossing in crossings {
            let [entered, left] = [crossing, crossing.opposite()].map(network::link_of);
            run.simulation.tap(entered, left);
        }
        let (record, pcap) = run.record(watch, cancel)?;
        let (ends, links) = pcap.finish().map_err(EngineError::Capture)?;
        Ok((record, ends, links))
    }
}

/// A run under way.
struct Run<'s, T, C> {
    network: &'s Network<'s>,
    simulation: Simulation<Watch<T>, C>,
    hops: Hops,
    /// The interval at which queues are sampled.
    sample_interval: Duration,
    /// Whether every bottleneck was idle at the last sample: no packet queued or in transmission.
    is_idle: bool,
    begin: Instant,
    /// The real time of the last progress report.
    last_report: Instant,
}

impl<'s, T: Tap, C: Controller> Run<'s, T, C> {
    /// Creates a run that observes `hops` and `flows`, and packets if the tap wants them.
    fn new(
        network: &'s Network<'s>,
        controllers: MakeControllers<'_, C>,
        hops: Hops,
        flows: Flows,
        tap: T,
    ) -> Result<Run<'s, T, C>, EngineError> {
        network.scenario().check()?;
        let begin = Instant::now();
        let config = network::config(network, controllers)?;
        let watch = Watch::new(network, flows, tap);
        Ok(Run {
            network,
            simulation: Simulation::new(config, watch).map_err(network::refused)?,
            sample_interval: sample_interval(hops.count()),
            hops,
            is_idle: false,
            begin,
            last_report: begin,
        })
    }

    /// Runs to the end, or until cancelled, and returns the record.
    fn record(
        mut self,
        watch: &(dyn Fn(Progress) + Sync),
        cancel: &Cancel,
    ) -> Result<(Record, T), EngineError> {
        let is_partial = self.run(watch, cancel)?;
        let Run {
            network,
            simulation,
            hops,
            begin,
            ..
        } = self;
        let duration = network.scenario().duration;
        let now = simulation.now().since(Time::ZERO);
        // Copied first: the simulation owns the observer that has to receive them.
        let apps: Vec<_> = simulation
            .apps()
            .map(|(id, app)| (FlowId(id.flow), app.clone()))
            .collect();
        let (mut flows, tap) = simulation.into_observer().finish();
        for (id, app) in &apps {
            flows.cut_off(*id, app);
        }
        let outcome = Outcome {
            network,
            engine: EngineKind::Sim,
            begin,
            at: duration.filter(|_| !is_partial).unwrap_or(now),
            is_partial,
            payload_share: ways::payload_share(network),
            hops,
            flows,
        };
        Ok((outcome.record(watch), tap))
    }

    /// Runs to the end, or until cancelled; returns whether it was cancelled.
    fn run(
        &mut self,
        watch: &(dyn Fn(Progress) + Sync),
        cancel: &Cancel,
    ) -> Result<bool, EngineError> {
        let end = self.network.scenario().duration.unwrap_or(Duration::MAX);
        let mut at = Duration::ZERO;
        self.sample(at);
        let mut is_cancelled = cancel.is_cancelled();
        while at < end && self.simulation.has_flows() && !is_cancelled {
            at = self.next_sample(at).min(end);
            // An idle link stays idle until the next event.
            if self.is_idle && self.simulation.next_at() > Time::ZERO + at {
                self.hops.sample(at, |_| Queued::default());
            } else {
                while !self
                    .simulation
                    .run_events(Time::ZERO + at, MAX_EVENTS_PER_CHECK)
                {
                    if cancel.is_cancelled() {
                        at = self.simulation.now().since(Time::ZERO);
                        is_cancelled = true;
                        break;
                    }
                }
                self.sample(at);
            }
            if at.as_nanos().is_multiple_of(COUNTER_INTERVAL.as_nanos())
                || at == self.network.scenario().warmup
            {
                self.note(at);
            }
            if !at.as_nanos().is_multiple_of(CHECK_INTERVAL.as_nanos()) {
                continue;
            }
            let silence = at.saturating_sub(self.simulation.observer().last_arrival);
            if self.network.scenario().duration.is_none() && silence > STALL_TIMEOUT {
                return Err(EngineError::Stalled {
                    silence: STALL_TIMEOUT,
                });
            }
            is_cancelled |= cancel.is_cancelled();
            if self.last_report.elapsed() >= PROGRESS_INTERVAL {
                self.last_report = Instant::now();
                self.simulation.observer().flows.report_progress(at, watch);
            }
        }
        self.note(at);
        Ok(at < end && self.simulation.has_flows())
    }

    /// The time of the next queue sample after `at`; the end of the warmup is one, too.
    fn next_sample(&self, at: Duration) -> Duration {
        let interval = self.sample_interval;
        let into_interval = Duration::from_nanos(at.as_nanos() % interval.as_nanos());
        let next = at + interval.saturating_sub(into_interval);
        if at < self.network.scenario().warmup {
            next.min(self.network.scenario().warmup)
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
        // Copied first: the simulation owns the observer that has to receive them.
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
        self.hops.note(at, |crossing| {
            totals(&link(simulation, crossing).counters())
        });
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

fn totals(counters: &Counters) -> PathTotals {
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
