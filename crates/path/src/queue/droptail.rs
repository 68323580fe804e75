//! Drop-tail: first in, first out, and no room means no entry.

use std::collections::VecDeque;

use units::Bytes;

use super::{Buffer, Waiting};
use crate::counters::Count;

#[derive(Debug, Clone)]
pub(crate) struct DropTail<P> {
    max: Count,
    waiting: Count,
    dropped: Count,
    packets: VecDeque<Waiting<P>>,
}

impl<P> DropTail<P> {
    pub(crate) fn new(buffer: Buffer) -> DropTail<P> {
        let (packets, bytes) = match buffer {
            Buffer::Unlimited => (u64::MAX, Bytes::MAX),
            Buffer::Bytes(bytes) => (u64::MAX, bytes),
            Buffer::Packets(packets) => (packets, Bytes::MAX),
        };
        DropTail {
            max: Count { packets, bytes },
            waiting: Count::default(),
            dropped: Count::default(),
            packets: VecDeque::new(),
        }
    }

    pub(crate) fn enqueue(&mut self, packet: Waiting<P>) {
        let full = self.waiting.packets >= self.max.packets
            || packet.size > self.max.bytes - self.waiting.bytes;
        if full {
            self.dropped.add(packet.size);
        } else {
            self.waiting.add(packet.size);
            self.packets.push_back(packet);
        }
        debug_assert!(
            self.waiting.packets <= self.max.packets && self.waiting.bytes <= self.max.bytes,
            "more waits than the buffer holds"
        );
    }

    pub(crate) fn dequeue(&mut self) -> Option<Waiting<P>> {
        let packet = self.packets.pop_front()?;
        self.waiting.sub(packet.size);
        debug_assert_eq!(self.waiting.packets, self.packets.len() as u64);
        Some(packet)
    }

    pub(crate) fn waiting(&self) -> Count {
        self.waiting
    }

    pub(crate) fn dropped(&self) -> Count {
        self.dropped
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Time;

    fn packet(size: u64) -> Waiting<u64> {
        Waiting {
            entered: Time::ZERO,
            size: Bytes::new(size),
            ecn: crate::Ecn::NotCapable,
            packet: size,
        }
    }

    #[test]
    fn bytes_fill_to_the_last_one() {
        let mut queue = DropTail::new(Buffer::Bytes(Bytes::new(3_000)));
        for size in [1_500, 1_000, 501, 500, 1, 0] {
            queue.enqueue(packet(size));
        }
        assert_eq!(queue.waiting().bytes, Bytes::new(3_000));
        assert_eq!(queue.waiting().packets, 4);
        assert_eq!(queue.dropped().packets, 2);
        assert_eq!(queue.dropped().bytes, Bytes::new(502));
        let order: Vec<u64> = std::iter::from_fn(|| queue.dequeue())
            .map(|waiting| waiting.packet)
            .collect();
        assert_eq!(order, [1_500, 1_000, 500, 0]);
        assert_eq!(queue.waiting(), Count::default());
    }

    #[test]
    fn packets_count_whatever_their_size() {
        let mut queue = DropTail::new(Buffer::Packets(2));
        for size in [9_000, 0, 0] {
            queue.enqueue(packet(size));
        }
        assert_eq!(queue.waiting().packets, 2);
        assert_eq!(queue.dropped().packets, 1);
    }
}
