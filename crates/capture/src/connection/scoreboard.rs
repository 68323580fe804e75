//! What is outstanding: sent, as far as was seen, and not yet acknowledged.

use std::collections::VecDeque;
use std::ops::Range;

use congestion::PacketState;

/// What became of a piece of the stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// What came before and behind it passed, and it did not.
    Missing,
    /// It passed.
    Sent,
    /// It has arrived.
    Sacked,
}

/// A piece of the stream that was sent as one packet.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// Where it begins.
    pub seq: u64,
    /// Where it ends.
    pub end: u64,
    /// What was known when it was last sent.
    pub state: PacketState,
    /// TSval of its first repeat.
    pub repeat_value: Option<u32>,
    /// How often it was sent again.
    pub repeats: u8,
    /// Whether its repeat counts as in flight although it is below what has arrived.
    pub is_repeat_out: bool,
    /// What became of it.
    pub status: Status,
}

impl Entry {
    /// Its length.
    pub fn len(&self) -> u64 {
        self.end - self.seq
    }
}

/// The pieces, in the stream's order, without gaps.
#[derive(Debug, Clone, Default)]
pub struct Scoreboard {
    entries: VecDeque<Entry>,
}

impl Scoreboard {
    /// How many pieces.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// How many bytes they take.
    pub fn held(&self) -> usize {
        self.entries.capacity() * size_of::<Entry>()
    }

    /// A piece behind all others.
    #[inline]
    pub fn push(&mut self, entry: Entry) {
        self.entries.push_back(entry);
    }

    /// The first piece.
    #[inline]
    pub fn first(&self) -> Option<&Entry> {
        self.entries.front()
    }

    /// Takes the first piece, or what of it is before `position`, if anything.
    #[inline]
    pub fn pop_before(&mut self, position: u64) -> Option<Entry> {
        let first = self.entries.front_mut()?;
        if first.end <= position {
            return self.entries.pop_front();
        }
        if first.seq >= position {
            return None;
        }
        let mut part = *first;
        part.end = position;
        first.seq = position;
        part.state.bytes = units::Bytes::new(part.len());
        first.state.bytes = units::Bytes::new(first.len());
        Some(part)
    }

    /// Shows each piece within a range, cut at its ends.
    pub fn each_within(&mut self, range: &Range<u64>, mut see: impl FnMut(&mut Entry)) {
        self.cut(range.start);
        self.cut(range.end);
        let first = self
            .entries
            .partition_point(|entry| entry.end <= range.start);
        for entry in self.entries.range_mut(first..) {
            if entry.seq >= range.end {
                break;
            }
            see(entry);
        }
    }

    /// Shows the first pieces that begin before `position`, no more than `most`.
    pub fn each_before(&mut self, position: u64, most: usize, see: impl FnMut(&mut Entry)) {
        let entries = self.entries.iter_mut().take(most);
        entries
            .take_while(|entry| entry.seq < position)
            .for_each(see);
    }

    /// Cuts the piece that has `position` within it.
    fn cut(&mut self, position: u64) {
        let place = self.entries.partition_point(|entry| entry.end <= position);
        let Some(entry) = self.entries.get_mut(place) else {
            return;
        };
        if entry.seq >= position {
            return;
        }
        let mut before = *entry;
        before.end = position;
        entry.seq = position;
        before.state.bytes = units::Bytes::new(before.len());
        entry.state.bytes = units::Bytes::new(entry.len());
        self.entries.insert(place, before);
    }
}
