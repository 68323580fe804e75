//! Queue disciplines: which packet waits, which goes next, and which is dropped or marked.
//!
//! A discipline is one file here, one variant of [`Discipline`] and one of [`Rule`]. It is asked at the instant a packet
//! enters and at the instant the bottleneck is ready for the next one, and may drop at either end, and any packet.

mod codel;
mod discipline;
mod droptail;
mod fq_codel;
mod red;
mod room;

use units::{Bytes, Rate, Time};

use crate::counters::Count;
use crate::parcel::Parcel;
use crate::random::Stream;
use crate::store::{Place, Store};
pub use codel::CoDel;
use codel::CoDelQueue;
pub use discipline::Discipline;
use droptail::DropTail;
use fq_codel::FlowQueues;
pub use fq_codel::FqCoDel;
pub use red::Red;
use red::RedQueue;
pub use room::Buffer;
use room::Room;

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
