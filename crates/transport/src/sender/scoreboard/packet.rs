//! A packet on the scoreboard, and the ring that holds them all.

use std::collections::VecDeque;

use congestion::PacketState;

/// Packets are numbered in the order of the stream, from 0 on.
pub type Number = u64;

/// What is known of a packet that is not yet acknowledged cumulatively. Each is in exactly one place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// In flight, listed in the order of transmission.
    Flight,
    /// In flight and not listed: time found it lost, and that was undone. It has been judged, so that only a probe or a timeout
    /// can find it lost (Linux `tcp_rack_detect_loss`, which takes it from `tsorted_sent_queue` for good, while
    /// `tcp_timeout_mark_lost` leaves it there).
    Acquitted,
    /// Declared lost, and waiting to be sent again.
    Lost,
    /// Acknowledged selectively.
    Sacked,
}

impl Place {
    pub fn is_in_flight(self) -> bool {
        matches!(self, Place::Flight | Place::Acquitted)
    }
}

/// A packet that was sent and is not yet acknowledged cumulatively.
#[derive(Debug, Clone, Copy)]
pub struct Packet {
    /// The stream position of its first byte.
    pub start: u64,
    /// Its latest transmission, as the sampler saw it.
    pub state: PacketState,
    /// The low half of the number of its neighbour in its list; its own, if there is none. Of a packet that is
    /// [`Place::Sacked`]: of a later packet, with only such packets between.
    next: u32,
    /// The same for the neighbour in front.
    previous: u32,
    pub place: Place,
    /// Whether it was sent more than once.
    pub is_repeated: bool,
    /// Whether it was declared lost and, repeated or not, is not known to have arrived since (Linux `TCPCB_LOST`).
    pub is_lost: bool,
}

impl Packet {
    /// The stream position behind its last byte.
    pub fn end(&self) -> u64 {
        self.start + self.state.bytes.get()
    }
}

/// How many times too large a ring must be to be made smaller; half of that is left, so that it seldom has to grow again.
const EXCESS: usize = 4;

/// Packets of a ring that is never too large.
const SMALL: usize = 64;

/// After how many turns around a ring its size is looked at: so many that what comes round again, such as the data that waits
/// for the end of a ProbeRTT, finds its ring as it was.
const TURNS: usize = 64;

/// The packets from the first not cumulatively acknowledged to the last sent.
///
/// Packets come and go all around the memory of the ring, most of which is in no cache if it is much larger than need be.
/// So what Startup has made large becomes small again.
#[derive(Debug, Clone, Default)]
pub struct Ring {
    packets: VecDeque<Packet>,
    /// The number of the first.
    first: Number,
    /// The most packets at a time since the size was last looked at, and how many have left since.
    peak: u32,
    popped: u32,
}

impl Ring {
    /// The number of the first packet; that of the next to be pushed if there is none.
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

    /// Appends a packet in flight, listed nowhere yet; gives its number.
    #[inline]
    pub fn push(&mut self, start: u64, state: PacketState) -> Number {
        let number = self.end();
        self.packets.push_back(Packet {
            start,
            state,
            next: number as u32,
            previous: number as u32,
            place: Place::Flight,
            is_repeated: false,
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
        // What has run empty begins again in the same place, so that few packets at a time go round in little memory.
        if self.packets.is_empty() {
            self.packets.clear();
        }
        if self.popped as usize >= self.packets.capacity().saturating_mul(TURNS) {
            self.fit();
        }
    }

    /// Makes the ring smaller if the last turns around it have shown that it is much too large.
    fn fit(&mut self) {
        let needed = (self.peak as usize).max(SMALL);
        if needed.saturating_mul(EXCESS) <= self.packets.capacity() {
            self.packets.shrink_to(needed * EXCESS / 2);
        }
        self.peak = self.packets.len() as u32;
        self.popped = 0;
    }

    /// The first packet that begins at `position` or later, when nearly all packets have `mss` bytes.
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

    /// The packet behind `number` in its list, or that a packet in [`Place::Sacked`] points to.
    pub fn next(&self, number: Number) -> Option<Number> {
        let next = expand(self.first, self.get(number)?.next);
        (next != number).then_some(next)
    }

    /// Lets `number` have these neighbours in its list.
    pub fn link(&mut self, number: Number, previous: Option<Number>, next: Option<Number>) {
        if let Some(packet) = self.get_mut(number) {
            packet.previous = previous.unwrap_or(number) as u32;
            packet.next = next.unwrap_or(number) as u32;
        }
    }

    /// Lets `number` have no neighbours any more; gives what they were, the previous and the next.
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

    /// Lets `number` have `next` behind it.
    pub fn set_next(&mut self, number: Number, next: Option<Number>) {
        if let Some(packet) = self.get_mut(number) {
            packet.next = next.unwrap_or(number) as u32;
        }
    }

    /// Lets `number` have `previous` in front of it.
    pub fn set_previous(&mut self, number: Number, previous: Option<Number>) {
        if let Some(packet) = self.get_mut(number) {
            packet.previous = previous.unwrap_or(number) as u32;
        }
    }
}

/// The number, not before that of the `first` packet of a ring, whose low half is `low`: no ring holds 2^32 packets.
fn expand(first: Number, low: u32) -> Number {
    first + u64::from(low.wrapping_sub(first as u32))
}
