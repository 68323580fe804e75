//! Drop-tail: first in, first out; without room, a packet is dropped.

use units::Bytes;

use super::room::Room;
use crate::store::{List, SlotId, Store};

#[derive(Debug, Clone)]
pub(super) struct DropTail {
    list: List,
}

impl DropTail {
    pub(super) fn new() -> DropTail {
        DropTail { list: List::EMPTY }
    }

    pub(super) fn enqueue<P>(
        &mut self,
        room: &mut Room,
        store: &mut Store<P>,
        size: Bytes,
        place: SlotId,
    ) {
        if room.has_room(size) {
            room.waiting.add(size);
            self.list.push(store, place);
        } else {
            room.refuse(store, place, size);
        }
    }

    pub(super) fn dequeue<P>(&mut self, store: &Store<P>) -> Option<SlotId> {
        self.list.pop(store)
    }
}

#[cfg(test)]
mod tests {
    use units::Time;

    use super::super::{Buffer, Discipline, Queue};
    use super::*;
    use crate::counters::Count;
    use crate::random::Streams;

    fn queue(buffer: Buffer) -> Queue {
        Queue::new(Discipline::DropTail, buffer, None, Streams::new(0).deal())
    }

    fn enter(queue: &mut Queue, store: &mut Store<u64>, size: u64) {
        let parcel = Bytes::new(size).into();
        let place = store.insert(Time::ZERO, parcel, size);
        queue.enqueue(store, Time::ZERO, parcel, place);
    }

    #[test]
    fn bytes_fill_to_the_last_one() {
        let mut store = Store::new();
        let mut queue = queue(Buffer::Bytes(Bytes::new(3_000)));
        for size in [1_500, 1_000, 501, 500, 1, 0] {
            enter(&mut queue, &mut store, size);
        }
        assert_eq!(queue.waiting().bytes, Bytes::new(3_000));
        assert_eq!(queue.waiting().packets, 4);
        assert_eq!(queue.dropped().packets, 2);
        assert_eq!(queue.dropped().bytes, Bytes::new(502));
        let order: Vec<u64> = std::iter::from_fn(|| {
            let taken = queue.dequeue(&mut store, Time::ZERO)?;
            store.remove(taken.place)
        })
        .collect();
        assert_eq!(order, [1_500, 1_000, 500, 0]);
        assert_eq!(queue.waiting(), Count::default());
    }

    #[test]
    fn packets_count_whatever_their_size() {
        let mut store = Store::new();
        let mut queue = queue(Buffer::Packets(2));
        for size in [9_000, 0, 0] {
            enter(&mut queue, &mut store, size);
        }
        assert_eq!(queue.waiting().packets, 2);
        assert_eq!(queue.dropped().packets, 1);
    }
}
