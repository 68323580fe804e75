//! The QUIC connections of a capture, in bounded memory. They are found by their ends, and by their connection IDs after a
//! migration and where several have the same ends.

use std::sync::PoisonError;

use capture::packet::{Endpoint, Packet};
use capture::quic::wire::{Header, Id, Kind};
use capture::read::Secrets;
use connection::memory::Memory;
use hashbrown::{HashMap, HashSet};

use super::connection::QuicConnection;

/// The most connections that are kept.
const MAX_CONNECTIONS: usize = 100_000;

/// The most connection IDs that are kept.
const MAX_IDS: usize = 4 * MAX_CONNECTIONS;

/// The bytes of a connection ID that no other bytes equal by chance.
const MIN_TELLING_ID_BYTES: usize = 4;

/// The port of HTTP/3. It identifies QUIC if only short headers were captured.
const HTTP3_PORT: u16 = 443;

#[derive(Default)]
pub struct Table {
    /// The latest connection between these ends.
    places: HashMap<[Endpoint; 2], usize>,
    /// The ends that several connections have had.
    shared: HashSet<[Endpoint; 2]>,
    /// The connection and the side that a connection ID leads to.
    ids: HashMap<Id, (usize, usize)>,
    /// The lengths of these IDs, as bits.
    lengths: u32,
    connections: Vec<QuicConnection>,
    /// Connections that are ignored because there are too many.
    pub left_out: u64,
    /// Datagrams that were captured in part, although there are secrets that could have opened them.
    pub cut: u64,
    /// The secrets of the key logs.
    pub secrets: Secrets,
    latest: Option<([Endpoint; 2], usize)>,
}

fn key([one, other]: [Endpoint; 2]) -> [Endpoint; 2] {
    if one <= other {
        [one, other]
    } else {
        [other, one]
    }
}

impl Table {
    /// Takes in a datagram. Returns whether it is a QUIC datagram.
    #[inline]
    pub fn on_datagram(
        &mut self,
        packet: &Packet<'_>,
        len: u32,
        data: &[u8],
        memory: &mut Memory,
    ) -> bool {
        let Some(header) = Header::parse(data) else {
            return false;
        };
        let key = key([packet.from, packet.to]);
        let place = match self.latest {
            Some((latest, place)) if latest == key => Some(place),
            _ => self.places.get(&key).copied(),
        };
        let place = place.and_then(|place| self.of_shared(place, key, packet, data, &header));
        let Some(place) = place.or_else(|| self.find(packet, key, data, &header)) else {
            return false;
        };
        self.latest = Some((key, place));
        let Some(connection) = self.connections.get_mut(place) else {
            return false;
        };
        if data.len() < len as usize {
            let secrets = self.secrets.lock().unwrap_or_else(PoisonError::into_inner);
            self.cut += u64::from(!secrets.is_empty());
        }
        let room = memory.room();
        let ids = connection.on_datagram(packet, len, data, header, &self.secrets, room);
        memory.count(connection);
        for (id, side) in ids {
            if self.ids.len() < MAX_IDS {
                self.lengths |= 1 << id.len();
                self.ids.insert(id, (place, side));
            }
        }
        true
    }

    /// The connection of a packet between ends that this connection has, and perhaps others; `None` if it begins another one.
    #[inline]
    fn of_shared(
        &mut self,
        mut place: usize,
        ends: [Endpoint; 2],
        packet: &Packet<'_>,
        data: &[u8],
        header: &Header<'_>,
    ) -> Option<usize> {
        if !self.shared.is_empty() && self.shared.contains(&ends) {
            let found = self.by_id(data, header).map(|(place, _)| place);
            let is_here = |place: &usize| {
                let found = self.connections.get(*place);
                found.is_some_and(|one| key(one.present) == ends)
            };
            place = found.filter(is_here).unwrap_or(place);
        }
        if let Header::Long(long, _) = header
            && self.connections.get(place)?.is_another(packet, long)
        {
            self.shared.insert(ends);
            return None;
        }
        Some(place)
    }

    /// The connection, and the side that the packet goes to, by connection IDs that cannot be equal by chance.
    fn by_id(&self, data: &[u8], header: &Header<'_>) -> Option<(usize, usize)> {
        match header {
            Header::Long(long, _) => {
                let known = |id: Id| Some(id).filter(|id| id.len() >= MIN_TELLING_ID_BYTES);
                let of = |id: Id| known(id).and_then(|id| self.ids.get(&id).copied());
                of(long.to).or_else(|| of(long.from).map(|(place, side)| (place, 1 - side)))
            }
            Header::Short(_) => {
                let lengths =
                    (MIN_TELLING_ID_BYTES..=20).filter(|length| self.lengths >> length & 1 != 0);
                let mut known = lengths.filter_map(|length| {
                    let id = Id::new(data.get(1..=length)?)?;
                    self.ids.get(&id).copied()
                });
                known.next()
            }
        }
    }

    /// The connection of a packet between unknown ends: one that has migrated, or a new one.
    fn find(
        &mut self,
        packet: &Packet<'_>,
        ends: [Endpoint; 2],
        data: &[u8],
        header: &Header<'_>,
    ) -> Option<usize> {
        if let Header::Short(_) = header
            && let Some((place, to)) = self.by_id(data, header)
        {
            let connection = self.connections.get_mut(place)?;
            let present = if to == 1 {
                [packet.from, packet.to]
            } else {
                [packet.to, packet.from]
            };
            // Packets between the previous ends may still be on their way. Older ends are forgotten.
            let before = std::mem::replace(&mut connection.present, present);
            if let Some(gone) = connection.before.replace(before)
                && self.places.get(&key(gone)) == Some(&place)
            {
                self.places.remove(&key(gone));
            }
            connection.migrations += 1;
            self.places.insert(ends, place);
            return Some(place);
        }
        let is_new = match header {
            Header::Long(long, _) => long.kind == Kind::Initial,
            Header::Short(_) => packet.from.port == HTTP3_PORT || packet.to.port == HTTP3_PORT,
        };
        if !is_new || !header.has_fixed_bit() {
            return None;
        }
        if self.connections.len() >= MAX_CONNECTIONS {
            self.left_out += 1;
            return None;
        }
        let place = self.connections.len();
        self.connections.push(QuicConnection::new(packet, header));
        self.places.insert(ends, place);
        Some(place)
    }

    pub fn all(&mut self) -> impl Iterator<Item = &mut QuicConnection> {
        self.connections.iter_mut()
    }

    /// All connections.
    pub fn into_connections(self) -> Vec<QuicConnection> {
        self.connections
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use units::{Duration, Time};

    use super::*;
    use capture::packet::Body;

    const ID: &[u8] = b"ABCDEFGH";

    /// A datagram from address `from` to the server, at this time in microseconds. Returns whether it is QUIC.
    fn say(table: &mut Table, memory: &mut Memory, at: u32, from: u32, data: &[u8]) -> bool {
        let end = |address: u32, port| Endpoint {
            address: Ipv4Addr::from_bits(address).into(),
            port,
        };
        let packet = Packet {
            at: Time::ZERO + Duration::from_micros(at.into()),
            from: end(from, 2_000),
            to: end(u32::MAX, 443),
            ip_len: 60,
            id: 0,
            is_marked: false,
            tunnel: None,
            body: Body::Udp {
                len: 32,
                payload: data,
            },
        };
        table.on_datagram(&packet, 32, data, memory)
    }

    #[test]
    fn a_client_that_moves_on_and_on_has_two_places() {
        let (mut table, mut memory) = (Table::default(), Memory::default());
        let mut say = |table: &mut Table, at, from, data: &[u8]| {
            assert!(say(table, &mut memory, at, from, data));
        };
        say(&mut table, 0, 0, &[&[0x40], ID].concat());
        table.lengths = 1 << ID.len();
        table.ids.insert(Id::new(ID).expect("short"), (0, 1));
        for address in 1_u32..1_000 {
            let data = |last: u8| [&[0x40], ID, &address.to_be_bytes(), &[last; 16]].concat();
            say(&mut table, address, address, &data(0));
            // Another packet from the previous address.
            say(&mut table, address, address - 1, &data(1));
        }
        assert_eq!(table.connections.len(), 1);
        assert_eq!(table.connections[0].migrations, 999);
        assert_eq!(table.connections[0].ways[0].datagrams, 1_000);
        assert_eq!(table.places.len(), 2);
    }
    #[test]
    fn only_a_known_connection_may_grease_the_fixed_bit() {
        let (mut table, mut memory) = (Table::default(), Memory::default());
        let mut is_quic = |from, data: &[u8]| say(&mut table, &mut memory, 0, from, data);
        assert!(!is_quic(1, &[0x00, 1]), "nothing shows that it is QUIC");
        assert!(is_quic(1, &[0x40, 2]));
        assert!(is_quic(1, &[0x00, 3]));
        assert!(!is_quic(2, &[0x00, 4]), "another client");
        // A client whose connection ID is known has moved.
        table.lengths = 1 << ID.len();
        table.ids.insert(Id::new(ID).expect("short"), (0, 1));
        assert!(say(&mut table, &mut memory, 1, 3, &[&[0x00], ID].concat()));
        assert_eq!(table.connections[0].ways[0].datagrams, 3);
    }
}
