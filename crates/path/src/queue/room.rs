//! The room for what waits.

use units::{Bytes, ConfigError};

use crate::bounds::MTU;
use crate::counters::Count;
use crate::parcel::Ecn;
use crate::store::{Held, Place, Store};

/// How much may wait for the bottleneck.
///
/// The packet that is being transmitted has left the buffer and does not count; on a trace, that is from the first
/// opportunity that it uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Buffer {
    /// Everything may wait.
    #[default]
    Unlimited,
    /// At most so many bytes.
    Bytes(Bytes),
    /// At most so many packets, whatever their sizes.
    Packets(u64),
}

impl Buffer {
    pub(crate) fn validate(&self) -> Result<(), ConfigError> {
        match self {
            Buffer::Bytes(bytes) if *bytes < MTU => Err(ConfigError::new(
                "buffer",
                format!("of {bytes} is smaller than one packet; give at least {MTU}"),
            )),
            Buffer::Packets(0) => Err(ConfigError::new(
                "buffer",
                "of no packets lets nothing through; give at least 1",
            )),
            _ => Ok(()),
        }
    }
}

/// What waits, how much more may wait, and what was dropped.
#[derive(Debug, Clone)]
pub(super) struct Room {
    pub(super) max: Count,
    pub(super) waiting: Count,
    pub(super) dropped: Count,
    pub(super) marked: Count,
}

impl Room {
    pub(super) fn new(buffer: Buffer) -> Room {
        let (packets, bytes) = match buffer {
            Buffer::Unlimited => (u64::MAX, Bytes::MAX),
            Buffer::Bytes(bytes) => (u64::MAX, bytes),
            Buffer::Packets(packets) => (packets, Bytes::MAX),
        };
        Room {
            max: Count { packets, bytes },
            waiting: Count::default(),
            dropped: Count::default(),
            marked: Count::default(),
        }
    }

    /// True if a packet of `size` finds room.
    pub(super) fn has_room(&self, size: Bytes) -> bool {
        self.waiting.packets < self.max.packets && size <= self.max.bytes - self.waiting.bytes
    }

    /// The packet that has just come is not kept.
    pub(super) fn refuse<P>(&mut self, store: &mut Store<P>, place: Place, size: Bytes) {
        store.remove(place);
        self.dropped.add(size);
    }

    /// The packet at `place`, which waited, is dropped.
    pub(super) fn drop_waiting<P>(&mut self, store: &mut Store<P>, place: Place) {
        let size = store.get(place).map_or(Bytes::ZERO, |held| held.size);
        self.waiting.sub(size);
        self.refuse(store, place, size);
    }

    /// Marks a packet in place of dropping it, if its sender would understand.
    pub(super) fn mark(&mut self, held: &mut Held) -> bool {
        if held.ecn == Ecn::NotCapable {
            return false;
        }
        held.ecn = Ecn::Marked;
        self.marked.add(held.size);
        true
    }
}
