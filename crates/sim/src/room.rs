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
    /// The room that this is a part of.
    whole: Option<Arc<Room>>,
}

impl Room {
    /// Room within these bounds.
    pub fn new(bounds: Bounds) -> Arc<Room> {
        Room::of(bounds, None)
    }

    /// A part of this room, within these bounds: its packets also take the room of the whole.
    pub fn part(self: &Arc<Room>, bounds: Bounds) -> Arc<Room> {
        Room::of(bounds, Some(Arc::clone(self)))
    }

    fn of(bounds: Bounds, whole: Option<Arc<Room>>) -> Arc<Room> {
        Arc::new(Room {
            bounds,
            held: AtomicU64::new(0),
            whole,
        })
    }

    /// Room without an end.
    pub(crate) fn endless() -> Arc<Room> {
        Room::new(Bounds {
            packets: u64::MAX,
            transmissions: u64::MAX,
        })
    }

    /// Adds packets, so that one of those who share the room holds `own`: a simulation, or a part of the room. `more` wraps around
    /// if there are fewer. If the room is exceeded, one fails that has an equal part of it or more.
    fn hold(self: &Arc<Room>, more: u64, own: u64) -> Option<Excess> {
        let before = self.held.fetch_add(more, Ordering::Relaxed);
        let held = before.wrapping_add(more);
        let of_whole = self.whole.as_ref().and_then(|it| it.hold(more, held));
        let most = self.bounds.packets;
        let sharers = Arc::strong_count(self) as u64;
        let is_excess = held > most && own.saturating_mul(sharers) >= most;
        is_excess
            .then_some(Excess::Packets { held, most })
            .or(of_whole)
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

    /// Replaces the packets that this share holds. A small simulation does not fail for a large one, and those that go on never hold
    /// more than the room together.
    pub(crate) fn take(&mut self, packets: u64, transmissions: u64) -> Option<Excess> {
        let excess = self.hold(packets);
        let most = self.room.bounds.transmissions;
        let is_excess = transmissions > most;
        excess.or(is_excess.then_some(Excess::Transmissions {
            count: transmissions,
            most,
        }))
    }

    fn hold(&mut self, packets: u64) -> Option<Excess> {
        let more = packets.wrapping_sub(self.held);
        self.held = packets;
        self.room.hold(more, packets)
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.hold(0);
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

    #[test]
    fn parts_of_a_room_hold_no_more_together_than_the_whole() {
        let bounds = |packets| Bounds {
            packets,
            transmissions: 10,
        };
        let whole = Room::new(bounds(100));
        let parts = [(); 2].map(|()| whole.part(bounds(60)));
        let [one, two] = &parts;
        let [mut small, mut large, mut other] = [one, one, two].map(|it| Share::of(Arc::clone(it)));
        assert_eq!(small.take(10, 1), None);
        assert_eq!(large.take(50, 1), None);
        let of_whole = Excess::Packets {
            held: 110,
            most: 100,
        };
        assert_eq!(other.take(50, 1), Some(of_whole));
        assert_eq!(other.take(40, 1), None);
        let of_part = Excess::Packets { held: 61, most: 60 };
        assert_eq!(large.take(51, 1), Some(of_part));
        drop((small, large));
        assert_eq!(other.take(60, 1), None);
        assert_eq!(whole.held.load(Ordering::Relaxed), 60);
    }
}
