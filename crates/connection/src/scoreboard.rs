//! The outstanding data: captured when sent, and not yet acknowledged.

use std::collections::VecDeque;
use std::ops::Range;

use congestion::{Duration, PacketState, Time};

use crate::memory::shrink;

/// The most outstanding pieces that a flow follows.
pub const MAX_PIECES: usize = 1 << 16;

/// The same when memory is short.
pub const MAX_PIECES_WHEN_SHORT: usize = 8;

/// Pieces are split or joined only if this moves no more pieces than this.
const MAX_MOVED_PIECES: usize = 1 << 10;

/// The state of a piece of the stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// The pieces before and behind it were captured, but this one was not.
    Missing,
    /// It was captured.
    Sent,
    /// A SACK block acknowledges it.
    Sacked,
}

/// A piece of the stream whose packets were sent at the same time, when their sender knew the same.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// The position of its first byte.
    pub seq: u64,
    /// The position behind its last byte.
    pub end: u64,
    /// The sampler's state when it was last sent.
    pub state: PacketState,
    /// TSval of its first retransmission.
    pub repeat_value: Option<u32>,
    /// The identity of its first packet when it last passed.
    pub mark: Mark,
    /// The RTT of a packet that was sent next and arrived while this piece had not, in microseconds; 0 if there is none.
    pub next_rtt: u32,
    /// The number of retransmissions.
    pub repeats: u8,
    /// True if its retransmission counts as in flight although it is below the highest acknowledged byte.
    pub is_repeat_out: bool,
    /// True if it was captured.
    pub is_captured: bool,
    /// Its state.
    pub status: Status,
}

impl Entry {
    /// A piece that is sent for the first time.
    pub fn sent(range: Range<u64>, state: PacketState, mark: Mark) -> Entry {
        Entry {
            seq: range.start,
            end: range.end,
            state,
            repeat_value: None,
            mark,
            next_rtt: 0,
            repeats: 0,
            is_repeat_out: false,
            is_captured: true,
            status: Status::Sent,
        }
    }

    pub fn len(&self) -> u64 {
        self.end - self.seq
    }

    /// The RTT of a packet that was sent next and arrived while this piece had not.
    pub fn next_rtt(&self) -> Option<Duration> {
        (self.next_rtt > 0).then(|| Duration::from_micros(self.next_rtt.into()))
    }

    /// Its bytes, if it did not pass.
    fn missing(&self) -> u64 {
        if self.status == Status::Missing {
            self.len()
        } else {
            0
        }
    }

    /// The number of packets in it; `full` bytes are a packet.
    pub fn packets(&self, full: u64) -> u64 {
        self.len().div_ceil(full).max(1)
    }

    /// True if `next` can be joined to this piece: they differ in nothing that is asked for later.
    #[inline]
    fn is_one_with(&self, next: &Entry, full: u64) -> bool {
        let (own, other) = (&self.state, &next.state);
        own.sent_time == other.sent_time
            && own.delivered == other.delivered
            && own.delivered_time == other.delivered_time
            && own.first_sent_time == other.first_sent_time
            && own.lost == other.lost
            && own.is_app_limited == other.is_app_limited
            && self.status == next.status
            && self.status != Status::Missing
            && self.repeats == next.repeats
            && self.repeat_value == next.repeat_value
            && self.is_repeat_out == next.is_repeat_out
            && self.is_captured == next.is_captured
            && self.next_rtt == next.next_rtt
            && self.end == next.seq
            && self.len().is_multiple_of(full)
            && self.mark.later(self.len() / full) == next.mark
    }

    /// Joins `next` to this piece.
    fn join(&mut self, next: &Entry) {
        let bytes = self.state.bytes + next.state.bytes;
        (self.end, self.state) = (next.end, next.state);
        self.state.bytes = bytes;
    }

    /// Splits off and returns the part before `position`, which is within the piece. `full` bytes are a packet.
    fn split(&mut self, position: u64, full: u64) -> Entry {
        let mut before = *self;
        before.end = position;
        self.seq = position;
        before.state.bytes = units::Bytes::new(before.len());
        self.state.bytes = units::Bytes::new(self.len());
        self.mark = self.mark.later(before.len() / full);
        before
    }
}

/// The identity of a packet among others with the same data. It is the same wherever the packet is captured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark {
    /// The IP identification.
    pub id: u16,
    /// True if it counts packets. If not, it is 0.
    pub is_numbered: bool,
    /// TSval.
    pub value: Option<u32>,
}

impl Mark {
    /// The identity of the packet that comes `packets` later: segmentation offload numbers packets consecutively.
    pub fn later(self, packets: u64) -> Mark {
        let packets = u16::try_from(packets & 0xffff).unwrap_or_default();
        Mark {
            id: if self.is_numbered {
                self.id.wrapping_add(packets)
            } else {
                self.id
            },
            ..self
        }
    }
}

/// A piece that was acknowledged.
#[derive(Debug, Clone, Copy)]
struct Gone {
    seq: u64,
    end: u64,
    sent: Time,
    mark: Mark,
}

/// The number of acknowledged pieces that are remembered. Copies made by the network come soon. The greater number is for
/// captures with copies, as from both ends.
const MAX_GONE: usize = 16;
const MAX_GONE_WITH_COPIES: usize = 512;

/// The outstanding pieces in order, without gaps.
#[derive(Debug, Clone, Default)]
pub struct Scoreboard {
    entries: VecDeque<Entry>,
    /// The latest acknowledged pieces, in order.
    gone: VecDeque<Gone>,
    has_copies: bool,
    /// The bytes that did not pass, and were not retransmitted.
    missing: u64,
}

impl Scoreboard {
    /// The number of outstanding pieces.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// The number of bytes that they hold.
    #[inline]
    pub fn held(&self) -> usize {
        self.entries.capacity() * size_of::<Entry>() + self.gone.capacity() * size_of::<Gone>()
    }

    /// Frees spare capacity, and forgets the acknowledged pieces.
    pub fn shrink(&mut self) {
        let mut entries = Vec::from(std::mem::take(&mut self.entries));
        shrink(&mut entries);
        self.entries = entries.into();
        self.gone = VecDeque::new();
        self.has_copies = false;
    }

    /// Adds a piece at the end.
    #[inline]
    pub fn push(&mut self, entry: Entry, full: u64) {
        self.missing += entry.missing();
        if let Some(last) = self.entries.back_mut()
            && last.is_one_with(&entry, full)
        {
            last.join(&entry);
            return;
        }
        self.entries.push_back(entry);
    }

    /// The first piece.
    #[inline]
    pub fn first(&self) -> Option<&Entry> {
        self.entries.front()
    }

    /// The piece that contains `position`.
    pub fn at(&self, position: u64) -> Option<&Entry> {
        let place = self.entries.partition_point(|entry| entry.end <= position);
        self.entries
            .get(place)
            .filter(|entry| entry.seq <= position)
    }

    /// The pieces that overlap a range, in order.
    pub fn within(&self, range: &Range<u64>) -> impl DoubleEndedIterator<Item = &Entry> {
        let first = self
            .entries
            .partition_point(|entry| entry.end <= range.start);
        let last = self.entries.partition_point(|entry| entry.seq < range.end);
        self.entries.range(first.min(last)..last)
    }

    /// When the packet that begins at `position` last passed, and its identity. `full` bytes are a packet. `None` if the
    /// packet did not pass, or is forgotten.
    pub fn passed(&self, position: u64, full: u64) -> Option<(Time, Mark)> {
        let place = self.gone.partition_point(|gone| gone.end <= position);
        let (seq, sent, mark) = match self.gone.get(place) {
            Some(gone) if gone.seq <= position => (gone.seq, gone.sent, gone.mark),
            _ => {
                let entry = self.at(position)?;
                if !entry.is_captured {
                    return None;
                }
                (entry.seq, entry.state.sent_time, entry.mark)
            }
        };
        Some((sent, mark.later((position - seq) / full)))
    }

    /// A packet has passed twice, so more copies are expected.
    pub fn expect_copies(&mut self) {
        self.has_copies = true;
    }

    /// Removes and returns the first piece, or its part before `position`, if there is any.
    #[inline]
    pub fn pop_before(&mut self, position: u64, full: u64) -> Option<Entry> {
        let first = self.entries.front_mut()?;
        let taken = if first.end <= position {
            self.entries.pop_front()
        } else {
            (first.seq < position).then(|| first.split(position, full))
        };
        if let Some(taken) = &taken {
            self.missing -= taken.missing();
            if taken.is_captured {
                self.remember(taken);
            }
        }
        taken
    }

    #[inline]
    fn remember(&mut self, taken: &Entry) {
        let most = if self.has_copies {
            MAX_GONE_WITH_COPIES
        } else {
            MAX_GONE
        };
        if self.gone.len() >= most {
            self.gone.pop_front();
        }
        self.gone.push_back(Gone {
            seq: taken.seq,
            end: taken.end,
            sent: taken.state.sent_time,
            mark: taken.mark,
        });
    }

    /// Calls `see` for at most `most` pieces within a range. The pieces at its ends are split if that is cheap; otherwise
    /// they are left out.
    pub fn each_within(
        &mut self,
        range: &Range<u64>,
        full: u64,
        most: usize,
        mut see: impl FnMut(&mut Entry),
    ) {
        self.cut(range.start, full);
        self.cut(range.end, full);
        let first = self
            .entries
            .partition_point(|entry| entry.seq < range.start);
        let entries = self.entries.range_mut(first..).take(most);
        for entry in entries.take_while(|entry| entry.end <= range.end) {
            let before = entry.missing();
            see(entry);
            self.missing -= before - entry.missing();
        }
    }

    /// Joins the two pieces that meet at `position`, if they are alike.
    pub fn join(&mut self, position: u64, full: u64) {
        let place = self.entries.partition_point(|entry| entry.seq < position);
        if place == 0 || place >= self.entries.len() || !self.is_near(place) {
            return;
        }
        let next = self.entries[place];
        let before = &mut self.entries[place - 1];
        if before.is_one_with(&next, full) {
            before.join(&next);
            self.entries.remove(place);
        }
    }

    /// True if it is cheap to insert or remove a piece at this index.
    fn is_near(&self, place: usize) -> bool {
        place.min(self.entries.len() - place) <= MAX_MOVED_PIECES
    }

    /// The bytes that did not pass, and were not retransmitted.
    pub fn missing(&self) -> u64 {
        self.missing
    }

    /// Calls `see` for at most `most` of the first pieces that begin before `position`.
    pub fn each_before(&mut self, position: u64, most: usize, see: impl FnMut(&mut Entry)) {
        let entries = self.entries.iter_mut().take(most);
        entries
            .take_while(|entry| entry.seq < position)
            .for_each(see);
    }

    /// The unacknowledged pieces just before `position` are passed over by a packet with this RTT. At most `most` pieces.
    pub fn pass_over(&mut self, position: u64, rtt: u32, most: usize) {
        let place = self.entries.partition_point(|entry| entry.end <= position);
        let before = self.entries.range_mut(..place).rev().take(most);
        for entry in before.take_while(|entry| entry.status == Status::Sent && entry.next_rtt == 0)
        {
            entry.next_rtt = rtt;
        }
    }

    /// Splits the piece that contains `position`.
    fn cut(&mut self, position: u64, full: u64) {
        let place = self.entries.partition_point(|entry| entry.end <= position);
        if self.entries.len() >= MAX_PIECES || !self.is_near(place) {
            return;
        }
        let Some(entry) = self.entries.get_mut(place) else {
            return;
        };
        if entry.seq < position {
            let before = entry.split(position, full);
            self.entries.insert(place, before);
        }
    }
}

#[cfg(test)]
mod tests {
    use congestion::sampling::{Outstanding, Sampler};
    use units::Bytes;

    use super::*;

    const FULL: u64 = 1_000;

    /// A scoreboard with this many pieces of `len` bytes, each sent a nanosecond after the one before.
    fn board(pieces: u64, len: u64) -> Scoreboard {
        let mut board = Scoreboard::default();
        for piece in 0..pieces {
            let at = Time::from_nanos(piece);
            let state = Sampler::new(at).on_packet_sent(at, Bytes::new(len), Outstanding::Nothing);
            let entry = Entry {
                seq: piece * len,
                end: (piece + 1) * len,
                state,
                repeat_value: None,
                next_rtt: 0,
                mark: Mark {
                    id: 0,
                    is_numbered: false,
                    value: None,
                },
                repeats: 0,
                is_repeat_out: false,
                is_captured: true,
                status: Status::Sent,
            };
            board.push(entry, FULL);
        }
        board
    }

    fn sack(board: &mut Scoreboard, range: Range<u64>) -> u64 {
        let mut bytes = 0;
        board.each_within(&range, FULL, usize::MAX, |entry| {
            entry.status = Status::Sacked;
            bytes += entry.len();
        });
        board.join(range.start, FULL);
        board.join(range.end, FULL);
        bytes
    }

    #[test]
    fn a_piece_that_arrives_bit_by_bit_is_two() {
        let mut board = board(1, 100 * FULL);
        for packet in 1..100 {
            assert_eq!(sack(&mut board, packet * FULL..(packet + 1) * FULL), FULL);
            assert!(board.len() <= 3);
        }
        assert_eq!(board.len(), 2);
        assert_eq!(board.at(FULL).map(Entry::len), Some(99 * FULL));
        assert_eq!(
            board.at(FULL).map(|entry| entry.state.bytes.get()),
            Some(99 * FULL)
        );
        assert_eq!(sack(&mut board, 0..FULL), FULL);
        assert_eq!(board.len(), 1);
    }

    #[test]
    fn what_is_missing_is_counted() {
        let mut board = board(1, FULL);
        let mut hole = *board.first().expect("a piece");
        (hole.seq, hole.end) = (FULL, 11 * FULL);
        hole.status = Status::Missing;
        board.push(hole, FULL);
        assert_eq!(board.missing(), 10 * FULL);
        assert_eq!(sack(&mut board, 3 * FULL..5 * FULL), 2 * FULL);
        assert_eq!(board.missing(), 8 * FULL);
        assert!(board.pop_before(2 * FULL, FULL).is_some());
        assert_eq!(board.missing(), 8 * FULL);
        assert!(board.pop_before(2 * FULL, FULL).is_some());
        assert_eq!(board.missing(), 7 * FULL);
        while board.pop_before(11 * FULL, FULL).is_some() {}
        assert_eq!(board.missing(), 0);
    }

    #[test]
    fn there_are_no_more_pieces_than_can_be_followed() {
        let mut ranges = board(1, 1 << 20);
        for byte in 0..1 << 19 {
            sack(&mut ranges, byte * 2 + 1..byte * 2 + 2);
        }
        assert!(ranges.len() <= MAX_PIECES, "{}", ranges.len());
        // Far from both ends of many pieces, nothing is split: a piece that was acknowledged in part counts as not
        // acknowledged.
        let mut many = board(3 * MAX_MOVED_PIECES as u64, 10);
        let middle = 15 * MAX_MOVED_PIECES as u64;
        assert_eq!(sack(&mut many, middle + 5..middle + 25), 10);
        assert_eq!(many.len(), 3 * MAX_MOVED_PIECES);
    }
}
