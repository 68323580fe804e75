//! What is outstanding: sent, as far as was seen, and not yet acknowledged.

use std::collections::VecDeque;
use std::ops::Range;

use congestion::{Duration, PacketState};

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

/// A piece of the stream whose packets were sent at once, with the same known to their sender.
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
    /// The number of the IP packet that it begins with.
    pub id: u16,
    /// The RTT of what was sent next and arrived while it had not, in microseconds; 0 as long as there is none.
    pub next_rtt: u32,
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

    /// The RTT of what was sent next and arrived while it had not.
    pub fn next_rtt(&self) -> Option<Duration> {
        (self.next_rtt > 0).then(|| Duration::from_micros(self.next_rtt.into()))
    }

    /// The packets of so many bytes that it was sent as.
    pub fn packets(&self, full: u64) -> u64 {
        self.len().div_ceil(full).max(1)
    }

    /// Whether what follows can be one piece with it: nothing that is asked for later tells them apart.
    #[inline]
    fn is_one_with(&self, next: &Entry) -> bool {
        let (own, other) = (&self.state, &next.state);
        own.sent_time == other.sent_time
            && own.delivered == other.delivered
            && own.delivered_time == other.delivered_time
            && own.first_sent_time == other.first_sent_time
            && own.lost == other.lost
            && own.is_app_limited == other.is_app_limited
            && (self.status, next.status) == (Status::Sent, Status::Sent)
            && self.repeats == next.repeats
            && self.end == next.seq
    }

    /// Cuts off what is before `position`, which is within it; `full` bytes are a packet.
    fn split(&mut self, position: u64, full: u64) -> Entry {
        let mut before = *self;
        before.end = position;
        self.seq = position;
        before.state.bytes = units::Bytes::new(before.len());
        self.state.bytes = units::Bytes::new(self.len());
        self.id = numbered(self.id, before.len() / full);
        before
    }
}

/// The number of the IP packet that comes so many later: what segmentation offload cuts has consecutive ones. 0 is none.
pub fn numbered(id: u16, later: u64) -> u16 {
    if id == 0 {
        return 0;
    }
    id.wrapping_add(u16::try_from(later & 0xffff).unwrap_or_default())
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
    #[inline]
    pub fn held(&self) -> usize {
        self.entries.capacity() * size_of::<Entry>()
    }

    /// Gives back what it does not need.
    pub fn shrink(&mut self) {
        self.entries.shrink_to_fit();
    }

    /// A piece behind all others.
    #[inline]
    pub fn push(&mut self, entry: Entry) {
        if let Some(last) = self.entries.back_mut()
            && last.is_one_with(&entry)
        {
            let bytes = last.state.bytes + entry.state.bytes;
            (last.end, last.state) = (entry.end, entry.state);
            last.state.bytes = bytes;
            return;
        }
        self.entries.push_back(entry);
    }

    /// The first piece.
    #[inline]
    pub fn first(&self) -> Option<&Entry> {
        self.entries.front()
    }

    /// The piece that has `position` within it.
    pub fn at(&self, position: u64) -> Option<&Entry> {
        let place = self.entries.partition_point(|entry| entry.end <= position);
        self.entries
            .get(place)
            .filter(|entry| entry.seq <= position)
    }

    /// Takes the first piece, or what of it is before `position`, if anything.
    #[inline]
    pub fn pop_before(&mut self, position: u64, full: u64) -> Option<Entry> {
        let first = self.entries.front_mut()?;
        if first.end <= position {
            return self.entries.pop_front();
        }
        (first.seq < position).then(|| first.split(position, full))
    }

    /// Shows each piece within a range, cut at its ends.
    pub fn each_within(&mut self, range: &Range<u64>, full: u64, mut see: impl FnMut(&mut Entry)) {
        self.cut(range.start, full);
        self.cut(range.end, full);
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

    /// What was sent just before `position`, and has not arrived, is passed over by something with this RTT. No more than `most` pieces.
    pub fn pass_over(&mut self, position: u64, rtt: u32, most: usize) {
        let place = self.entries.partition_point(|entry| entry.end <= position);
        let before = self.entries.range_mut(..place).rev().take(most);
        for entry in before.take_while(|entry| entry.status == Status::Sent && entry.next_rtt == 0)
        {
            entry.next_rtt = rtt;
        }
    }

    /// Cuts the piece that has `position` within it.
    fn cut(&mut self, position: u64, full: u64) {
        let place = self.entries.partition_point(|entry| entry.end <= position);
        let Some(entry) = self.entries.get_mut(place) else {
            return;
        };
        if entry.seq < position {
            let before = entry.split(position, full);
            self.entries.insert(place, before);
        }
    }
}
