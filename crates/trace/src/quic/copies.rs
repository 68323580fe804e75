//! Finds datagrams that were captured twice: at several interfaces, or at both ends.
//!
//! No two QUIC packets are equal: each has another packet number, which its encryption depends on (RFC 9001, section 5.3).

use std::hash::{BuildHasher, Hasher};

use connection::memory::Room;
use hashbrown::{DefaultHashBuilder, HashSet};

/// The number of datagrams in each of the two generations that are remembered, more than are on their way at once.
const MAX_GENERATION: usize = 1024;

/// The same when memory is short.
const MAX_GENERATION_WHEN_SHORT: usize = 16;

/// A shorter datagram cannot be a QUIC packet (RFC 9000, section 10.3).
pub const MIN_PACKET_BYTES: usize = 21;

/// The bytes of a datagram that are compared.
const MAX_COMPARED_BYTES: usize = 64;

/// The recent datagrams.
#[derive(Debug, Default)]
pub struct Copies {
    hash: DefaultHashBuilder,
    present: HashSet<u64>,
    before: HashSet<u64>,
}

impl Copies {
    /// True if this datagram, in an IP packet with this identification, is a copy.
    #[inline]
    pub fn is_one(&mut self, id: u16, data: &[u8], room: Room) -> bool {
        let mut hasher = self.hash.build_hasher();
        hasher.write(&data[..data.len().min(MAX_COMPARED_BYTES)]);
        hasher.write_u16(id);
        let print = hasher.finish();
        if self.before.contains(&print) || !self.present.insert(print) {
            return true;
        }
        let most = match room {
            Room::Plenty => MAX_GENERATION,
            Room::Little => MAX_GENERATION_WHEN_SHORT,
        };
        if self.present.len() >= most {
            self.before = std::mem::take(&mut self.present);
        }
        false
    }

    /// The number of bytes that they hold.
    pub fn held(&self) -> usize {
        self.present.allocation_size() + self.before.allocation_size()
    }

    pub fn thin(&mut self) {
        *self = Copies::default();
    }
}
