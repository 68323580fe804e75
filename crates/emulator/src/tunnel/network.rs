//! The links of a thread, and the routes over them.

use std::collections::HashMap;
use std::net::IpAddr;
use std::ops::Range;

use path::{Agenda, Capacity, Change, Ecn, Link, LinkConfig, Mtu, Parcel, Queued};
use units::{Bytes, Time};

use super::config::{Direction, Hop, Way};
use super::error::TunnelError;
use super::frame::Frame;
use crate::counters::DirectionCounters;

/// Segments of a frame that are one packet to a link.
#[derive(Debug, Clone)]
pub(crate) struct Packet {
    pub(crate) frame: Frame,
    pub(crate) segments: Range<u32>,
    route: u32,
    /// The number of links of the route that it has entered.
    hop: u32,
    /// True if a link has damaged it. It is a single segment, since links that only delay damage nothing.
    pub(crate) corrupted: bool,
}

impl Packet {
    /// The packets that this is on the wire, beyond one, and their bytes beyond those of its parcel.
    fn within(&self) -> (u64, u64) {
        let layout = self.frame.layout();
        let bytes = layout.wire_size(&self.segments) - layout.size(&self.segments);
        (self.segments.len() as u64 - 1, bytes as u64)
    }

    fn parcel(&self, ecn: Ecn) -> Parcel {
        let layout = self.frame.layout();
        Parcel {
            size: Bytes::new(layout.size(&self.segments) as u64),
            flow: layout.flow,
            ecn,
        }
    }
}

/// A packet at the end of its route.
#[derive(Debug)]
pub(crate) struct Departure {
    pub(crate) packet: Packet,
    /// The time of its arrival there.
    pub(crate) at: Time,
    /// Its ECN codepoint, as sent or as marked by a link.
    pub(crate) ecn: Ecn,
    /// The last link, if there was one.
    pub(crate) from: Option<usize>,
    /// The index of its way.
    pub(crate) way: usize,
}

/// A route by indices.
#[derive(Debug)]
struct Line {
    links: Box<[usize]>,
    /// The position in the route of the first link that does more than delay. Large packets are divided before it.
    cut: usize,
    /// The index of its way.
    way: usize,
}

/// A way into a [`Network`]: its own links, and the routes that its packets can take.
#[derive(Debug)]
struct Entrance {
    /// The way's own links.
    links: Range<usize>,
    /// The route of packets whose destination no route has.
    usual: u32,
    /// The routes by their destinations.
    by_destination: HashMap<IpAddr, u32>,
}

/// All links of one direction, or of both directions if these share routes. The index of a way is its position in the
/// configuration. Every call passes the links' time, which never goes back.
#[derive(Debug)]
pub(crate) struct Network {
    links: Vec<Link<Packet>>,
    /// Counters in addition to the links' own.
    counters: Vec<DirectionCounters>,
    lines: Vec<Line>,
    entrances: Vec<Entrance>,
    agenda: Agenda,
    /// Packets that exceeded an MTU since the last call of [`Network::too_big()`].
    too_big: Vec<TooBig>,
}

/// A packet that was dropped because it exceeded a link's MTU.
#[derive(Debug)]
pub(crate) struct TooBig {
    pub(crate) frame: Frame,
    pub(crate) segments: Range<u32>,
    pub(crate) mtu: Mtu,
    /// The index of its way.
    pub(crate) way: usize,
}

/// Returns the seed of a link. The links are numbered as those of a simulation's hops, so that both draw the same
/// losses.
fn seed_of(seed: u64, direction: Direction, link: usize) -> u64 {
    let hop = link as u64 * 2;
    match direction {
        Direction::Forward => path::link_seed(seed, hop),
        Direction::Reverse => path::link_seed(seed, hop + 1),
    }
}

impl Network {
    /// Makes empty links for one way, or for both.
    ///
    /// # Errors
    /// A way is invalid.
    pub(crate) fn new(ways: Vec<(Direction, Way)>, seed: u64) -> Result<Network, TunnelError> {
        let mut links = Vec::new();
        let mut passive = Vec::new();
        let mut own = Vec::new();
        let mut routes = Vec::new();
        for (direction, way) in ways {
            let first = links.len();
            passive.extend(way.links.iter().map(only_delays));
            for (link, config) in way.links.into_iter().enumerate() {
                let made = Link::new(config, seed_of(seed, direction, link));
                links.push(made.map_err(|source| TunnelError::Link {
                    direction,
                    link,
                    source,
                })?);
            }
            own.push((direction, first..links.len()));
            routes.push(way.routes);
        }
        let mut lines = Vec::new();
        let mut entrances = Vec::new();
        for (way, routes) in routes.into_iter().enumerate() {
            let (direction, _) = own[way];
            if routes.is_empty() {
                return Err(TunnelError::NoRoute { direction });
            }
            let usual = lines.len() as u32;
            let mut by_destination = HashMap::new();
            for (number, (route, index)) in routes.into_iter().zip(usual..).enumerate() {
                for address in route.to {
                    if by_destination.insert(address, index).is_some() {
                        return Err(TunnelError::SameDestination { direction, address });
                    }
                }
                let hops = route.links.into_iter();
                let hops = hops.map(|hop| place_of(hop, direction, number, &own));
                let hops = hops.collect::<Result<Box<[usize]>, _>>()?;
                let is_passive = |link: &&usize| passive.get(**link) == Some(&true);
                lines.push(Line {
                    cut: hops.iter().take_while(is_passive).count(),
                    links: hops,
                    way,
                });
            }
            entrances.push(Entrance {
                links: own[way].1.clone(),
                usual,
                by_destination,
            });
        }
        Ok(Network {
            agenda: Agenda::new(links.len()),
            counters: vec![DirectionCounters::default(); links.len()],
            links,
            lines,
            entrances,
            too_big: Vec::new(),
        })
    }

    /// Lets a frame enter its route over a way. If the route has no links, the frame leaves at once.
    pub(crate) fn enter(&mut self, now: Time, way: usize, frame: Frame) -> Option<Departure> {
        let layout = frame.layout();
        let entrance = self.entrances.get(way)?;
        let route = entrance.by_destination.get(&layout.destination);
        let packet = Packet {
            route: route.copied().unwrap_or(entrance.usual),
            hop: 0,
            corrupted: false,
            segments: 0..layout.segments(),
            frame,
        };
        let ecn = packet.frame.layout().ecn;
        self.forward(now, packet, ecn, None)
    }

    /// The latest time by which the next packet may reach the end of a link; [`Time::MAX`] if there is none.
    pub(crate) fn next_at(&self) -> Time {
        self.agenda.next_at()
    }

    /// Returns the next packet that has reached the end of its route by `now`. Call it until there is none. Links pass
    /// packets on at their own exact times, in the order of these times.
    pub(crate) fn next(&mut self, now: Time) -> Option<Departure> {
        loop {
            let at = self.agenda.next_at();
            if at > now {
                return None;
            }
            let from = self.agenda.first()?;
            let link = self.links.get_mut(from)?;
            let arrival = link.receive(at);
            self.agenda.set(from, next_event(link));
            if let Some(arrival) = arrival {
                debug_assert_eq!(arrival.at, at, "a link was looked at too late");
                let counters = self.counters.get_mut(from)?;
                counters.count_release(&arrival, now);
                let (packets, bytes) = arrival.packet.within();
                counters.arrive_within(packets, bytes);
                let mut packet = arrival.packet;
                packet.corrupted |= arrival.corrupted;
                let departure = self.forward(at, packet, arrival.ecn, Some(from));
                if departure.is_some() {
                    return departure;
                }
            }
        }
    }

    /// Advances every link to `now`, but no further than to the next event: a link that is ahead of it would hand over
    /// packets that arrive later.
    pub(crate) fn advance(&mut self, now: Time) {
        let now = now.min(self.agenda.next_at());
        for link in &mut self.links {
            link.advance(now);
        }
    }

    /// Takes the packets that exceeded a link's MTU since the last call: one of each frame.
    pub(crate) fn too_big(&mut self) -> impl Iterator<Item = TooBig> {
        self.too_big.drain(..)
    }

    /// Counts packets that the system refused after they had crossed this link.
    pub(crate) fn count_send_errors(&mut self, link: usize, packets: u64) {
        if let Some(counters) = self.counters.get_mut(link) {
            counters.send_errors += packets;
        }
    }

    /// The waiting packets and the counters of each of a way's own links.
    pub(crate) fn observe(&self, way: usize) -> impl Iterator<Item = (DirectionCounters, Queued)> {
        let own = self.entrances.get(way).map(|way| way.links.clone());
        let observed = self.links.iter().zip(&self.counters);
        let Range { start, end } = own.unwrap_or_default();
        observed.take(end).skip(start).map(|(link, own)| {
            let mut counters = *own;
            counters.add(&link.counters());
            (counters, link.queued())
        })
    }

    /// Lets a packet from a link or from outside enter the next link, divided if necessary.
    fn forward(
        &mut self,
        at: Time,
        mut packet: Packet,
        ecn: Ecn,
        from: Option<usize>,
    ) -> Option<Departure> {
        let line = self.lines.get(packet.route as usize)?;
        let Some(&next) = line.links.get(packet.hop as usize) else {
            return Some(Departure {
                packet,
                at,
                ecn,
                from,
                way: line.way,
            });
        };
        let is_cut = packet.hop as usize == line.cut;
        packet.hop += 1;
        let link = self.links.get_mut(next)?;
        // No segment of a large packet is larger than the first.
        let first = if is_cut {
            packet.segments.start..packet.segments.start + 1
        } else {
            packet.segments.clone()
        };
        let size = Bytes::new(packet.frame.layout().size(&first) as u64);
        link.advance(at);
        if let Some(mtu) = link.mtu().filter(|mtu| size > mtu.bytes()) {
            self.too_big.push(TooBig {
                frame: packet.frame.clone(),
                segments: first,
                mtu,
                way: line.way,
            });
        }
        if is_cut && packet.segments.len() > 1 {
            for segment in packet.segments.clone() {
                let packet = Packet {
                    segments: segment..segment + 1,
                    ..packet.clone()
                };
                link.send(at, packet.parcel(ecn), packet);
            }
        } else {
            let (packets, bytes) = packet.within();
            self.counters.get_mut(next)?.enter_within(packets, bytes);
            link.send(at, packet.parcel(ecn), packet);
        }
        self.agenda.set(next, next_event(link));
        None
    }
}

/// The index of a hop's link among all links, of which each direction has its own.
fn place_of(
    hop: Hop,
    direction: Direction,
    route: usize,
    own: &[(Direction, Range<usize>)],
) -> Result<usize, TunnelError> {
    let (of, link) = match hop {
        Hop::Own(link) => (direction, link),
        Hop::Opposite(link) => (direction.opposite(), link),
    };
    let links = own.iter().find(|(direction, _)| *direction == of);
    let links = links.map(|(_, links)| links.clone()).unwrap_or_default();
    if link >= links.len() {
        return Err(TunnelError::UnknownLink {
            direction,
            route,
            of,
            link,
            links: links.len(),
        });
    }
    Ok(links.start + link)
}

/// The time at which a link must be asked for packets.
fn next_event(link: &Link<Packet>) -> Time {
    link.next_event().unwrap_or(Time::MAX)
}

/// True if a link only delays packets, which is the same for a large packet and for its segments.
fn only_delays(link: &LinkConfig) -> bool {
    let delay = LinkConfig {
        capacity: Capacity::Unlimited,
        delay: link.delay,
        changes: link.changes.clone(),
        ..LinkConfig::default()
    };
    let only_delays = |change: &Change| change.rate.is_none() && change.mtu.is_none();
    *link == delay && link.changes.iter().all(only_delays)
}

#[cfg(test)]
mod tests {
    use std::os::fd::OwnedFd;
    use std::os::unix::net::UnixDatagram;

    use etherparse::PacketBuilder;
    use path::{Distribution, Effects, Jitter};
    use units::Duration;

    use super::super::frame::{Inbox, Received};
    use super::*;

    /// A frame with one packet.
    fn frame() -> Frame {
        let (kernel, device) = UnixDatagram::pair().unwrap();
        let mut bytes = vec![0; 10];
        let packet = PacketBuilder::ipv4([10, 0, 1, 1], [10, 0, 0, 1], 64).udp(1000, 2000);
        packet.write(&mut bytes, b"payload").unwrap();
        kernel.send(&bytes).unwrap();
        let received = Inbox::new().read(OwnedFd::from(device)).unwrap();
        let Received::Frame(frame) = received else {
            panic!("no frame");
        };
        frame
    }

    #[test]
    fn who_looks_at_the_links_late_changes_no_arrival() {
        let jittery = LinkConfig {
            capacity: Capacity::Rate("8mbit".parse().unwrap()),
            delay: Duration::from_millis(5),
            effects: Effects {
                jitter: Some(Jitter {
                    up_to: Duration::from_millis(3),
                    reorders: false,
                    distribution: Distribution::Uniform,
                }),
                ..Effects::default()
            },
            ..LinkConfig::default()
        };
        let arrivals = |looks: bool| {
            let way = Way::single(jittery.clone());
            let mut network = Network::new(vec![(Direction::Forward, way)], 1).unwrap();
            let frame = frame();
            let mut arrivals = Vec::new();
            for step in 0..200 {
                let now = Time::ZERO + Duration::from_millis(step);
                arrivals.extend(std::iter::from_fn(|| network.next(now)).map(|it| it.at));
                assert!(network.enter(now, 0, frame.clone()).is_none());
                if looks {
                    network.advance(now + Duration::from_micros(900));
                }
            }
            arrivals
        };
        assert_eq!(arrivals(true), arrivals(false));
        assert!(arrivals(true).len() > 150);
    }
}
