//! Links, and the ways over them through the network.

use std::collections::HashMap;

use congestion::{Duration, Time};
use path::{Agenda, Capacity, Ecn, Link, LinkConfig, Parcel};
use prefetch::{NEAR, prefetch};
use transport::segment::Segment;
use units::ConfigError;

use crate::config::{Config, Route};
use crate::index::{HostIndex, LinkIndex, Slot, Table, Way};
use crate::seed::{Part, derive};
use crate::taps::Taps;

/// A segment in transit.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Packet {
    pub(crate) segment: Segment,
    /// The serial number of its connection. It distinguishes a late packet of an old connection from packets of the
    /// connection that has its slot now.
    pub(crate) serial: u32,
    /// The rest of its way: what is behind the link that it is on.
    rest: Way,
    /// Whether a link of the way has damaged it.
    corrupted: bool,
}

/// An event at the end of a link.
#[derive(Debug)]
pub(crate) enum Out {
    /// A packet has reached the end of its way; `true` if it carries an ECN mark.
    Arrived(Packet, bool),
    /// A packet has left the network card of this host, and has entered its first link.
    Departed(HostIndex),
}

/// After so many packets have entered links, those that take memory are counted, which takes less time than they did.
const ENTERED_PER_COUNT: u32 = 1 << 16;

/// All links and the ways over them. A flow's own delay is a link too, shared by flows with the same delay; so is a
/// host's network card.
#[derive(Debug)]
pub(crate) struct Network {
    /// The links of the configuration, then the hosts' network cards, then the delays.
    lines: Table<LinkIndex, Line>,
    /// The number of links in the configuration.
    configured: usize,
    /// The links of all ways, each way's in order and with `None` at its end.
    ways: Table<Way, Option<LinkIndex>>,
    known_ways: HashMap<Box<[LinkIndex]>, Way>,
    delays: HashMap<Duration, LinkIndex>,
    /// The network cards of the hosts that have one.
    nics: HashMap<HostIndex, LinkIndex>,
    agenda: Agenda,
    /// The link from which packets come to each link, of the first way that has one.
    before: HashMap<LinkIndex, LinkIndex>,
    /// The seed of the order in which packets of one time leave links that lead to the same link.
    ties: u64,
    /// Whether the links take more memory than a near cache holds.
    are_far: bool,
    /// The packets that have entered links since they were last [counted](Network::is_due).
    entered: u32,
    pub(crate) taps: Taps<Packet>,
}

#[derive(Debug)]
struct Line {
    link: Link<Packet>,
    /// The host whose network card it is.
    nic_of: Option<HostIndex>,
    /// Whether it always takes time.
    takes_time: bool,
}

impl Network {
    /// Creates the links of a configuration and the network cards of its hosts.
    ///
    /// # Errors
    /// The first invalid link.
    pub(crate) fn new<C>(config: &Config<C>) -> Result<Network, ConfigError> {
        let mut network = Network {
            lines: Vec::new().into(),
            configured: config.links.len(),
            ways: Vec::new().into(),
            known_ways: HashMap::new(),
            delays: HashMap::new(),
            nics: HashMap::new(),
            agenda: Agenda::new(1),
            before: HashMap::new(),
            ties: derive(config.seed, Part::Ties),
            are_far: false,
            entered: 0,
            taps: Taps::new(),
        };
        for (index, link) in config.links.iter().enumerate() {
            let seed = derive(config.seed, Part::Link(index as u64));
            let added = network.add(link.clone(), seed, None);
            added.map_err(|error| error.within(format_args!("links[{index}]")))?;
        }
        for (host, nic) in config.hosts.iter().enumerate() {
            let Some(rate) = nic.nic else { continue };
            let card = LinkConfig {
                capacity: Capacity::Rate(rate),
                ..LinkConfig::default()
            };
            let added = network.add(card, 0, Some(host.into()));
            let added = added.map_err(|error| error.of(format!("hosts[{host}].nic")))?;
            network.nics.insert(host.into(), added);
        }
        Ok(network)
    }

    /// Adds a link, which may be the network card of a host; returns its index.
    fn add(
        &mut self,
        config: LinkConfig,
        seed: u64,
        nic_of: Option<HostIndex>,
    ) -> Result<LinkIndex, ConfigError> {
        let is_delayed = !config.delay.is_zero()
            && !config
                .changes
                .iter()
                .any(|change| change.delay.is_some_and(Duration::is_zero));
        let takes_time = is_delayed || config.capacity != Capacity::Unlimited;
        let link = Link::new(config, seed)?;
        let index = self.lines.push(Line {
            link,
            nic_of,
            takes_time,
        });
        self.agenda.grow(self.lines.len());
        self.are_far = size_of_val(&*self.lines) > NEAR;
        Ok(index)
    }

    /// Whether a packet on this way always arrives later than it was sent.
    pub(crate) fn takes_time(&self, way: Way) -> bool {
        let mut links = self.ways.iter().skip(way.into()).map_while(|link| *link);
        links.any(|link| self.lines[link].takes_time)
    }

    /// The way over a host's network card, if it has one, and a route.
    ///
    /// # Errors
    /// The route names a link that does not exist, or none at all.
    pub(crate) fn way(
        &mut self,
        host: Option<HostIndex>,
        route: &Route,
    ) -> Result<Way, ConfigError> {
        let mut links = Vec::new();
        links.extend(host.and_then(|host| self.nics.get(&host)));
        if !route.access.is_zero() {
            links.push(self.delay(route.access)?);
        }
        if route.links.is_empty() {
            return Err(ConfigError::new(
                "links",
                "is empty; name at least one link by its index",
            ));
        }
        let missing = |link: &&usize| **link >= self.configured;
        if let Some(link) = route.links.iter().find(missing) {
            let problem = format!("names link {link}, but there are {}", self.configured);
            return Err(ConfigError::new("links", problem));
        }
        let configured = links.len();
        links.extend(route.links.iter().copied().map(LinkIndex::from));
        for pair in links[configured..].windows(2) {
            let &[from, to] = pair else { continue };
            if *self.before.entry(to).or_insert(from) != from {
                self.agenda.draw_ties(self.ties);
            }
        }
        let links = links.into_boxed_slice();
        if let Some(way) = self.known_ways.get(&links) {
            return Ok(*way);
        }
        let way = Way::from(self.ways.len());
        for link in links.iter().copied().map(Some).chain([None]) {
            self.ways.push(link);
        }
        self.known_ways.insert(links, way);
        Ok(way)
    }

    /// The link that only adds this delay.
    fn delay(&mut self, delay: Duration) -> Result<LinkIndex, ConfigError> {
        if let Some(link) = self.delays.get(&delay) {
            return Ok(*link);
        }
        let config = LinkConfig {
            delay,
            ..LinkConfig::default()
        };
        let link = self.add(config, 0, None);
        let link = link.map_err(|error| error.of("access"))?;
        self.delays.insert(delay, link);
        Ok(link)
    }

    /// Sends segments of one connection, all with the same ECN field.
    #[inline]
    pub(crate) fn send(
        &mut self,
        now: Time,
        way: Way,
        serial: u32,
        ecn: Ecn,
        segments: impl Iterator<Item = Segment>,
    ) {
        let Some(first) = self.ways[way] else {
            return;
        };
        let link = &mut self.lines[first].link;
        for segment in segments {
            let packet = Packet {
                segment,
                serial,
                rest: way.behind(),
                corrupted: false,
            };
            let parcel = Parcel {
                size: segment.wire_size(),
                flow: u64::from(serial),
                ecn,
            };
            self.taps.enter(first, &packet, ecn);
            link.send(now, parcel, packet);
            self.entered += 1;
        }
        self.agenda.set(first.into(), next_event(link));
    }

    /// Advances every link of the configuration to `now`, so that queues and counters are of that time. Nobody reads
    /// those of other links.
    pub(crate) fn advance(&mut self, now: Time) {
        for line in self.lines.iter_mut().take(self.configured) {
            line.link.advance(now);
        }
    }

    /// The link of the configuration with this index.
    pub(crate) fn link(&self, index: usize) -> Option<&Link<Packet>> {
        let line = self.lines.get(..self.configured)?.get(index)?;
        Some(&line.link)
    }

    /// The number of packets on all links, network cards and delays.
    pub(crate) fn packets(&self) -> u64 {
        let lines = self.lines.iter();
        lines.map(|line| line.link.counters().inside.packets).sum()
    }

    /// The number of packets that they have transmitted.
    pub(crate) fn transmissions(&self) -> u64 {
        let lines = self.lines.iter();
        lines
            .map(|line| line.link.counters().transmitted.packets)
            .sum()
    }

    /// Whether so many packets have entered links that they are to be counted again.
    #[inline]
    pub(crate) fn is_due(&self) -> bool {
        self.entered >= ENTERED_PER_COUNT
    }

    pub(crate) fn counted(&mut self) {
        self.entered = 0;
    }

    /// The earliest time at which a packet may leave a link.
    #[inline]
    pub(crate) fn next_at(&self) -> Time {
        self.agenda.next_at()
    }

    /// The link from which a packet leaves at `at`, if that is [`Network::next_at`].
    #[inline]
    pub(crate) fn due(&mut self, at: Time) -> Option<LinkIndex> {
        self.agenda.due(at).map(LinkIndex::from)
    }

    /// Whether more packets leave `link` at `now`.
    #[inline]
    pub(crate) fn has_more(&self, now: Time, link: LinkIndex) -> bool {
        self.agenda.get(link.into()) <= now
    }

    /// The connection whose packet probably leaves `link` next and is then at the end of its way. If the packet has
    /// another link before it, that link is prefetched instead.
    #[inline]
    pub(crate) fn upcoming(&self, link: LinkIndex) -> Option<Slot> {
        let packet = self.lines[link].link.upcoming()?;
        match self.ways[packet.rest] {
            None => Some(Slot(packet.segment.connection)),
            Some(next) => {
                self.prefetch(next);
                None
            }
        }
    }

    /// The link from which a packet leaves first.
    #[inline]
    pub(crate) fn first(&mut self) -> Option<LinkIndex> {
        self.agenda.first().map(LinkIndex::from)
    }

    /// Prefetches a link, if it is one of so many that it is probably in no near cache.
    #[inline]
    fn prefetch(&self, link: LinkIndex) {
        if self.are_far {
            prefetch(&self.lines[link]);
        }
    }

    /// Handles the next packet at the end of link `from` at `now`: if it has further links on its way, it enters the
    /// next one. Call it while the link [has more](Network::has_more).
    #[inline]
    pub(crate) fn receive(&mut self, now: Time, from: LinkIndex) -> Option<Out> {
        let Line { link, nic_of, .. } = &mut self.lines[from];
        let departed = *nic_of;
        let arrival = link.receive(now);
        self.agenda.set(from.into(), next_event(link));
        let arrival = arrival?;
        debug_assert_eq!(arrival.at, now, "a link was looked at too late");
        let mut packet = arrival.packet;
        packet.corrupted |= arrival.corrupted;
        self.taps.leave(from, &packet, arrival.ecn);
        let Some(next) = self.ways[packet.rest] else {
            // A damaged packet does not have its receiver's checksum.
            let is_whole = !packet.corrupted;
            return is_whole.then_some(Out::Arrived(packet, arrival.ecn == Ecn::Marked));
        };
        packet.rest = packet.rest.behind();
        let parcel = Parcel {
            size: arrival.size,
            flow: u64::from(packet.serial),
            ecn: arrival.ecn,
        };
        self.taps.enter(next, &packet, arrival.ecn);
        let link = &mut self.lines[next].link;
        link.send(now, parcel, packet);
        self.entered += 1;
        self.agenda.set(next.into(), next_event(link));
        departed.map(Out::Departed)
    }
}

/// The time at which to poll a link for packets.
#[inline]
fn next_event(link: &Link<Packet>) -> Time {
    link.next_event().unwrap_or(Time::MAX)
}
