//! The room for waiting packets.

use units::{Bytes, ConfigError};

use crate::bounds::MTU;
use crate::counters::Count;
use crate::parcel::Ecn;
use crate::store::{Held, SlotId, Store};

/// The buffer in front of the bottleneck.
///
/// The packet in transmission has left the buffer and does not count. On a trace, transmission starts with the first
/// opportunity that it uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Buffer {
    /// There is no limit.
    #[default]
    Unlimited,
    /// The maximum number of bytes.
    Bytes(Bytes),
    /// The maximum number of packets, whatever their sizes.
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

/// The waiting packets, the room for more, and the dropped packets.
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

    /// True if there is room for a packet of `size`.
    pub(super) fn has_room(&self, size: Bytes) -> bool {
        self.waiting.packets < self.max.packets && size <= self.max.bytes - self.waiting.bytes
    }

    /// Drops the packet that has just come.
    pub(super) fn refuse<P>(&mut self, store: &mut Store<P>, place: SlotId, size: Bytes) {
        store.remove(place);
        self.dropped.add(size);
    }

    /// Drops the packet at `place`, which waited.
    pub(super) fn drop_waiting<P>(&mut self, store: &mut Store<P>, place: SlotId) {
        let size = store.get(place).map_or(Bytes::ZERO, |held| held.size);
        self.waiting.sub(size);
        self.refuse(store, place, size);
    }

    /// Marks a packet in place of dropping it, if it is ECN-capable.
    pub(super) fn mark(&mut self, held: &mut Held) -> bool {
        if held.ecn == Ecn::NotCapable {
            return false;
        }
        held.ecn = Ecn::Marked;
        self.marked.add(held.size);
        true
    }
}
