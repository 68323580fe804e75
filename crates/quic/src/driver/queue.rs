//! The order in which datagrams are processed.

use std::collections::{HashMap, VecDeque};

use super::datagram_socket::Datagram;

/// The maximum memory for waiting datagrams of handshakes, in bytes. Further datagrams are lost, as with a full socket
/// buffer.
const MAX_HANDSHAKE_BYTES: usize = 2 << 20;

/// The memory that a waiting datagram takes in addition to its payload, in bytes. If it did not count, datagrams of one
/// byte would take a hundred times [`MAX_HANDSHAKE_BYTES`].
const OVERHEAD_BYTES: usize = 256;

/// The length of the connection IDs that our endpoints choose, in bytes.
const ID_LEN: usize = 8;

/// Datagrams that were read, and are not processed yet. A handshake takes a hundred times as long as another datagram,
/// and anyone can begin one. So handshakes wait behind all other datagrams. The datagrams of one connection keep their
/// order. The connection ID identifies the connection. Strangers may forge an address, but do not know the connection
/// IDs of others.
#[derive(Default)]
pub(super) struct Queue {
    others: VecDeque<Datagram>,
    /// Datagrams of handshakes, and later datagrams to the same connection IDs.
    handshakes: VecDeque<Datagram>,
    /// The bytes of memory that `handshakes` takes.
    bytes: usize,
    /// The number of waiting datagrams to each connection ID in `handshakes`.
    counts: HashMap<[u8; ID_LEN], usize>,
}

impl Queue {
    pub(super) fn push(&mut self, datagram: Datagram) {
        let payload = &datagram.payload[..];
        let id = destination(payload);
        if !is_long(payload) && !id.is_some_and(|id| self.counts.contains_key(&id)) {
            self.others.push_back(datagram);
        } else if self.bytes + OVERHEAD_BYTES + payload.len() <= MAX_HANDSHAKE_BYTES {
            self.bytes += OVERHEAD_BYTES + payload.len();
            if let Some(id) = id {
                *self.counts.entry(id).or_default() += 1;
            }
            // The payload is copied. The datagram may wait long, and must not keep the memory of its whole message.
            let payload = payload.into();
            self.handshakes.push_back(Datagram {
                payload,
                ..datagram
            });
        }
    }

    /// Takes the next datagram that belongs to no handshake.
    pub(super) fn pop_other(&mut self) -> Option<Datagram> {
        self.others.pop_front()
    }

    /// Takes the next datagram of a handshake.
    pub(super) fn pop_handshake(&mut self) -> Option<Datagram> {
        let datagram = self.handshakes.pop_front()?;
        self.bytes -= OVERHEAD_BYTES + datagram.payload.len();
        if let Some(id) = destination(&datagram.payload)
            && let Some(count) = self.counts.get_mut(&id)
        {
            *count -= 1;
            if *count == 0 {
                self.counts.remove(&id);
            }
        }
        Some(datagram)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.others.is_empty() && self.handshakes.is_empty()
    }
}

/// True if a datagram begins with a packet of a handshake (RFC 9000, "Long Header Packets").
pub(super) fn is_long(payload: &[u8]) -> bool {
    payload.first().is_some_and(|first| first & 0x80 != 0)
}

/// The destination connection ID of a datagram, if it has the length of ours (RFC 9000, "Packet Formats").
fn destination(payload: &[u8]) -> Option<[u8; ID_LEN]> {
    let id = if is_long(payload) {
        let (length, rest) = payload.get(5..)?.split_first()?;
        rest.get(..usize::from(*length))?
    } else {
        payload.get(1..=ID_LEN)?
    };
    id.try_into().ok()
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use bytes::BytesMut;
    use noq_proto::FourTuple;

    use super::*;

    fn datagram(payload: &[u8]) -> Datagram {
        Datagram {
            at: Instant::now(),
            path: FourTuple::new(([192, 0, 2, 1], 1).into(), None),
            ecn: None,
            payload: payload.into(),
        }
    }

    /// A datagram to a connection ID, with a number at its end.
    fn to(is_handshake: bool, id: u8, number: u8) -> Datagram {
        let mut payload = if is_handshake {
            vec![0xe0, 0, 0, 0, 1, 8]
        } else {
            vec![0x40]
        };
        payload.extend([id; ID_LEN]);
        payload.push(number);
        datagram(&payload)
    }

    #[test]
    fn handshakes_wait_behind_the_rest_and_each_connection_keeps_its_order() {
        let mut queue = Queue::default();
        queue.push(to(true, 1, 1));
        queue.push(to(false, 2, 2));
        queue.push(to(false, 1, 3));
        queue.push(to(true, 3, 4));
        let number = |datagram: Datagram| *datagram.payload.last().unwrap();
        assert_eq!(queue.pop_other().map(number), Some(2));
        assert!(queue.pop_other().is_none());
        assert_eq!(queue.pop_handshake().map(number), Some(1));
        assert_eq!(queue.pop_handshake().map(number), Some(3));
        // No datagram to this ID waits any more.
        queue.push(to(false, 1, 5));
        assert_eq!(queue.pop_other().map(number), Some(5));
        assert!(!queue.is_empty());
        assert_eq!(queue.pop_handshake().map(number), Some(4));
        assert!(queue.is_empty() && queue.counts.is_empty());
        assert_eq!(queue.bytes, 0);
    }

    #[test]
    fn waiting_handshakes_take_limited_memory() {
        for length in [1, 6, 14, 1_200] {
            let mut queue = Queue::default();
            let long = datagram(&vec![0xc0; length]);
            for _ in 0..10_000 {
                let payload = long.payload.clone();
                queue.push(Datagram { payload, ..long });
            }
            let size = OVERHEAD_BYTES + length;
            assert_eq!(queue.bytes, (MAX_HANDSHAKE_BYTES / size) * size);
            let count = std::iter::from_fn(|| queue.pop_handshake()).count();
            assert_eq!(count, MAX_HANDSHAKE_BYTES / size);
        }
        // The overhead covers the `Datagram` itself.
        assert!(size_of::<Datagram>() <= OVERHEAD_BYTES / 2);
    }

    /// Datagrams of one message share memory.
    #[test]
    fn a_waiting_datagram_keeps_only_its_own_memory() {
        let mut message = BytesMut::from(&[0xc0; 16_000][..]);
        let mut queue = Queue::default();
        let payload = message.split_to(1_000);
        queue.push(Datagram {
            payload,
            ..datagram(&[])
        });
        let mut kept = queue.pop_handshake().unwrap().payload;
        drop(message);
        kept.clear();
        assert!(!kept.try_reclaim(1_001));
    }
}
