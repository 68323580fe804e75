//! The kernel's own TCP over an emulated path, in real time.
//!
//! ```text
//!  near host ── TUN ──► links of data, in user space ──► TUN ── far host
//!            ◄──────────── links of ACKs ◄─────────────
//! ```
//!
//! The two hosts are network namespaces of this process, joined only by a [`Tunnel`]. One loop drives the sockets at
//! both ends of all connections. The kernel's state of them is sampled about five hundred times a second. Rates and
//! times are those of real time, so load on the machine affects them.

mod captured;
mod connection;
mod ends;
mod limits;
mod network;
#[cfg_attr(not(feature = "load"), path = "unbuilt.rs")]
mod ours;
mod poller;
mod settings;
mod shared;
mod side;
mod ticks;
mod watch;

use std::io::Write;
use std::net::{Ipv4Addr, TcpListener};
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::thread;
use std::time::Instant;

use ::linux::{Family, Network, socket};
use emulator::tunnel::{Direction, TunCounters, Tunnel, TunnelConfig, TunnelCounters};
use record::{PathTotals, Record};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use scenario::{Crossing, FlowSpec, Scenario};
use simulate::{FlowId, Hops, Outcome, Progress, ways};
use transport::app::App;
use units::{Bytes, Duration, Time};

use crate::engine::{Cancel, Engine};
use crate::engine_kind::EngineKind;
use crate::error::EngineError;
use captured::Captured;
use ends::{Ends, FlowPlan};
pub(crate) use limits::LIMITS;
use network::{AddressGroups, direction_of};
use ours::OwnControllers;
use shared::Event;
use side::Side;
use watch::Watch;

/// The interval at which queues and sockets are sampled. It is not round, so that applications that write at round
/// intervals are seen in all phases.
const SAMPLE_INTERVAL: Duration = Duration::from_micros(1_930);

/// Sockets are sampled less often if sampling would take more than one part in this many of the time.
const SOCKET_SAMPLE_SPACING: u64 = 10;

/// Progress is reported at every twenty-fifth sample: about twenty times a second.
const SAMPLES_PER_PROGRESS: u64 = 25;

/// The engine `linux`.
///
/// A flow that opens a connection for each of its objects is one flow of the record. Its counters are sums over its
/// connections, its RTTs are those of all of them, and its samples are those of any connection that had an ACK.
#[derive(Debug, Clone, Copy, Default)]
pub struct Linux;

impl Linux {
    /// Creates the engine.
    pub fn new() -> Linux {
        Linux
    }

    /// True if this build has Fullpipe's own controllers for the kernel: the cargo feature `load` is on.
    pub const fn has_own_controllers() -> bool {
        cfg!(feature = "load")
    }
}

impl Engine for Linux {
    fn kind(&self) -> EngineKind {
        EngineKind::Linux
    }

    fn check(&self, scenario: &Scenario) -> Result<(), EngineError> {
        scenario.check()?;
        Ok(limits::check(scenario)?)
    }

    fn check_here(&self, scenario: &Scenario) -> Result<(), EngineError> {
        Hosts::new(scenario).map(drop)
    }

    fn run(
        &self,
        scenario: &Scenario,
        watch: &(dyn Fn(Progress) + Sync),
        cancel: &Cancel,
    ) -> Result<Record, EngineError> {
        let (record, _) = self.run_with(scenario, watch, cancel, None::<[std::io::Sink; 2]>)?;
        Ok(record)
    }
}

impl Linux {
    /// Runs a scenario as [`Engine::run`] does, and writes captures (pcapng) of what each end sent and received:
    /// headers without payload. Returns the writers.
    ///
    /// # Errors
    ///
    /// Those of [`Engine::run`], or packets cannot be captured, or a capture cannot be written.
    pub fn run_captured<W: Write + Send>(
        &self,
        scenario: &Scenario,
        watch: &(dyn Fn(Progress) + Sync),
        cancel: &Cancel,
        to: [W; 2],
    ) -> Result<(Record, Vec<W>), EngineError> {
        self.run_with(scenario, watch, cancel, Some(to))
    }

    fn run_with<W: Write + Send>(
        &self,
        scenario: &Scenario,
        watch: &(dyn Fn(Progress) + Sync),
        cancel: &Cancel,
        to: Option<[W; 2]>,
    ) -> Result<(Record, Vec<W>), EngineError> {
        let Hosts {
            groups,
            network,
            ours,
        } = Hosts::new(scenario)?;
        let watched = Watch::new(scenario, &network, &ours)?;
        let mut captures = Vec::new();
        if let Some([near, far]) = to {
            captures.push(Captured::new(&network.near, "sender", near)?);
            captures.push(Captured::new(&network.far, "receiver", far)?);
        }
        let tunnel = join(scenario, &network, &groups)?;
        let begin = tunnel.started();
        let (sender, events) = channel();
        let mut run = Run {
            scenario,
            begin,
            tunnel,
            watched,
            hops: Hops::of(&scenario.network()),
            events,
        };
        let plans = plans(scenario, &groups);
        let until = Time::ZERO + scenario.duration.unwrap_or(Duration::MAX);
        let (stop, is_over) = (AtomicBool::new(false), AtomicBool::new(false));
        let (ended, cut_off, captured) = thread::scope(|scope| {
            let capture = |captured: Captured<W>| scope.spawn(|| captured.run(&is_over));
            let captures: Vec<_> = captures.into_iter().map(capture).collect();
            let _over = Stop(&is_over);
            let carry = || Ends::new(&network, begin, until, plans, sender)?.run(&stop);
            let ends = scope.spawn(|| network.near.inside(carry));
            let ended = {
                let _stop = Stop(&stop);
                run.run(watch, cancel)
            };
            let cut_off = ends.join().unwrap_or_else(|panic| resume_unwind(panic));
            is_over.store(true, Ordering::Release);
            let captured = captures.into_iter().map(|capture| {
                let captured = capture.join();
                captured.unwrap_or_else(|panic| resume_unwind(panic))
            });
            (ended, cut_off, captured.collect::<Result<Vec<_>, _>>())
        });
        let cut_off = cut_off??;
        let ended = ended?;
        let overflows = network.near.overflows()? + network.far.overflows()?;
        run.hops.overflows(overflows);
        Ok((run.finish(ended, &cut_off, watch), captured?))
    }
}

/// What a run has of the machine.
struct Hosts {
    ours: OwnControllers,
    network: Network,
    groups: AddressGroups,
}

impl Hosts {
    fn new(scenario: &Scenario) -> Result<Hosts, EngineError> {
        Linux.check(scenario)?;
        allow_descriptors()?;
        let groups = AddressGroups::of(scenario)?;
        let count = u16::try_from(groups.count()).unwrap_or(u16::MAX);
        let network = Network::create(&settings::network(scenario, count))?;
        let ours = OwnControllers::offer(scenario)?;
        check_controllers(scenario, &network)?;
        Ok(Hosts {
            ours,
            network,
            groups,
        })
    }
}

/// Stops the sockets' loop when dropped, also if the observer panics; else the scope would wait for the loop for ever.
struct Stop<'s>(&'s AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

/// Puts the emulated path between the two hosts.
fn join(
    scenario: &Scenario,
    network: &Network,
    groups: &AddressGroups,
) -> Result<Tunnel, EngineError> {
    let (forward, reverse) = groups.between(
        |group| network.near.address(group, Family::V4),
        |group| network.far.address(group, Family::V4),
    );
    Ok(Tunnel::start(TunnelConfig {
        near: network.near.tun().try_clone()?,
        far: network.far.tun().try_clone()?,
        forward,
        reverse,
        seed: scenario.seed,
    })?)
}

/// Raises the limit of file descriptors to the most that this process may have: every connection takes two.
fn allow_descriptors() -> Result<(), EngineError> {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: limit.maximum,
        ..limit
    };
    Ok(setrlimit(Resource::Nofile, raised).map_err(std::io::Error::from)?)
}

/// Checks that the kernel has every controller of the scenario.
fn check_controllers(scenario: &Scenario, network: &Network) -> Result<(), EngineError> {
    let set = || -> Result<(), EngineError> {
        let socket = TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0))?;
        for flow in &scenario.flows {
            socket::set_controller(&socket, flow.controller.kernel_name())?;
        }
        Ok(())
    };
    network.near.inside(set)?
}

/// The plan of each flow.
fn plans(scenario: &Scenario, groups: &AddressGroups) -> Vec<FlowPlan> {
    let network = scenario.network();
    let flows = scenario.flows.iter().enumerate();
    let starts =
        flows.flat_map(|(group, spec)| spec.starts().map(move |start| (group, spec, start)));
    let plan = |(flow, (group, spec, start)): (usize, (usize, &FlowSpec, Duration))| FlowPlan {
        start,
        app: spec.application(),
        seed: ::sim::application_seed(scenario.seed, flow),
        opens_many: spec.opens_many(),
        controller: spec.controller.kernel_name().to_string(),
        group: groups.of_flows(group),
        mss: settings::segment_size(&network, group),
        sender: Side::that_sends(spec),
    };
    starts.enumerate().map(plan).collect()
}

/// A run under way.
struct Run<'s> {
    scenario: &'s Scenario,
    begin: Instant,
    tunnel: Tunnel,
    watched: Watch,
    hops: Hops,
    events: Receiver<Event>,
}

/// The time at which a run ended, and whether that was early.
#[derive(Debug, Clone, Copy)]
struct Ended {
    at: Duration,
    is_partial: bool,
}

impl Run<'_> {
    /// Samples until everything is done, the time is over or the run is cancelled.
    fn run(
        &mut self,
        watch: &(dyn Fn(Progress) + Sync),
        cancel: &Cancel,
    ) -> Result<Ended, EngineError> {
        let last = self.scenario.duration.unwrap_or(Duration::MAX);
        let warmup = self.scenario.warmup;
        let mut before = Duration::ZERO;
        let mut samples = 0u64;
        let mut next_dump = Duration::ZERO;
        loop {
            let is_over = self.receive_events();
            let now = Duration::from(self.begin.elapsed()).min(last);
            let is_warm_now = before < warmup && now >= warmup;
            let at = if is_warm_now { warmup } else { now };
            let is_partial = cancel.is_cancelled();
            let is_done = is_over || at >= last;
            self.sample(at);
            if is_partial || is_done || is_warm_now || at >= next_dump {
                let begin = Instant::now();
                self.watched.sample(at)?;
                let took = Duration::from(begin.elapsed());
                next_dump = at + took * SOCKET_SAMPLE_SPACING;
            }
            if samples.is_multiple_of(SAMPLES_PER_PROGRESS) {
                self.watched.flows.report_progress(at, watch);
            }
            if is_partial || is_done {
                let is_partial = is_partial && !is_done;
                return Ok(Ended { at, is_partial });
            }
            before = at;
            samples += 1;
            let into_interval = Duration::from_nanos(now.as_nanos() % SAMPLE_INTERVAL.as_nanos());
            thread::sleep(SAMPLE_INTERVAL.saturating_sub(into_interval).into());
        }
    }

    /// Handles pending events; returns whether the loop has ended and no more will come.
    fn receive_events(&mut self) -> bool {
        loop {
            match self.events.try_recv() {
                Ok(event) => self.watched.on_event(event),
                Err(TryRecvError::Empty) => return false,
                Err(TryRecvError::Disconnected) => return true,
            }
        }
    }

    /// Records the queue and counters of each hop.
    fn sample(&mut self, at: Duration) {
        let (tunnel, counters) = (&self.tunnel, self.tunnel.counters());
        self.hops.sample(at, |crossing| {
            tunnel.queued(direction_of(crossing), crossing.link)
        });
        self.hops.note(at, |crossing| totals(&counters, crossing));
    }

    /// Returns the record of a run that ended so; `cut_off` has the applications that were cut off.
    fn finish(
        mut self,
        ended: Ended,
        cut_off: &[(FlowId, App)],
        watch: &(dyn Fn(Progress) + Sync),
    ) -> Record {
        self.receive_events();
        self.tunnel.stop();
        let mut flows = self.watched.flows;
        for (id, app) in cut_off {
            flows.cut_off(*id, app);
        }
        let network = self.scenario.network();
        let outcome = Outcome {
            network: &network,
            engine: EngineKind::Linux.name(),
            wall: self.begin.elapsed(),
            at: ended.at,
            is_partial: ended.is_partial,
            payload_share: ways::payload_share(&network),
            hops: self.hops,
            flows,
        };
        outcome.record(watch)
    }
}

fn totals(counters: &TunnelCounters, crossing: Crossing) -> PathTotals {
    let way = match direction_of(crossing) {
        Direction::Forward => &counters.forward,
        Direction::Reverse => &counters.reverse,
    };
    let link = &way.links[crossing.link];
    let is_first = crossing.link == 0 && !crossing.is_back;
    // Packets are late when they leave the last link, wherever on the way they were delayed.
    let ways = [&counters.forward.tun, &counters.reverse.tun];
    let sum = |of: fn(&TunCounters) -> u64| is_first.then(|| ways.map(of).iter().sum::<u64>());
    PathTotals {
        packets: Some(link.transmitted_packets),
        transmitted: Bytes::new(link.transmitted_bytes),
        drops: Some(link.buffer_drops + link.policer_drops),
        marks: Some(link.marked_packets),
        random_losses: Some(link.random_losses),
        corrupted: Some(link.corrupted_packets),
        too_big: Some(link.too_big_packets),
        late_packets: sum(|tun| tun.late_packets),
        released_packets: sum(|tun| tun.written_packets),
        lateness: sum(|tun| tun.lateness_total_ns).map(Duration::from_nanos),
        overflows: None,
    }
}
