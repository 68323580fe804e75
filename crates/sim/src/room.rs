//! The room that packets have in memory.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What a simulation may hold and transmit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// The maximum of the packets that take memory: those on their way, and sent ones that are not acknowledged.
    pub packets: u64,
    /// The maximum of the packets that links, network cards and delays transmit.
    pub transmissions: u64,
}

/// Room for the packets of simulations. Those that share it hold no more packets together than it has room for.
#[derive(Debug)]
pub struct Room {
    bounds: Bounds,
    held: AtomicU64,
}

impl Room {
    /// Room within these bounds.
    pub fn new(bounds: Bounds) -> Arc<Room> {
        Arc::new(Room {
            bounds,
            held: AtomicU64::new(0),
        })
    }

    /// Room without an end.
    pub(crate) fn endless() -> Arc<Room> {
        Room::new(Bounds {
            packets: u64::MAX,
            transmissions: u64::MAX,
        })
    }
}

/// What of its bounds a simulation exceeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Excess {
    /// There are more packets, in all simulations that share the room.
    Packets {
        /// Their number.
        held: u64,
        /// The maximum.
        most: u64,
    },
    /// Links have transmitted more packets.
    Transmissions {
        /// Their number.
        count: u64,
        /// The maximum.
        most: u64,
    },
}

/// What a simulation takes of its room. It gives that back when it is dropped.
#[derive(Debug)]
pub(crate) struct Share {
    room: Arc<Room>,
    held: u64,
}

impl Share {
    pub(crate) fn of(room: Arc<Room>) -> Share {
        Share { room, held: 0 }
    }

    /// Replaces the packets that this share holds. If the room is exceeded, a share fails that has an equal part of the room or
    /// more: a small simulation does not fail for a large one, and those that go on never hold more than the room together.
    pub(crate) fn take(&mut self, packets: u64, transmissions: u64) -> Option<Excess> {
        let more = packets.wrapping_sub(self.held);
        let before = self.room.held.fetch_add(more, Ordering::Relaxed);
        self.held = packets;
        let held = before.wrapping_add(more);
        let Bounds {
            packets: most,
            transmissions: most_transmitted,
        } = self.room.bounds;
        let sharers = Arc::strong_count(&self.room) as u64;
        if held > most && packets.saturating_mul(sharers) >= most {
            return Some(Excess::Packets { held, most });
        }
        (transmissions > most_transmitted).then_some(Excess::Transmissions {
            count: transmissions,
            most: most_transmitted,
        })
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.room.held.fetch_sub(self.held, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_makes_room_for_others() {
        let room = Room::new(Bounds {
            packets: 100,
            transmissions: 10,
        });
        let [mut small, mut large] = [(); 2].map(|()| Share::of(Arc::clone(&room)));
        assert_eq!(large.take(90, 10), None);
        assert_eq!(small.take(20, 1), None);
        let excess = Excess::Packets {
            held: 110,
            most: 100,
        };
        assert_eq!(large.take(90, 10), Some(excess));
        drop(large);
        assert_eq!(small.take(100, 10), None);
        let excess = Excess::Transmissions {
            count: 11,
            most: 10,
        };
        assert_eq!(small.take(0, 11), Some(excess));
    }
}
