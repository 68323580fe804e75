//! Queue disciplines: they choose the packets to send next, to drop and to mark.
//!
//! A discipline is one file here, one variant of [`Discipline`] and one of [`State`]. It is called when a packet enters
//! and when the bottleneck is ready for the next one. It may drop any packet in both calls.

mod codel;
mod discipline;
mod droptail;
mod dualpi2;
mod fq_codel;
mod red;
mod room;

use units::{Bytes, Rate, Time};

use crate::counters::Count;
use crate::parcel::Parcel;
use crate::random::Stream;
use crate::store::{SlotId, Store};
pub use codel::CoDel;
use codel::CoDelQueue;
pub use discipline::Discipline;
use droptail::DropTail;
pub use dualpi2::DualPi2;
use dualpi2::DualQueue;
use fq_codel::FlowQueues;
pub use fq_codel::FqCoDel;
pub use red::Red;
use red::RedQueue;
pub use room::Buffer;
use room::Room;

/// A packet that the bottleneck has taken out of the queue.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Taken {
    pub(crate) place: SlotId,
    pub(crate) entered: Time,
    pub(crate) size: Bytes,
}

/// The state of a discipline. Only the state of drop-tail, the most common one, is stored in place. The others are on the
/// heap, so that a link is small.
#[derive(Debug, Clone)]
enum State {
    DropTail(DropTail),
    CoDel(Box<CoDelQueue>),
    FqCoDel(Box<FlowQueues>),
    Red(Box<RedQueue>),
    DualPi2(Box<DualQueue>),
}

/// A queue under one of the disciplines.
#[derive(Debug, Clone)]
pub(crate) struct Queue {
    room: Room,
    rule: State,
}

impl Queue {
    /// Makes an empty queue for a bottleneck of this mean rate; unlimited if there is none.
    pub(crate) fn new(
        discipline: Discipline,
        buffer: Buffer,
        rate: Option<Rate>,
        stream: Stream,
    ) -> Queue {
        Queue {
            room: Room::new(buffer),
            rule: match discipline {
                Discipline::DropTail => State::DropTail(DropTail::new()),
                Discipline::CoDel(config) => State::CoDel(Box::new(CoDelQueue::new(config))),
                Discipline::FqCoDel(config) => {
                    State::FqCoDel(Box::new(FlowQueues::new(config, stream)))
                }
                Discipline::Red(config) => {
                    State::Red(Box::new(RedQueue::new(config, rate, stream)))
                }
                Discipline::DualPi2(config) => {
                    State::DualPi2(Box::new(DualQueue::new(config, stream)))
                }
            },
        }
    }

    /// Keeps or drops the packet at `place`, which arrives at `now`.
    #[inline]
    pub(crate) fn enqueue<P>(
        &mut self,
        store: &mut Store<P>,
        now: Time,
        parcel: Parcel,
        place: SlotId,
    ) {
        let room = &mut self.room;
        match &mut self.rule {
            State::DropTail(queue) => queue.enqueue(room, store, parcel.size, place),
            State::CoDel(queue) => queue.enqueue(room, store, parcel.size, place),
            State::FqCoDel(queues) => queues.enqueue(room, store, parcel, place),
            State::Red(queue) => queue.enqueue(room, store, now, parcel.size, place),
            State::DualPi2(queue) => queue.enqueue(room, store, now, parcel.size, place),
        }
        debug_assert!(
            room.waiting.packets <= room.max.packets && room.waiting.bytes <= room.max.bytes,
            "more waits than the buffer holds"
        );
    }

    /// Takes the next packet for the bottleneck at `now`. `None` if nothing waits, or if everything that waited is
    /// dropped.
    #[inline]
    pub(crate) fn dequeue<P>(&mut self, store: &mut Store<P>, now: Time) -> Option<Taken> {
        let room = &mut self.room;
        let place = match &mut self.rule {
            State::DropTail(queue) => queue.dequeue(store),
            State::CoDel(queue) => queue.dequeue(room, store, now),
            State::FqCoDel(queues) => queues.dequeue(room, store, now),
            State::Red(queue) => queue.dequeue(room, store, now),
            State::DualPi2(queue) => queue.dequeue(room, store, now),
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

    /// Sets another rate of the bottleneck from now on.
    pub(crate) fn change_rate(&mut self, rate: Rate) {
        if let State::Red(queue) = &mut self.rule {
            queue.change_rate(rate);
        }
    }

    /// The waiting packets.
    pub(crate) fn waiting(&self) -> Count {
        self.room.waiting
    }

    /// The dropped packets so far.
    pub(crate) fn dropped(&self) -> Count {
        self.room.dropped
    }

    /// The marked packets so far.
    pub(crate) fn marked(&self) -> Count {
        self.room.marked
    }
}
