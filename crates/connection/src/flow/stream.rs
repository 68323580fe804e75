//! The bytes of a flow, by their positions: sent, acknowledged, and closed.

use crate::sequence::Positions;

/// More than any window (RFC 7323, section 2.3): a sequence number that jumps further is not of this connection, or the capture
/// has a hole.
const MAX_JUMP: u64 = 1 << 30;

/// The bytes of one direction.
#[derive(Debug, Clone, Copy)]
pub struct Stream {
    positions: Positions,
    /// The position of the first byte.
    base: u64,
    /// True if a SYN told it.
    has_start: bool,
    /// Everything before this position is acknowledged.
    pub una: u64,
    /// The end of the sent data.
    pub end: u64,
    /// The position of FIN, which is the end of all data.
    fin: Option<u64>,
    /// Data before this position were sent before the clock was set.
    pub untimed: u64,
    /// The sequence number that would follow a segment from far away.
    stray: Option<u32>,
}

impl Stream {
    /// A stream whose first byte has the sequence number `start`, if a SYN told it.
    pub fn new(start: Option<u32>) -> Stream {
        let mut positions = Positions::default();
        let base = start.map_or(0, |start| positions.of(start));
        Stream {
            positions,
            base,
            has_start: start.is_some(),
            una: base,
            end: base,
            fin: None,
            untimed: 0,
            stray: None,
        }
    }

    /// True if any sequence number of it is known.
    pub fn is_known(&self) -> bool {
        self.positions.is_known()
    }

    /// The first segment gives the first byte, unless a SYN did.
    #[inline]
    pub fn begin(&mut self, seq: u32) {
        if !self.is_known() {
            self.base = self.positions.of(seq);
            (self.una, self.end) = (self.base, self.base);
        }
    }

    /// Data go on at `start`, behind a hole of unknown size. Nothing before is outstanding.
    pub fn go_on_at(&mut self, start: u64) {
        self.base = start - self.acked();
        (self.una, self.end) = (start, start);
    }

    /// The position of a sequence number.
    #[inline]
    pub fn position(&self, number: u32) -> u64 {
        self.positions.peek(number)
    }

    /// The position up to which this acknowledgement number acknowledges data. FIN takes a sequence number, too (RFC
    /// 9293, section 3.4), but is not data.
    #[inline]
    pub fn acked_by(&self, number: u32) -> u64 {
        let position = self.position(number);
        position - u64::from(self.fin.is_some_and(|fin| position == fin + 1))
    }

    /// The position of data that go on far beyond all data before, however often sequence numbers wrapped.
    pub fn beyond(&mut self, number: u32) -> u64 {
        self.positions.beyond(self.end, number)
    }

    /// New data have passed: positions are counted from this sequence number.
    #[inline]
    pub fn advance(&mut self, seq: u32) {
        self.positions.of(seq);
    }

    /// No further data are behind this sequence number.
    pub fn close(&mut self, number: u32) {
        self.fin = Some(self.position(number));
    }

    /// True if data follow a segment from far away directly. If not, they are themselves from far away.
    pub fn follows_stray(&mut self, first: u32, len: u32) -> bool {
        self.stray.replace(first.wrapping_add(len)) == Some(first)
    }

    /// The number of bytes that were sent.
    #[inline]
    pub fn sent(&self) -> u64 {
        self.end - self.base
    }

    /// The number of bytes that were acknowledged without a gap.
    #[inline]
    pub fn acked(&self) -> u64 {
        self.una - self.base
    }

    /// The number of bytes that were sent and not acknowledged without a gap.
    #[inline]
    pub fn unacked(&self) -> u64 {
        self.end - self.una
    }

    /// True if a position is further from the end of the data than any window allows.
    #[inline]
    pub fn is_far(&self, position: u64) -> bool {
        position.abs_diff(self.end) > MAX_JUMP
    }

    /// True if data that end here are before the first byte that the SYN told, although nothing was acknowledged yet: the SYN
    /// may come from elsewhere.
    #[inline]
    pub fn is_before_start(&self, end: u64) -> bool {
        self.has_start && self.una == self.base && end < self.base
    }

    /// True if a sequence number is within so many bytes of what is outstanding. Without acknowledgements, nothing tells
    /// what is.
    pub fn is_near(&self, number: u32, bytes: u64) -> bool {
        let position = self.position(number);
        let first = if self.acked() > 0 { self.una } else { self.end };
        position + bytes > first && position < self.end + bytes
    }

    /// True if its sender has closed with a FIN that has this sequence number, because no data are behind it. The receiver
    /// may have acknowledged it before.
    pub fn ends_at(&self, number: u32) -> bool {
        self.position(number) + 1 >= self.end
    }
}
