//! Finds acknowledgements that were captured twice: at several interfaces, or at both ends.
//!
//! A receiver sends two equal acknowledgements if it has nothing new to say. Their IP identifications then differ. Without
//! identifications, only their timestamps can.

use std::collections::VecDeque;
use std::hash::BuildHasher;

use capture::packet::Segment;
use hashbrown::DefaultHashBuilder;

use crate::memory::Room;

/// The number of acknowledgements that are remembered: more than pass between a packet at one interface and at the next. The
/// greater number is for captures in which data have copies, as from both ends.
const MAX_ACKS: usize = 8;
const MAX_ACKS_WITH_COPIES: usize = 512;

/// The latest acknowledgements.
#[derive(Debug, Clone, Default)]
pub struct AckCopies {
    hash: DefaultHashBuilder,
    latest: VecDeque<u64>,
}

impl AckCopies {
    /// True if this acknowledgement, in an IP packet with this identification, is a copy. `has_copies`: whether data were captured
    /// twice. Timestamps alone do not tell acknowledgements of the same millisecond apart, so they count only then.
    #[inline]
    pub fn is_copy(&mut self, id: u16, segment: &Segment, room: Room, has_copies: bool) -> bool {
        let stamps = segment.timestamps;
        if id == 0 && (stamps.is_none() || !has_copies) {
            return false;
        }
        let numbers = (segment.seq, segment.ack, segment.window, segment.len);
        let print = self
            .hash
            .hash_one((id, stamps, numbers, segment.sack_blocks()));
        if self.latest.contains(&print) {
            return true;
        }
        let most = match room {
            Room::Plenty if has_copies => MAX_ACKS_WITH_COPIES,
            _ => MAX_ACKS,
        };
        while self.latest.len() >= most {
            self.latest.pop_front();
        }
        self.latest.push_back(print);
        false
    }

    /// The bytes that this list holds.
    #[inline]
    pub fn held(&self) -> usize {
        self.latest.capacity() * size_of::<u64>()
    }

    /// Forgets all acknowledgements.
    pub fn thin(&mut self) {
        *self = AckCopies::default();
    }
}
