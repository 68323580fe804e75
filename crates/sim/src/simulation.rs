//! The event loop.

mod events;

use std::sync::Arc;

use congestion::{AnyController, Controller, Time};
use path::{Agenda, Counters, Link, Queued};
use transport::app::App;
use transport::receiver::Receiver;
use transport::scheduler::{self, Pacing, SchedulerConfig};
use transport::sender::Sender;
use units::ConfigError;

use crate::config::{BufferChange, Config, HostConfig};
use crate::connections::Connections;
use crate::flow::Flow;
use crate::host::Host;
use crate::index::{FlowIndex, HostIndex, Table};
use crate::network::{Network, Packet};
use crate::observer::{Id, Observer};
use crate::room::{Excess, Room, Share};

/// The most connections at one time. An object that arrives beyond it gets none, so that a load above the path's
/// capacity does not take unbounded memory.
const MAX_CONNECTIONS: usize = 1 << 17;

/// Hosts and links in virtual time.
///
/// # The order of events
/// Time stands still while an event is handled, and then jumps to the next. Events at the same nanosecond happen in
/// this order, so that a run is determined by its configuration alone:
///
/// 1. packets that leave links, the link of the lowest index first (those of the configuration, then network cards,
///    then delays of flows), each link's in its own order; if several links of the configuration lead to the same link,
///    the seed instead draws an order of all links for each time, since with a fixed one the packets of a line that comes
///    first would always find room in the shared buffer that those of an equal line do not;
/// 2. bursts that hosts release, the host of the lowest index first;
/// 3. timers of connections, the connection of the lowest slot first, its sending end before its receiving end;
/// 4. changes of receive buffers;
/// 5. connections that start, the flow of the lowest index first.
///
/// So an acknowledgement that arrives at the exact time of a timeout prevents it.
///
/// # Simplifications
/// Acknowledgements bypass the packet scheduler and the network card of their host. Hosts take no time to process
/// packets.
#[derive(Debug)]
pub struct Simulation<O = (), C = AnyController> {
    now: Time,
    end: Time,
    network: Network,
    hosts: Table<HostIndex, Host>,
    /// The time at which each host may next release a burst.
    releases: Agenda,
    flows: Table<FlowIndex, Flow<C>>,
    /// The time at which each flow next starts a connection.
    starts: Agenda,
    /// The changes of receive buffers that are still to come, the next one last.
    buffer_changes: Vec<(FlowIndex, BufferChange)>,
    connections: Connections<C>,
    /// The time of the next timer of each connection's two ends, or an earlier one. A timer that moves to a later
    /// time stays in place until it fires without effect. Nearly every acknowledgement moves one, and few ever fire.
    timers: Agenda,
    /// The serial number of the next connection.
    next_serial: u32,
    /// Objects that got no connection.
    refused: u64,
    share: Share,
    excess: Option<Excess>,
    observer: O,
}

/// A read-only view of a link.
#[derive(Debug, Clone, Copy)]
pub struct LinkView<'s>(&'s Link<Packet>);

impl LinkView<'_> {
    /// The counters.
    pub fn counters(&self) -> Counters {
        self.0.counters()
    }

    /// Whether nothing waits or is being transmitted. An idle link stays idle until a packet enters, and that packet
    /// does not wait.
    #[inline]
    pub fn is_idle(&self) -> bool {
        self.0.is_idle()
    }

    /// The queue in its buffer.
    #[inline]
    pub fn queued(&self) -> Queued {
        self.0.queued()
    }
}

impl<O: Observer<C>, C: Controller> Simulation<O, C> {
    /// Creates a simulation at time zero.
    ///
    /// # Errors
    /// The first invalid value.
    pub fn new(config: Config<C>, observer: O) -> Result<Simulation<O, C>, ConfigError> {
        let mut network = Network::new(&config)?;
        // After the hosts of the configuration, one host sends the requests of all flows.
        let requests_host = HostConfig::default();
        let hosts: Vec<Host> = config
            .hosts
            .iter()
            .chain([&requests_host])
            .map(Host::new)
            .collect();
        let mut flows = Vec::with_capacity(config.flows.len());
        let mut starts = Agenda::new(config.flows.len());
        let mut buffer_changes = Vec::new();
        for (index, flow) in config.flows.into_iter().enumerate() {
            starts.set(index, flow.start);
            let requests_host = HostIndex::from(hosts.len() - 1);
            let flow = Flow::new(index.into(), flow, config.seed, requests_host, &mut network)?;
            let scheduler = config.hosts.get(flow.host()).map(|host| &host.scheduler);
            if flow.pacing() == Pacing::Fq && scheduler == Some(&SchedulerConfig::Fifo) {
                return Err(ConfigError::new(
                    format!("flows[{index}].sender.pacing"),
                    "needs a scheduler that paces; give its host fair queueing",
                ));
            }
            if config.end.is_none() && flow.is_endless() {
                return Err(ConfigError::new(
                    format!("flows[{index}].app"),
                    "never ends, and neither does the simulation; give it an `end`",
                ));
            }
            let changes = flow.buffer_changes().iter();
            buffer_changes.extend(changes.map(|change| (index.into(), *change)));
            flows.push(flow);
        }
        // Of those of a flow at one time, the last one counts.
        buffer_changes.sort_by_key(|(_, change)| change.at);
        buffer_changes.reverse();
        Ok(Simulation {
            now: Time::ZERO,
            end: config.end.unwrap_or(Time::MAX),
            network,
            releases: Agenda::new(hosts.len()),
            hosts: hosts.into(),
            flows: flows.into(),
            starts,
            buffer_changes,
            connections: Connections::new(),
            timers: Agenda::new(1),
            next_serial: 0,
            refused: 0,
            share: Share::of(Room::endless()),
            excess: None,
            observer,
        })
    }

    /// Gives its packets this room. Without it, there is no bound.
    pub fn enter(&mut self, room: Arc<Room>) {
        self.share = Share::of(room);
    }

    /// What of its bounds it exceeds. It then goes on no more.
    pub fn excess(&self) -> Option<Excess> {
        self.excess
    }

    /// Puts a tap between links of the configuration: packets that enter the link `entered` pass it, and packets that
    /// leave the link `left`. With the two directions of a link, these are the packets that a capture at one of its ends
    /// sees. Taps are numbered in the order of calls; a link has one tap at each end. The observer learns of passing
    /// packets by [`Observer::on_crossing`].
    pub fn tap(&mut self, entered: usize, left: usize) {
        self.network.taps.add(entered.into(), left.into());
    }

    /// Runs to the end: the time set by the configuration, or the end of every flow.
    pub fn run(&mut self) {
        self.run_until(self.end);
    }

    /// Runs until `until`, including events at that time, or to the [end](Simulation::run).
    pub fn run_until(&mut self, until: Time) {
        while !self.run_events(until, usize::MAX) && self.excess.is_none() {}
    }

    /// Runs as [`run_until`](Simulation::run_until) does, but for at most `most` events: many may happen at one time.
    /// Returns whether `until` or the end was reached: false after an [excess](Simulation::excess).
    pub fn run_events(&mut self, until: Time, most: usize) -> bool {
        let until = until.min(self.end);
        for _ in 0..most {
            if !self.has_flows() {
                return true;
            }
            if !self.step(until) {
                self.settle(until);
                return true;
            }
            if self.is_excessive() {
                return false;
            }
        }
        false
    }

    /// Whether a flow is active or has yet to start.
    pub fn has_flows(&self) -> bool {
        self.connections.live() > 0 || self.starts.next_at() < Time::MAX
    }

    /// The time of the next event; [`Time::MAX`] if there is none.
    pub fn next_at(&self) -> Time {
        let (out, release) = (self.network.next_at(), self.releases.next_at());
        let (timer, start) = (self.timers.next_at(), self.starts.next_at());
        let first = out.min(release).min(timer).min(start);
        first.min(self.next_buffer_change())
    }

    /// The current time.
    pub fn now(&self) -> Time {
        self.now
    }

    /// The live connections that carry data, in the order of their slots.
    pub fn connections(&self) -> impl Iterator<Item = (Id, &Sender<C>, &Receiver)> {
        self.connections
            .iter()
            .filter(|connection| connection.is_reported())
            .map(|connection| (connection.id, &connection.sender, &connection.receiver))
    }

    /// The applications of the live connections, in the order of [`connections`](Simulation::connections).
    pub fn apps(&self) -> impl Iterator<Item = (Id, &App)> {
        self.connections
            .iter()
            .filter_map(|connection| Some((connection.id, connection.app.as_ref()?)))
    }

    /// The number of packets that take memory: those on their way, and sent ones that are not acknowledged.
    pub fn packets(&self) -> u64 {
        let sent = self.connections.iter();
        let sent = sent.map(|connection| connection.sender.unacknowledged_packets());
        self.network.packets() + sent.sum::<u64>()
    }

    /// The number of packets that links, network cards and delays have transmitted, each time that one did.
    pub fn transmissions(&self) -> u64 {
        self.network.transmissions()
    }

    /// The link with this index, as of [`now`](Simulation::now), between calls of
    /// [`run_until`](Simulation::run_until); `None` if there is no such link.
    pub fn link(&self, index: usize) -> Option<LinkView<'_>> {
        self.network.link(index).map(LinkView)
    }

    /// Objects that got no connection of their own because there were too many connections (131,072).
    pub fn refused(&self) -> u64 {
        self.refused
    }

    /// The counters of a host's packet scheduler, by the host's index in [`Config::hosts`].
    pub fn scheduler(&self, host: usize) -> Option<scheduler::Counters> {
        Some(self.hosts.get(host)?.scheduler.counters())
    }

    /// The observer.
    pub fn observer(&self) -> &O {
        &self.observer
    }

    /// The observer.
    pub fn observer_mut(&mut self) -> &mut O {
        &mut self.observer
    }

    /// Ends the simulation and returns the observer.
    pub fn into_observer(self) -> O {
        self.observer
    }

    /// Counts the packets if many have come, and returns whether there is an excess.
    #[inline]
    fn is_excessive(&mut self) -> bool {
        if self.network.is_due() {
            self.network.counted();
            let (packets, transmissions) = (self.packets(), self.transmissions());
            self.excess = self.share.take(packets, transmissions);
        }
        self.excess.is_some()
    }

    /// Advances to `until` without further events.
    fn settle(&mut self, until: Time) {
        if until != Time::MAX {
            self.now = self.now.max(until);
            self.network.advance(self.now);
        }
    }

    /// Handles the next event, if it is due by `until`; returns whether it was.
    fn step(&mut self, until: Time) -> bool {
        let next = self.next_at();
        if next > until || next == Time::MAX {
            return false;
        }
        // A scheduler may request another call at once.
        debug_assert!(
            next >= self.now || next == self.releases.next_at(),
            "time runs backwards"
        );
        self.now = self.now.max(next);
        if let Some(link) = self.network.due(next) {
            self.on_link(link);
        } else if let Some(host) = self.releases.due(next) {
            self.release(host.into());
        } else if let Some(timer) = self.timers.due(next) {
            self.on_timer(timer);
        } else if self.next_buffer_change() <= next {
            self.change_buffers();
        } else if let Some(flow) = self.starts.due(next) {
            self.on_start(flow.into());
        }
        true
    }
}
