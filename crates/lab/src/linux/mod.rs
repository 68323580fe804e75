//! The kernel's own TCP over an emulated path, in real time.
//!
//! ```text
//!  near host ── TUN ──► links of data, in user space ──► TUN ── far host
//!            ◄──────────── links of ACKs ◄─────────────
//! ```
//!
//! Two hosts are two network namespaces of this process, which nothing joins but a [`Tunnel`]. Both ends of every
//! connection are sockets of this process too, one loop drives them; what the kernel knows of them is
//! asked for five hundred times a second. What a run says of rates and times is what happened in real time: a busy machine
//! shows in it.

mod captured;
mod carried;
mod connection;
mod ends;
mod limits;
mod network;
mod ours;
mod poller;
mod settings;
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
use scenario::{FlowSpec, Scenario};
use transport::app::App;
use units::{Bytes, Duration, Time};

use crate::engine::{Cancel, Engine, Progress};
use crate::engine_kind::EngineKind;
use crate::error::EngineError;
use crate::flows::FlowId;
use crate::hops::Hops;
use crate::outcome::Outcome;
use crate::ways;
use captured::Captured;
use carried::News;
use ends::{Ends, FlowPlan};
pub(crate) use limits::LIMITS;
use network::AddressGroups;
use ours::Ours;
use side::Side;
use watch::Watch;

/// How often queues and sockets are looked at. An application that writes at a round interval is so not always seen in the
/// same part of it.
const LOOK: Duration = Duration::from_micros(1_930);

/// Sockets less often if they are so many that it would take more than this part of the time: a tenth.
const DUMP_PART: u64 = 10;

/// At every twenty-fifth look, progress is told: about twenty times a second.
const LOOKS_PER_PROGRESS: u64 = 25;

/// The engine `linux`.
///
/// A flow whose application opens a connection for each of its objects is one flow of the record: its counters are the
/// sums over its connections, its RTTs those of all of them, its samples those of whichever had an ACK.
#[derive(Debug, Clone, Copy, Default)]
pub struct Linux;

impl Linux {
    /// The engine.
    pub fn new() -> Linux {
        Linux
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
    /// As [`Engine::run`], and writes what each end sent and received as captures (pcapng): the headers, without payload. Gives
    /// back what they were written to.
    ///
    /// # Errors
    ///
    /// Those of [`Engine::run`]; or packets cannot be captured, or a capture not be written.
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
        self.check(scenario)?;
        allow_descriptors()?;
        let groups = AddressGroups::of(scenario)?;
        let count = u16::try_from(groups.count()).unwrap_or(u16::MAX);
        let network = Network::create(&settings::network(scenario, count))?;
        let ours = Ours::offer(scenario)?;
        check_controllers(scenario, &network)?;
        let watched = Watch::new(scenario, &network, &ours)?;
        let mut captures = Vec::new();
        if let Some([near, far]) = to {
            captures.push(Captured::new(&network.near, "sender", near)?);
            captures.push(Captured::new(&network.far, "receiver", far)?);
        }
        let tunnel = join(scenario, &network, &groups)?;
        let begin = tunnel.started();
        let (news, heard) = channel();
        let mut course = Course {
            scenario,
            begin,
            tunnel,
            watched,
            hops: Hops::of(scenario),
            heard,
        };
        let plans = plans(scenario, &groups);
        let until = Time::ZERO + scenario.duration.unwrap_or(Duration::MAX);
        let (stop, is_over) = (AtomicBool::new(false), AtomicBool::new(false));
        let (ended, cut_off, captured) = thread::scope(|scope| {
            let capture = |captured: Captured<W>| scope.spawn(|| captured.run(&is_over));
            let captures: Vec<_> = captures.into_iter().map(capture).collect();
            let _over = Stop(&is_over);
            let carry = || Ends::new(&network, begin, until, plans, news)?.run(&stop);
            let ends = scope.spawn(|| network.near.inside(carry));
            let ended = {
                let _stop = Stop(&stop);
                course.run(watch, cancel)
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
        course.hops.overflows(overflows);
        Ok((course.finish(ended, &cut_off, watch), captured?))
    }
}

/// Tells the sockets' loop to stop when dropped: also if who watches panics, whose thread would wait for it for ever.
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

/// Every connection takes two file descriptors: as many as this process may have.
fn allow_descriptors() -> Result<(), EngineError> {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: limit.maximum,
        ..limit
    };
    Ok(setrlimit(Resource::Nofile, raised).map_err(std::io::Error::from)?)
}

/// Whether the kernel has every controller that the scenario asks for, before anything begins.
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

/// What each flow does.
fn plans(scenario: &Scenario, groups: &AddressGroups) -> Vec<FlowPlan> {
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
        mss: settings::segment_size(scenario, spec),
        sender: Side::that_sends(spec),
    };
    starts.enumerate().map(plan).collect()
}

/// A run under way.
struct Course<'s> {
    scenario: &'s Scenario,
    begin: Instant,
    tunnel: Tunnel,
    watched: Watch,
    hops: Hops,
    heard: Receiver<News>,
}

/// When a run ended, and whether before its time.
#[derive(Debug, Clone, Copy)]
struct Ended {
    at: Duration,
    is_partial: bool,
}

impl Course<'_> {
    /// Looks on until everything is done, the time is over or the run is cancelled.
    fn run(
        &mut self,
        watch: &(dyn Fn(Progress) + Sync),
        cancel: &Cancel,
    ) -> Result<Ended, EngineError> {
        let last = self.scenario.duration.unwrap_or(Duration::MAX);
        let warmup = self.scenario.warmup;
        let mut before = Duration::ZERO;
        let mut looks = 0u64;
        let mut next_dump = Duration::ZERO;
        loop {
            let is_over = self.hear();
            let now = Duration::from(self.begin.elapsed()).min(last);
            let is_warm_now = before < warmup && now >= warmup;
            let at = if is_warm_now { warmup } else { now };
            let is_partial = cancel.is_cancelled();
            let is_done = is_over || at >= last;
            self.look(at);
            if is_partial || is_done || is_warm_now || at >= next_dump {
                let begin = Instant::now();
                self.watched.look(at)?;
                let took = Duration::from(begin.elapsed());
                next_dump = at + took * DUMP_PART;
            }
            if looks.is_multiple_of(LOOKS_PER_PROGRESS) {
                self.watched.flows.tell(at, watch);
            }
            if is_partial || is_done {
                let is_partial = is_partial && !is_done;
                return Ok(Ended { at, is_partial });
            }
            before = at;
            looks += 1;
            let into_look = Duration::from_nanos(now.as_nanos() % LOOK.as_nanos());
            thread::sleep(LOOK.saturating_sub(into_look).into());
        }
    }

    /// Hears what has happened; whether nothing more will.
    fn hear(&mut self) -> bool {
        loop {
            match self.heard.try_recv() {
                Ok(news) => self.watched.hear(news),
                Err(TryRecvError::Empty) => return false,
                Err(TryRecvError::Disconnected) => return true,
            }
        }
    }

    /// Notes what waits at each hop.
    fn look(&mut self, at: Duration) {
        let (tunnel, counters) = (&self.tunnel, self.tunnel.counters());
        self.hops
            .look(at, |hop| tunnel.queued(Direction::Forward, hop));
        self.hops.note(at, |hop| totals(&counters, hop));
    }

    /// The record of a run that ended so, with the applications of what was cut off then.
    fn finish(
        mut self,
        ended: Ended,
        cut_off: &[(FlowId, App)],
        watch: &(dyn Fn(Progress) + Sync),
    ) -> Record {
        self.hear();
        self.tunnel.stop();
        let mut flows = self.watched.flows;
        for (id, app) in cut_off {
            flows.cut_off(*id, app);
        }
        let outcome = Outcome {
            scenario: self.scenario,
            engine: EngineKind::Linux,
            begin: self.begin,
            at: ended.at,
            is_partial: ended.is_partial,
            payload_share: ways::payload_share(self.scenario),
            hops: self.hops,
            flows,
        };
        outcome.record(watch)
    }
}

fn totals(counters: &TunnelCounters, hop: usize) -> PathTotals {
    let link = &counters.forward.links[hop];
    // Packets are late at the end of their way, wherever on it they were held up.
    let ways = [&counters.forward.tun, &counters.reverse.tun];
    let sum = |of: fn(&TunCounters) -> u64| (hop == 0).then(|| ways.map(of).iter().sum::<u64>());
    PathTotals {
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
