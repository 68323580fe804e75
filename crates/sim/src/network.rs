//! Links joined to ways through the network.

use std::collections::HashMap;

use congestion::{Duration, Time};
use path::{Agenda, Capacity, Ecn, Link, LinkConfig, Parcel};
use transport::ConfigError;
use transport::segment::Segment;

use crate::config::{Config, Route};
use crate::seed::{Part, derive};

/// A segment on its way.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Packet {
    pub(crate) segment: Segment,
    /// The serial number of its connection. It tells a late packet of an old connection from a packet of the connection that
    /// has its slot now.
    pub(crate) serial: u32,
    pub(crate) way: Way,
    /// How many links of the way it has entered.
    hop: u32,
}

/// A way through the network: an index into [`Network::ways`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Way(u32);

/// What came out of a link.
#[derive(Debug)]
pub(crate) enum Out {
    /// A packet has reached the end of its way; `true` if it was marked "congestion experienced" on it.
    Arrived(Packet, bool),
    /// A packet has left the network card of this host, and has gone on into its first link.
    Departed(usize),
}

/// All links and the ways over them. A delay that belongs to a flow alone is a link too, which flows of the same delay
/// share; so is a host's network card.
#[derive(Debug)]
pub(crate) struct Network {
    /// Those of the configuration, then the hosts' network cards, then the delays.
    links: Vec<Link<Packet>>,
    /// The hosts whose network cards they are.
    nic_of: Vec<Option<usize>>,
    /// How many of them the configuration has.
    configured: usize,
    /// Whether each always takes time.
    takes_time: Vec<bool>,
    ways: Vec<Box<[usize]>>,
    known_ways: HashMap<Box<[usize]>, Way>,
    delays: HashMap<Duration, usize>,
    agenda: Agenda,
}

impl Network {
    /// The links of a configuration and the network cards of its hosts.
    ///
    /// # Errors
    /// The first link that makes no sense.
    pub(crate) fn new<C>(config: &Config<C>) -> Result<Network, ConfigError> {
        let mut network = Network {
            links: Vec::new(),
            nic_of: Vec::new(),
            configured: config.links.len(),
            takes_time: Vec::new(),
            ways: Vec::new(),
            known_ways: HashMap::new(),
            delays: HashMap::new(),
            agenda: Agenda::new(1),
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
            let added = network.add(card, 0, Some(host));
            added.map_err(|error| error.of(format!("hosts[{host}].nic")))?;
        }
        Ok(network)
    }

    /// Adds a link, the network card of a host if that is given, and gives its index.
    fn add(
        &mut self,
        config: LinkConfig,
        seed: u64,
        nic_of: Option<usize>,
    ) -> Result<usize, ConfigError> {
        let is_delayed = !config.delay.is_zero()
            && !config
                .changes
                .iter()
                .any(|change| change.delay.is_some_and(Duration::is_zero));
        self.takes_time
            .push(is_delayed || config.capacity != Capacity::Unlimited);
        self.links.push(Link::new(config, seed)?);
        self.nic_of.push(nic_of);
        self.agenda.grow(self.links.len());
        Ok(self.links.len() - 1)
    }

    /// Whether a packet that goes this way always arrives later than it was sent.
    pub(crate) fn takes_time(&self, way: Way) -> bool {
        let way = self.ways.get(way.0 as usize);
        way.is_some_and(|way| {
            way.iter()
                .any(|link| self.takes_time.get(*link) == Some(&true))
        })
    }

    /// The way over a host's network card, if it has one, and a route.
    ///
    /// # Errors
    /// A link that is not there, or none at all.
    pub(crate) fn way(&mut self, host: Option<usize>, route: &Route) -> Result<Way, ConfigError> {
        let mut links = Vec::new();
        let is_nic = |of: &Option<usize>| of.is_some() && *of == host;
        links.extend(self.nic_of.iter().position(is_nic));
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
        links.extend(&route.links);
        let links = links.into_boxed_slice();
        if let Some(way) = self.known_ways.get(&links) {
            return Ok(*way);
        }
        let way = Way(self.ways.len() as u32);
        self.ways.push(links.clone());
        self.known_ways.insert(links, way);
        Ok(way)
    }

    /// The link that is nothing but this delay.
    fn delay(&mut self, delay: Duration) -> Result<usize, ConfigError> {
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

    /// Segments of one connection set out together, all with the same ECN field.
    #[inline]
    pub(crate) fn send(
        &mut self,
        now: Time,
        way: Way,
        serial: u32,
        ecn: Ecn,
        segments: impl Iterator<Item = Segment>,
    ) {
        let Some(&first) = self.ways.get(way.0 as usize).and_then(|way| way.first()) else {
            return;
        };
        let Some(link) = self.links.get_mut(first) else {
            return;
        };
        for segment in segments {
            let packet = Packet {
                segment,
                serial,
                way,
                hop: 1,
            };
            let parcel = Parcel {
                size: segment.wire_size(),
                flow: u64::from(serial),
                ecn,
            };
            link.send(now, parcel, packet);
        }
        self.agenda.set(first, next_event(link));
    }

    /// Brings every link up to `now`, so that queues and counters tell of that time.
    pub(crate) fn advance(&mut self, now: Time) {
        for link in &mut self.links {
            link.advance(now);
        }
    }

    /// The link of the configuration with this index.
    pub(crate) fn link(&self, index: usize) -> Option<&Link<Packet>> {
        self.links.get(index).filter(|_| index < self.configured)
    }

    /// When something next comes out of a link, or may.
    #[inline]
    pub(crate) fn next_at(&self) -> Time {
        self.agenda.next_at()
    }

    /// The link that [`Network::next_at`] is about.
    #[inline]
    pub(crate) fn next(&mut self) -> Option<usize> {
        self.agenda.first()
    }

    /// What comes out of `link` next, unless something overtakes it.
    #[inline]
    pub(crate) fn upcoming(&self, link: usize) -> Option<&Packet> {
        self.links.get(link)?.upcoming()
    }

    /// What next comes out of the link `from` at `now`; to be called until there is nothing. Packets that have further
    /// links before them enter the next one.
    #[inline]
    pub(crate) fn receive(&mut self, now: Time, from: usize) -> Option<Out> {
        loop {
            let link = self.links.get_mut(from)?;
            let Some(arrival) = link.receive(now) else {
                self.agenda.set(from, next_event(link));
                return None;
            };
            debug_assert_eq!(arrival.at, now, "a link was looked at too late");
            let mut packet = arrival.packet;
            let way = self.ways.get(packet.way.0 as usize)?;
            let Some(&next) = way.get(packet.hop as usize) else {
                return Some(Out::Arrived(packet, arrival.ecn == Ecn::Marked));
            };
            packet.hop += 1;
            let link = self.links.get_mut(next)?;
            let parcel = Parcel {
                size: arrival.size,
                flow: u64::from(packet.serial),
                ecn: arrival.ecn,
            };
            link.send(now, parcel, packet);
            self.agenda.set(next, next_event(link));
            if let Some(host) = self.nic_of.get(from).copied().flatten() {
                return Some(Out::Departed(host));
            }
        }
    }
}

/// When a link is to be asked for packets.
#[inline]
fn next_event(link: &Link<Packet>) -> Time {
    link.next_event().unwrap_or(Time::MAX)
}
