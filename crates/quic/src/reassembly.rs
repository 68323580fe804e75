//! A stream in order, however full of holes it arrives.
//!
//! noq's own ordered reading gives up the connection ("too many gaps in stream buffer") once about a thousand separate
//! pieces of one stream wait for a hole to be filled. That bounds what a hostile sender can make it keep, but an honest
//! one gets there too: by overrunning a deep buffer in slow start, or with a few per cent of loss on a path with tens of
//! megabytes in flight. So streams that carry bulk data are read from noq unordered, and put in order here, under a bound
//! in bytes.

use std::collections::BTreeMap;

use bytes::Bytes;
use noq::{ReadError, RecvStream, UnorderedRecvStream};

use crate::endpoint::RECEIVE_WINDOW;

/// The most that waits for a hole: two receive windows. A sender whose lost packets are repeated at once stays far
/// below.
const MAX_WAITING: u64 = 2 * RECEIVE_WINDOW as u64;

/// The stream cannot be read on.
#[derive(Debug, thiserror::Error)]
pub enum OrderedReadError {
    /// What noq says.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The sender goes on and on without filling a hole.
    #[error("the sender left a hole of more than {MAX_WAITING} bytes in the stream")]
    Hole,
}

/// Reads a stream in order.
#[derive(Debug)]
pub struct Ordered {
    stream: UnorderedRecvStream,
    pieces: Pieces,
}

impl Ordered {
    /// A reader of `stream`, from which nothing has been read.
    pub fn new(stream: RecvStream) -> Ordered {
        Ordered {
            stream: stream.into_unordered(),
            pieces: Pieces::default(),
        }
    }

    /// The next bytes of the stream, at most `max` of them as they come from the network; `None` at its end.
    /// Cancel-safe.
    pub async fn read_chunk(&mut self, max: usize) -> Result<Option<Bytes>, OrderedReadError> {
        loop {
            if let Some(piece) = self.pieces.next() {
                return Ok(Some(piece));
            }
            if self.pieces.waiting > MAX_WAITING {
                return Err(OrderedReadError::Hole);
            }
            match self.stream.read_chunk(max).await? {
                Some(chunk) => self.pieces.insert(chunk.offset, chunk.bytes),
                None => return Ok(None),
            }
        }
    }
}

/// Pieces that do not overlap, in any order.
#[derive(Debug, Default)]
struct Pieces {
    waiting_for: u64,
    pieces: BTreeMap<u64, Bytes>,
    waiting: u64,
}

impl Pieces {
    fn insert(&mut self, offset: u64, piece: Bytes) {
        self.waiting += piece.len() as u64;
        self.pieces.insert(offset, piece);
    }

    fn next(&mut self) -> Option<Bytes> {
        let first = self.pieces.first_entry()?;
        if *first.key() > self.waiting_for {
            return None;
        }
        let piece = first.remove();
        self.waiting -= piece.len() as u64;
        self.waiting_for += piece.len() as u64;
        Some(piece)
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use proptest::prelude::*;

    use super::Pieces;

    proptest! {
        #[test]
        fn any_order_comes_out_in_order(
            sizes in proptest::collection::vec(1..50usize, 1..40),
            seed in any::<u64>(),
        ) {
            let whole: Vec<u8> = (0..sizes.iter().sum::<usize>()).map(|i| i as u8).collect();
            let mut offset = 0;
            let mut arriving = Vec::new();
            for size in sizes {
                arriving.push((offset, Bytes::copy_from_slice(&whole[offset..offset + size])));
                offset += size;
            }
            arriving.sort_by_key(|(offset, _)| (*offset as u64 + 1).wrapping_mul(seed | 1));
            let mut pieces = Pieces::default();
            let mut out = Vec::new();
            for (offset, piece) in arriving {
                pieces.insert(offset as u64, piece);
                while let Some(piece) = pieces.next() {
                    out.extend_from_slice(&piece);
                }
                let in_order = out.len() as u64;
                prop_assert_eq!(&out[..], &whole[..out.len()]);
                prop_assert_eq!(pieces.waiting, pieces.pieces.values().map(|p| p.len() as u64).sum::<u64>());
                prop_assert!(pieces.pieces.keys().all(|&offset| offset > in_order));
            }
            prop_assert_eq!(out, whole);
        }
    }
}
