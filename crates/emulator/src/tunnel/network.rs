//! The links of one way, and the routes over them.

use std::collections::HashMap;
use std::net::IpAddr;
use std::ops::Range;

use path::{Agenda, Capacity, Change, Ecn, Link, LinkConfig, Mtu, Parcel, Queued};
use units::{Bytes, Time};

use super::config::{Direction, Way};
use super::error::TunnelError;
use super::frame::Frame;
use crate::counters::DirectionCounters;

/// What travels: some segments of a frame, which are one packet to a link.
#[derive(Debug, Clone)]
pub(crate) struct Packet {
    pub(crate) frame: Frame,
    pub(crate) segments: Range<u32>,
    route: u32,
    /// How many links of the route it has entered.
    hop: u32,
    /// True if a link has damaged it. Links that only delay do not, so that it is a single segment.
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
    /// When it got there.
    pub(crate) at: Time,
    /// As it came, or marked on the way.
    pub(crate) ecn: Ecn,
    /// The last link, if there was one.
    pub(crate) from: Option<usize>,
}

/// A route, as packets see it.
#[derive(Debug)]
struct Line {
    links: Box<[usize]>,
    /// Large packets are cut before they enter the link of this turn: the first that does more than delay.
    cut: usize,
}

/// All links of a way. Time is that of the links: told with each call, and never backwards.
#[derive(Debug)]
pub(crate) struct Network {
    links: Vec<Link<Packet>>,
    /// What is counted beside the links' own counters.
    counters: Vec<DirectionCounters>,
    lines: Vec<Line>,
    /// The routes by their destinations.
    by_destination: HashMap<IpAddr, u32>,
    agenda: Agenda,
    /// What was larger than an MTU since this was last asked for.
    too_big: Vec<TooBig>,
}

/// A packet that was dropped since it was larger than a link's MTU.
#[derive(Debug)]
pub(crate) struct TooBig {
    pub(crate) frame: Frame,
    pub(crate) segments: Range<u32>,
    pub(crate) mtu: Mtu,
}

/// The seed of a link. Forward and back, the links count as a simulation counts those of its hops, so that both draw the
/// same losses.
fn seed_of(seed: u64, direction: Direction, link: usize) -> u64 {
    let hop = link as u64 * 2;
    match direction {
        Direction::Forward => path::link_seed(seed, hop),
        Direction::Reverse => path::link_seed(seed, hop + 1),
    }
}

impl Network {
    /// Empty links.
    ///
    /// # Errors
    /// What makes no sense in `way`.
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

    /// A frame sets out. If its route has no links, it is there at once.
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

    /// When the next packet gets to the end of a link, or may; [`Time::MAX`] if there is none.
    pub(crate) fn next_at(&self) -> Time {
        self.agenda.next_at()
    }

    /// The next packet that has got to the end of its route by `now`; to be called until there is none. Links hand over
    /// to each other at their own exact times, in their order.
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

    /// Brings every link up to `now`, by which all that was due is done.
    pub(crate) fn advance(&mut self, now: Time) {
        for link in &mut self.links {
            link.advance(now);
        }
    }

    /// What was too large for a link since the last call: one packet of each frame that came to it.
    pub(crate) fn too_big(&mut self) -> impl Iterator<Item = TooBig> {
        self.too_big.drain(..)
    }

    /// How many packets the system refused after they had crossed this link.
    pub(crate) fn count_send_errors(&mut self, link: usize, packets: u64) {
        if let Some(counters) = self.counters.get_mut(link) {
            counters.send_errors += packets;
        }
    }

    /// What waits on each link, and what has happened there.
    pub(crate) fn observe(&self) -> impl Iterator<Item = (DirectionCounters, Queued)> {
        self.links.iter().zip(&self.counters).map(|(link, own)| {
            let mut counters = *own;
            counters.add(&link.counters());
            (counters, link.queued())
        })
    }

    /// A packet that comes from a link, or from outside, enters the next one, cut if that is where it must be.
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
        // None of a large packet's segments is larger than the first.
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

/// When a link is to be asked for packets.
fn next_event(link: &Link<Packet>) -> Time {
    link.next_event().unwrap_or(Time::MAX)
}

/// True if all that a link ever does is to delay packets, which is the same for a large packet and for its segments.
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
