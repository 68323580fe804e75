//! The order in which datagrams are processed.

use std::collections::{HashMap, VecDeque};
use std::net::SocketAddr;

use super::ground::Datagram;

/// How many bytes of handshakes may wait. Further datagrams are lost, as with a full socket buffer.
const ROOM: usize = 2 << 20;

/// Datagrams that were read, and are not processed yet. A handshake takes a hundred times as long as another datagram,
/// and anyone can begin one. So handshakes wait behind all other datagrams. The datagrams of one address keep their
/// order.
#[derive(Default)]
pub(super) struct Queue {
    others: VecDeque<Datagram>,
    /// Datagrams of handshakes, and later datagrams from the same addresses.
    handshakes: VecDeque<Datagram>,
    /// The total size of the datagrams in `handshakes`.
    bytes: usize,
    /// The number of waiting datagrams of each address in `handshakes`.
    counts: HashMap<SocketAddr, usize>,
}

impl Queue {
    pub(super) fn push(&mut self, datagram: Datagram) {
        let from = datagram.path.remote();
        if !is_long(&datagram.payload) && !self.counts.contains_key(&from) {
            self.others.push_back(datagram);
        } else if self.bytes + datagram.payload.len() <= ROOM {
            self.bytes += datagram.payload.len();
            *self.counts.entry(from).or_default() += 1;
            self.handshakes.push_back(datagram);
        }
    }

    /// The next datagram that belongs to no handshake.
    pub(super) fn pop_other(&mut self) -> Option<Datagram> {
        self.others.pop_front()
    }

    /// The next datagram of a handshake.
    pub(super) fn pop_handshake(&mut self) -> Option<Datagram> {
        let datagram = self.handshakes.pop_front()?;
        self.bytes -= datagram.payload.len();
        let from = datagram.path.remote();
        if let Some(count) = self.counts.get_mut(&from) {
            *count -= 1;
            if *count == 0 {
                self.counts.remove(&from);
            }
        }
        Some(datagram)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.others.is_empty() && self.handshakes.is_empty()
    }
}

/// Whether a datagram begins with a packet of a handshake (RFC 9000, "Long Header Packets").
pub(super) fn is_long(payload: &[u8]) -> bool {
    payload.first().is_some_and(|first| first & 0x80 != 0)
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use noq_proto::FourTuple;

    use super::*;

    fn datagram(port: u16, payload: &[u8]) -> Datagram {
        Datagram {
            at: Instant::now(),
            path: FourTuple::new(([192, 0, 2, 1], port).into(), None),
            ecn: None,
            payload: payload.into(),
        }
    }

    #[test]
    fn handshakes_wait_behind_the_rest_and_each_address_keeps_its_order() {
        let mut queue = Queue::default();
        for (port, payload) in [
            (1, [0xc0, 1]),
            (2, [0x40, 2]),
            (1, [0x40, 3]),
            (3, [0xe0, 4]),
        ] {
            queue.push(datagram(port, &payload));
        }
        let seconds = |datagram: Datagram| datagram.payload[1];
        assert_eq!(queue.pop_other().map(seconds), Some(2));
        assert!(queue.pop_other().is_none());
        assert_eq!(queue.pop_handshake().map(seconds), Some(1));
        assert_eq!(queue.pop_handshake().map(seconds), Some(3));
        // No datagram of this address waits any more.
        queue.push(datagram(1, &[0x40, 5]));
        assert_eq!(queue.pop_other().map(seconds), Some(5));
        assert!(!queue.is_empty());
        assert_eq!(queue.pop_handshake().map(seconds), Some(4));
        assert!(queue.is_empty() && queue.counts.is_empty());
        assert_eq!(queue.bytes, 0);
    }

    #[test]
    fn what_waits_has_an_end() {
        let mut queue = Queue::default();
        (0..4_000).for_each(|port| queue.push(datagram(port, &[0xc0; 1_200])));
        assert!(queue.bytes <= ROOM && queue.bytes > ROOM - 1_200);
        let count = std::iter::from_fn(|| queue.pop_handshake()).count();
        assert_eq!(count, ROOM / 1_200);
    }
}
