//! Queue disciplines: which packet waits, which goes next, and which is dropped or marked.
//!
//! A discipline is one file here, one variant of [`Discipline`] and one of [`Rule`]. It is asked at the instant a packet
//! enters and at the instant the bottleneck is ready for the next one, and may drop at either end, and any packet.

mod codel;
mod droptail;
mod fq_codel;
mod red;

use units::{Bytes, ConfigError, Rate, Time};

use crate::counters::Count;
use crate::parcel::{Ecn, Parcel};
use crate::random::Stream;
use crate::store::{Held, Place, Store};
pub use codel::CoDel;
use codel::CoDelQueue;
use droptail::DropTail;
use fq_codel::FlowQueues;
pub use fq_codel::FqCoDel;
pub use red::Red;
use red::RedQueue;

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

/// How the queue chooses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Discipline {
    /// First in, first out; a packet that finds no room is dropped.
    #[default]
    DropTail,
    /// First in, first out, with drops that keep the delay low.
    CoDel(CoDel),
    /// A queue for each flow, in turn; each under CoDel.
    FqCoDel(FqCoDel),
    /// First in, first out, with random drops whose probability grows with the average queue; or a threshold.
    Red(Red),
}

impl Discipline {
    pub(crate) fn validate(&self) -> Result<(), ConfigError> {
        match self {
            Discipline::DropTail => Ok(()),
            Discipline::CoDel(codel) => codel.validate(),
            Discipline::FqCoDel(fq_codel) => fq_codel.validate(),
            Discipline::Red(red) => red.validate(),
        }
    }
}

/// What waits, how much more may wait, and what was dropped.
#[derive(Debug, Clone)]
struct Room {
    max: Count,
    waiting: Count,
    dropped: Count,
    marked: Count,
}

impl Room {
    fn new(buffer: Buffer) -> Room {
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

    /// Whether a packet of `size` finds room.
    fn has_room(&self, size: Bytes) -> bool {
        self.waiting.packets < self.max.packets && size <= self.max.bytes - self.waiting.bytes
    }

    /// The packet that has just come is not kept.
    fn refuse<P>(&mut self, store: &mut Store<P>, place: Place, size: Bytes) {
        store.remove(place);
        self.dropped.add(size);
    }

    /// The packet at `place`, which waited, is dropped.
    fn drop_waiting<P>(&mut self, store: &mut Store<P>, place: Place) {
        let size = store.get(place).map_or(Bytes::ZERO, |held| held.size);
        self.waiting.sub(size);
        self.refuse(store, place, size);
    }

    /// Marks a packet in place of dropping it, if its sender would understand.
    fn mark(&mut self, held: &mut Held) -> bool {
        if held.ecn == Ecn::NotCapable {
            return false;
        }
        held.ecn = Ecn::Marked;
        self.marked.add(held.size);
        true
    }
}

/// A packet that the bottleneck has taken out of the queue.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Taken {
    pub(crate) place: Place,
    pub(crate) entered: Time,
    pub(crate) size: Bytes,
}

/// What a discipline remembers.
#[derive(Debug, Clone)]
enum Rule {
    DropTail(DropTail),
    CoDel(CoDelQueue),
    FqCoDel(FlowQueues),
    Red(RedQueue),
}

/// A queue under one of the disciplines.
#[derive(Debug, Clone)]
pub(crate) struct Queue {
    room: Room,
    rule: Rule,
}

impl Queue {
    /// An empty queue for a bottleneck of this mean rate, unlimited if there is none.
    pub(crate) fn new(
        discipline: Discipline,
        buffer: Buffer,
        rate: Option<Rate>,
        stream: Stream,
    ) -> Queue {
        Queue {
            room: Room::new(buffer),
            rule: match discipline {
                Discipline::DropTail => Rule::DropTail(DropTail::new()),
                Discipline::CoDel(config) => Rule::CoDel(CoDelQueue::new(config)),
                Discipline::FqCoDel(config) => Rule::FqCoDel(FlowQueues::new(config, stream)),
                Discipline::Red(config) => Rule::Red(RedQueue::new(config, rate, stream)),
            },
        }
    }

    /// The packet at `place` comes at `now`, and is kept or dropped.
    #[inline]
    pub(crate) fn enqueue<P>(
        &mut self,
        store: &mut Store<P>,
        now: Time,
        parcel: Parcel,
        place: Place,
    ) {
        let room = &mut self.room;
        match &mut self.rule {
            Rule::DropTail(queue) => queue.enqueue(room, store, parcel.size, place),
            Rule::CoDel(queue) => queue.enqueue(room, store, parcel.size, place),
            Rule::FqCoDel(queues) => queues.enqueue(room, store, parcel, place),
            Rule::Red(queue) => queue.enqueue(room, store, now, parcel.size, place),
        }
        debug_assert!(
            room.waiting.packets <= room.max.packets && room.waiting.bytes <= room.max.bytes,
            "more waits than the buffer holds"
        );
    }

    /// The bottleneck takes the next packet at `now`; none if nothing waits, or if all that waited is dropped.
    #[inline]
    pub(crate) fn dequeue<P>(&mut self, store: &mut Store<P>, now: Time) -> Option<Taken> {
        let room = &mut self.room;
        let place = match &mut self.rule {
            Rule::DropTail(queue) => queue.dequeue(store),
            Rule::CoDel(queue) => queue.dequeue(room, store, now),
            Rule::FqCoDel(queues) => queues.dequeue(room, store, now),
            Rule::Red(queue) => queue.dequeue(room, store, now),
        };
        let taken = place.and_then(|place| {
            let held = store.get(place)?;
            Some(Taken {
                place,
                entered: held.at,
                size: held.size,
            })
        });
        match taken {
            Some(taken) => room.waiting.sub(taken.size),
            None => debug_assert_eq!(room.waiting.packets, 0, "a packet waits in vain"),
        }
        taken
    }

    /// The bottleneck has another rate from now on.
    pub(crate) fn change_rate(&mut self, rate: Rate) {
        if let Rule::Red(queue) = &mut self.rule {
            queue.change_rate(rate);
        }
    }

    /// What waits.
    pub(crate) fn waiting(&self) -> Count {
        self.room.waiting
    }

    /// What was dropped so far.
    pub(crate) fn dropped(&self) -> Count {
        self.room.dropped
    }

    /// What was marked so far.
    pub(crate) fn marked(&self) -> Count {
        self.room.marked
    }
}
