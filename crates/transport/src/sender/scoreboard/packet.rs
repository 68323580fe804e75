//! A packet on the scoreboard, and the ring that holds them all.

use std::collections::VecDeque;

use congestion::PacketState;

/// The number of a packet, in the order of the stream, from 0.
pub type Number = u64;

/// The status of a packet that is not yet acknowledged cumulatively.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// In flight, and listed in the order of transmission.
    Flight,
    /// In flight and not listed: it was declared lost by time, and that was undone. Only a probe or a timeout can
    /// declare it lost again (Linux `tcp_rack_detect_loss` removes it from `tsorted_sent_queue` for good;
    /// `tcp_timeout_mark_lost` leaves it there).
    Acquitted,
    /// Declared lost, and waiting for its retransmission.
    Lost,
    /// Acknowledged selectively.
    Sacked,
}

impl Status {
    pub fn is_in_flight(self) -> bool {
        matches!(self, Status::Flight | Status::Acquitted)
    }
}

/// A packet that is not yet acknowledged cumulatively.
#[derive(Debug, Clone, Copy)]
pub struct Packet {
    /// The stream position of its first byte.
    pub start: u64,
    /// Its latest transmission, as recorded by the sampler.
    pub state: PacketState,
    /// The low half of the number of the next packet in its list; its own, if there is none. For a [`Status::Sacked`]
    /// packet: that of a later packet, with only such packets between.
    next: u32,
    /// The same for the previous packet in its list.
    previous: u32,
    pub status: Status,
    /// Whether it was sent more than once.
    pub is_retransmitted: bool,
    /// Whether it was declared lost and, retransmitted or not, is not known to have arrived since (Linux `TCPCB_LOST`).
    pub is_lost: bool,
}

impl Packet {
    /// The end position of its last byte.
    pub fn end(&self) -> u64 {
        self.start + self.state.bytes.get()
    }
}

/// The ratio of capacity to need at which a ring shrinks. It shrinks to half of that ratio, so that it seldom has to
/// grow again.
const SHRINK_RATIO: usize = 4;

/// The need, in packets, below which a ring does not shrink.
const MIN_SHRINK_PACKETS: usize = 64;

/// The number of turns around a ring after which its size is checked. It is large enough that recurring peaks, such
/// as the data that wait for the end of a ProbeRTT, do not make the ring shrink.
const TURNS_PER_CHECK: usize = 64;

/// The packets from the first one not cumulatively acknowledged to the last one sent.
///
/// Packets use all of the ring's memory in turn. If it is much larger than necessary, most of it is in no cache. So a
/// ring that Startup has enlarged shrinks again.
#[derive(Debug, Clone, Default)]
pub struct Ring {
    packets: VecDeque<Packet>,
    /// The number of the first packet.
    first: Number,
    /// The most packets since the size was last checked, and the number removed since.
    peak: u32,
    popped: u32,
}

impl Ring {
    /// The number of the first packet; if there is none, that of the next to be pushed.
    pub fn first(&self) -> Number {
        self.first
    }

    /// The number of the next packet to be pushed.
    pub fn end(&self) -> Number {
        self.first + self.packets.len() as u64
    }

    pub fn len(&self) -> usize {
        self.packets.len()
    }

    #[inline]
    pub fn front(&self) -> Option<&Packet> {
        self.packets.front()
    }

    #[inline]
    pub fn get(&self, number: Number) -> Option<&Packet> {
        let index = number.checked_sub(self.first)?;
        self.packets.get(usize::try_from(index).ok()?)
    }

    #[inline]
    pub fn get_mut(&mut self, number: Number) -> Option<&mut Packet> {
        let index = number.checked_sub(self.first)?;
        self.packets.get_mut(usize::try_from(index).ok()?)
    }

    /// Appends a packet in flight, which is in no list yet; returns its number.
    #[inline]
    pub fn push(&mut self, start: u64, state: PacketState) -> Number {
        let number = self.end();
        self.packets.push_back(Packet {
            start,
            state,
            next: number as u32,
            previous: number as u32,
            status: Status::Flight,
            is_retransmitted: false,
            is_lost: false,
        });
        self.peak = self.peak.max(self.packets.len() as u32);
        number
    }

    /// Removes the first packet, which must be in no list.
    pub fn pop(&mut self) {
        if self.packets.pop_front().is_none() {
            return;
        }
        self.first += 1;
        self.popped += 1;
        // An empty ring restarts at the same status, so that few packets at a time use little memory.
        if self.packets.is_empty() {
            self.packets.clear();
        }
        if self.popped as usize >= self.packets.capacity().saturating_mul(TURNS_PER_CHECK) {
            self.fit();
        }
    }

    /// Shrinks the ring if its last turns have shown that it is much too large.
    fn fit(&mut self) {
        let needed = (self.peak as usize).max(MIN_SHRINK_PACKETS);
        if needed.saturating_mul(SHRINK_RATIO) <= self.packets.capacity() {
            self.packets.shrink_to(needed * SHRINK_RATIO / 2);
        }
        self.peak = self.packets.len() as u32;
        self.popped = 0;
    }

    /// The first packet that begins at `position` or later; fast if nearly all packets have `mss` bytes.
    #[inline]
    pub fn at_or_after(&self, position: u64, mss: u64) -> Number {
        let Some(front) = self.packets.front() else {
            return self.first;
        };
        let guess = position.saturating_sub(front.start) / mss.max(1);
        let is_hit = |index: &usize| {
            let found = self.packets.get(*index);
            found.is_some_and(|packet| packet.start == position)
        };
        let index = usize::try_from(guess)
            .ok()
            .filter(is_hit)
            .unwrap_or_else(|| self.packets.partition_point(|p| p.start < position));
        self.first + index as u64
    }

    /// The next packet in its list, or the one to which a [`Status::Sacked`] packet links.
    pub fn next(&self, number: Number) -> Option<Number> {
        let next = expand(self.first, self.get(number)?.next);
        (next != number).then_some(next)
    }

    /// Sets the neighbours of `number` in its list.
    pub fn link(&mut self, number: Number, previous: Option<Number>, next: Option<Number>) {
        if let Some(packet) = self.get_mut(number) {
            packet.previous = previous.unwrap_or(number) as u32;
            packet.next = next.unwrap_or(number) as u32;
        }
    }

    /// Removes the neighbours of `number`; returns the previous and the next.
    pub fn unlink(&mut self, number: Number) -> (Option<Number>, Option<Number>) {
        let first = self.first;
        let own = number as u32;
        let Some(packet) = self.get_mut(number) else {
            return (None, None);
        };
        let previous = core::mem::replace(&mut packet.previous, own);
        let next = core::mem::replace(&mut packet.next, own);
        let neighbour = |low| (low != own).then(|| expand(first, low));
        (neighbour(previous), neighbour(next))
    }

    /// Sets the next neighbour of `number`.
    pub fn set_next(&mut self, number: Number, next: Option<Number>) {
        if let Some(packet) = self.get_mut(number) {
            packet.next = next.unwrap_or(number) as u32;
        }
    }

    /// Sets the previous neighbour of `number`.
    pub fn set_previous(&mut self, number: Number, previous: Option<Number>) {
        if let Some(packet) = self.get_mut(number) {
            packet.previous = previous.unwrap_or(number) as u32;
        }
    }
}

/// The number whose low half is `low` and which is not before `first`, the first packet of a ring: no ring holds 2^32
/// packets.
fn expand(first: Number, low: u32) -> Number {
    first + u64::from(low.wrapping_sub(first as u32))
}
