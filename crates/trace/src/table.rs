//! The connections of a capture: a bounded number of them, in bounded memory.

use capture::packet::{Endpoint, Packet, Segment};
use connection::memory::{Holder, Memory, Room};
use connection::{Connection, Turn};
use hashbrown::HashMap;
use units::Duration;

use crate::hosts::Hosts;

/// The most connections that are kept, closed ones included.
pub const MAX_CONNECTIONS: usize = 100_000;

/// When there are too many connections, one in this many is dropped: those with the least payload.
const DROP_DIVISOR: usize = 10;

/// A connection is closed after this long without a packet, because NATs forget it then (RFC 5382, section 5).
const IDLE_TIMEOUT: Duration = Duration::from_secs(2 * 3600 + 4 * 60);

/// The ends of a connection, sorted.
type Key = [Endpoint; 2];

/// Connections, found by their ends.
#[derive(Default)]
pub struct Table {
    /// The indices of the open connections.
    places: HashMap<Key, usize>,
    connections: Vec<Option<Box<Connection>>>,
    free: Vec<usize>,
    /// Connections that were dropped because there were too many.
    evicted: u64,
    /// The ends of the latest packet, in either order, and its connection's index.
    latest: Option<([Endpoint; 2], usize)>,
    /// Who has sent the latest numbers.
    hosts: Hosts,
}

fn key(ends: [Endpoint; 2]) -> Key {
    let [one, other] = ends;
    if one <= other { ends } else { [other, one] }
}

impl Table {
    /// Takes in a TCP segment.
    #[inline]
    pub fn on_segment(&mut self, packet: &Packet<'_>, segment: &Segment, memory: &mut Memory) {
        let ends = [packet.from, packet.to];
        // Packets of one connection often come together.
        let is_latest =
            |latest: [Endpoint; 2]| latest == ends || latest == [packet.to, packet.from];
        let place = match self.latest {
            Some((latest, place)) if is_latest(latest) => Some(place),
            _ => self.places.get(&key(ends)).copied(),
        };
        let turn = place.map_or(Turn::New, |place| self.turn(place, packet, segment));
        if let (Some(place), Turn::Held | Turn::Next(_)) = (place, &turn) {
            self.count(place, memory);
        }
        let place = match (place, turn) {
            (Some(place), Turn::Same) => place,
            (Some(_), Turn::Held) => return,
            (_, Turn::Next(next)) => self.open(key(ends), next, memory),
            _ => {
                let new = Box::new(Connection::new(packet, segment));
                self.open(key(ends), new, memory)
            }
        };
        self.latest = Some((ends, place));
        if let Some(connection) = self.connections.get_mut(place).and_then(Option::as_mut) {
            let packets = connection.packets_in(packet, segment);
            if self.hosts.on_packet(packet, place, packets) {
                connection.on_number_of_other(packet);
            }
            connection.on_packet(packet, segment, memory.room());
            if connection.is_to_be_counted() {
                memory.count(connection.as_mut());
            }
        }
    }

    /// All connections, and how many were dropped.
    pub fn into_connections(self) -> (impl Iterator<Item = Box<Connection>>, u64) {
        let mut connections = self.connections;
        for one in connections.iter_mut().flatten() {
            one.release(Room::Plenty);
        }
        (connections.into_iter().flatten(), self.evicted)
    }

    pub fn all(&mut self) -> impl Iterator<Item = &mut Connection> {
        let there = self.connections.iter_mut().flatten();
        there.map(Box::as_mut)
    }

    /// Which connection between the ends of this one the segment belongs to.
    #[inline]
    fn turn(&mut self, place: usize, packet: &Packet<'_>, segment: &Segment) -> Turn {
        match self.connections.get_mut(place).and_then(Option::as_mut) {
            Some(connection) if packet.at.since(connection.last) <= IDLE_TIMEOUT => {
                connection.turn(packet, segment)
            }
            _ => Turn::New,
        }
    }

    /// A connection has another one within it that may have begun, or no longer has.
    #[cold]
    fn count(&mut self, place: usize, memory: &mut Memory) {
        if let Some(connection) = self.connections.get_mut(place).and_then(Option::as_mut) {
            memory.count(connection.as_mut());
        }
    }

    /// The index of a new connection. An earlier connection with these ends is over.
    fn open(&mut self, key: Key, connection: Box<Connection>, memory: &mut Memory) -> usize {
        let place = self.keep(connection, memory);
        self.places.insert(key, place);
        place
    }

    /// Adds a connection that has no further packets, or whose ends are told by the caller. Returns its index.
    pub fn keep(&mut self, connection: Box<Connection>, memory: &mut Memory) -> usize {
        if self.connections.len() - self.free.len() >= MAX_CONNECTIONS {
            self.make_room(memory);
        }
        let connection = Some(connection);
        match self.free.pop() {
            Some(place) => {
                self.connections[place] = connection;
                place
            }
            None => {
                self.connections.push(connection);
                self.connections.len() - 1
            }
        }
    }

    /// Drops the connections with the least payload; among equals, the one that has been silent for longest.
    pub fn make_room(&mut self, memory: &mut Memory) {
        let weight = |connection: &Connection| (connection.payload(), connection.last);
        let places = self.connections.iter().enumerate();
        let mut all: Vec<_> = places
            .filter_map(|(place, connection)| Some((weight(connection.as_deref()?), place)))
            .collect();
        let gone = all.len().div_ceil(DROP_DIVISOR);
        if gone < all.len() {
            all.select_nth_unstable(gone);
        }
        for (_, place) in all.drain(..gone) {
            let Some(connection) = self.connections[place].take() else {
                continue;
            };
            let key = key(connection.ends);
            if self.places.get(&key) == Some(&place) {
                self.places.remove(&key);
            }
            memory.release(connection.counted());
            self.free.push(place);
            self.evicted += 1;
        }
        self.latest = None;
        memory.wait();
    }
}
