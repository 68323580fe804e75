//! Several packets in one frame of IEEE 802.11 (A-MSDU, section 9.3.2.2).

use super::Decoded;
use super::bytes::half;
use super::link::Walk;

/// The header of a packet in it: two addresses and its length.
const HEADER: usize = 14;

/// The packets of a frame.
#[derive(Debug, Clone, Copy)]
pub struct Aggregate<'f> {
    walk: Walk<'f>,
    /// The captured part of the packets to come, and their length on the network.
    rest: &'f [u8],
    len: usize,
}

impl<'f> Aggregate<'f> {
    pub(super) fn new(walk: Walk<'f>, rest: &'f [u8]) -> Aggregate<'f> {
        let captured = walk.frame.data.len();
        let missing = (walk.frame.wire_len as usize).saturating_sub(captured);
        let len = rest.len().saturating_add(missing);
        Aggregate { walk, rest, len }
    }
}

impl<'f> Iterator for Aggregate<'f> {
    type Item = Decoded<'f>;

    fn next(&mut self) -> Option<Decoded<'f>> {
        let before = self.len.checked_sub(HEADER)?;
        let Some(len) = half(self.rest, HEADER - 2) else {
            self.len = 0;
            return Some(Decoded::Short);
        };
        let len = usize::from(len);
        let inner = self.rest.get(HEADER..).unwrap_or_default();
        let inner = inner.get(..len).unwrap_or(inner);
        let whole = (HEADER + len).next_multiple_of(4);
        self.len = before.saturating_sub(whole - HEADER);
        self.rest = self.rest.get(whole..).unwrap_or_default();
        Some(self.walk.logical_link(inner))
    }
}
