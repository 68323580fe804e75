//! Datagrams that were captured twice: at several interfaces, or at both ends.
//!
//! No two packets of QUIC are alike: each has another number, and is encrypted with it (RFC 9001, section 5.3).

use std::hash::{BuildHasher, Hasher};

use hashbrown::{DefaultHashBuilder, HashSet};

use crate::connection::Room;

/// Two generations of so many are remembered: more than are on their way.
const GENERATION: usize = 1024;

/// And so many if there is little memory.
const FEW: usize = 16;

/// Less than this is no packet of QUIC (RFC 9000, section 10.3).
const LEAST: usize = 21;

/// So much of each is looked at.
const MOST: usize = 64;

/// The datagrams of late.
#[derive(Debug, Default)]
pub struct Copies {
    hash: DefaultHashBuilder,
    present: HashSet<u64>,
    before: HashSet<u64>,
}

impl Copies {
    /// Whether this datagram, in an IP packet of this number, passes once more.
    #[inline]
    pub fn is_one(&mut self, id: u16, data: &[u8], room: Room) -> bool {
        if data.len() < LEAST {
            return false;
        }
        let mut hasher = self.hash.build_hasher();
        hasher.write(&data[..data.len().min(MOST)]);
        hasher.write_u16(id);
        let print = hasher.finish();
        if self.before.contains(&print) || !self.present.insert(print) {
            return true;
        }
        let most = match room {
            Room::Plenty => GENERATION,
            Room::Little => FEW,
        };
        if self.present.len() >= most {
            self.before = std::mem::take(&mut self.present);
        }
        false
    }

    /// How many bytes they take.
    pub fn held(&self) -> usize {
        self.present.allocation_size() + self.before.allocation_size()
    }

    /// Forgets them.
    pub fn thin(&mut self) {
        *self = Copies::default();
    }
}
