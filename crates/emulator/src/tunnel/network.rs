//! The links of one direction, and the routes over them.

use std::collections::HashMap;
use std::net::IpAddr;
use std::ops::Range;

use path::{Agenda, Capacity, Change, Ecn, Link, LinkConfig, Mtu, Parcel, Queued};
use units::{Bytes, Time};

use super::config::{Direction, Way};
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
}

/// A route by indices.
#[derive(Debug)]
struct Line {
    links: Box<[usize]>,
    /// The position in the route of the first link that does more than delay. Large packets are divided before it.
    cut: usize,
}

/// All links of a direction. Each call has the links' time, which never goes back.
#[derive(Debug)]
pub(crate) struct Network {
    links: Vec<Link<Packet>>,
    /// Counters in addition to the links' own.
    counters: Vec<DirectionCounters>,
    lines: Vec<Line>,
    /// The routes by their destinations.
    by_destination: HashMap<IpAddr, u32>,
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
    /// Makes empty links.
    ///
    /// # Errors
    /// `way` is invalid.
    pub(crate) fn new(way: Way, direction: Direction, seed: u64) -> Result<Network, TunnelError> {
        let passive = way.links.iter().map(only_delays).collect::<Vec<_>>();
        let links = way
            .links
            .into_iter()
            .enumerate()
            .map(|(index, link)| {
                Link::new(link, seed_of(seed, direction, index)).map_err(|source| {
                    TunnelError::Link {
                        direction,
                        link: index,
                        source,
                    }
                })
            })
            .collect::<Result<Vec<_>, _>>()?;
        if way.routes.is_empty() {
            return Err(TunnelError::NoRoute { direction });
        }
        let mut lines = Vec::new();
        let mut by_destination = HashMap::new();
        for (route, index) in way.routes.into_iter().zip(0..) {
            if let Some(link) = route.links.iter().find(|link| **link >= links.len()) {
                return Err(TunnelError::UnknownLink {
                    direction,
                    route: lines.len(),
                    link: *link,
                    links: links.len(),
                });
            }
            for address in route.to {
                if by_destination.insert(address, index).is_some() {
                    return Err(TunnelError::SameDestination { direction, address });
                }
            }
            let cut = route
                .links
                .iter()
                .take_while(|link| passive.get(**link) == Some(&true))
                .count();
            lines.push(Line {
                links: route.links.into(),
                cut,
            });
        }
        Ok(Network {
            agenda: Agenda::new(links.len()),
            counters: vec![DirectionCounters::default(); links.len()],
            links,
            lines,
            by_destination,
            too_big: Vec::new(),
        })
    }

    /// Lets a frame enter its route. If the route has no links, the frame leaves at once.
    pub(crate) fn enter(&mut self, now: Time, frame: Frame) -> Option<Departure> {
        let layout = frame.layout();
        let route = self.by_destination.get(&layout.destination);
        let packet = Packet {
            route: route.copied().unwrap_or(0),
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
                self.counters.get_mut(from)?.count_release(&arrival, now);
                let mut packet = arrival.packet;
                packet.corrupted |= arrival.corrupted;
                let departure = self.forward(at, packet, arrival.ecn, Some(from));
                if departure.is_some() {
                    return departure;
                }
            }
        }
    }

    /// Advances every link to `now`, after everything that was due is done.
    pub(crate) fn advance(&mut self, now: Time) {
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

    /// The waiting packets and the counters of each link.
    pub(crate) fn observe(&self) -> impl Iterator<Item = (DirectionCounters, Queued)> {
        self.links.iter().zip(&self.counters).map(|(link, own)| {
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
            link.send(at, packet.parcel(ecn), packet);
        }
        self.agenda.set(next, next_event(link));
        None
    }
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
