//! The latest packet from each host to each other, to find counters that all connections between two hosts share: Windows
//! and old kernels of Linux number packets so (IP identification).

use std::net::IpAddr;

use capture::packet::Packet;

/// Pairs of hosts that are remembered, and the bits of their places. Pairs with the same place forget each other.
const INDEX_BITS: u32 = 10;

/// Spreads addresses over the places (Knuth, "The Art of Computer Programming", volume 3, section 6.4).
const HASH_FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

#[derive(Debug, Clone, Copy, Default)]
struct Latest {
    /// The addresses.
    hosts: u64,
    /// The connection, and the number after that of its packet.
    connection: usize,
    next: u16,
}

/// The latest packets.
#[derive(Debug)]
pub struct Hosts {
    latest: Box<[Latest]>,
}

impl Default for Hosts {
    fn default() -> Hosts {
        Hosts {
            latest: vec![Latest::default(); 1 << INDEX_BITS].into(),
        }
    }
}

impl Hosts {
    /// Takes in a packet of a connection. Returns whether its number directly follows that of the latest packet between these
    /// hosts, which is of another connection. `count` is the number of packets that a segment is made of.
    #[inline]
    pub fn on_packet(&mut self, packet: &Packet<'_>, connection: usize, count: u64) -> bool {
        let (IpAddr::V4(from), IpAddr::V4(to)) = (packet.from.address, packet.to.address) else {
            return false;
        };
        let hosts = u64::from(from.to_bits()) << 32 | u64::from(to.to_bits());
        let place = usize::try_from(hosts.wrapping_mul(HASH_FACTOR) >> (u64::BITS - INDEX_BITS));
        let Some(latest) = place.ok().and_then(|place| self.latest.get_mut(place)) else {
            return false;
        };
        let is_other = latest.hosts == hosts && latest.connection != connection;
        let follows = is_other && latest.next == packet.id && packet.id != 0;
        #[expect(clippy::cast_possible_truncation, reason = "the numbers wrap")]
        let count = count as u16;
        *latest = Latest {
            hosts,
            connection,
            next: packet.id.wrapping_add(count),
        };
        follows
    }
}
