//! The identities of a flow's packets: their numbers (IP identification) and timestamps. They tell copies from retransmissions,
//! and packets that were lost before the capture.

use congestion::{Duration, Time};

use super::Vantage;
use crate::numbers::{Gap, Numbers};
use crate::scoreboard::Mark;

/// Packets that pass within this many round trips of a hole may follow other losses.
const NEAR_A_HOLE_RTTS: u64 = 3;

/// A retransmission after this long has another timestamp (Linux counts milliseconds).
const TIMESTAMP_TICKS: Duration = Duration::from_millis(2);

/// The numbers of a flow's packets.
#[derive(Debug, Clone, Copy, Default)]
pub struct Identifications {
    /// The number of the latest packet with new data, and whether packets differ in it.
    latest: u16,
    pub are_used: bool,
    /// The numbers, in order.
    pub numbers: Numbers,
    /// When data were last missing.
    last_missing: Option<Time>,
    /// True if data were acknowledged and not captured since the latest packet with data.
    pub has_missed: bool,
}

impl Identifications {
    /// New data pass with this number.
    #[inline]
    pub fn on_new_data(&mut self, id: u16) {
        self.are_used |= self.latest != 0 && id != self.latest;
        self.latest = id;
    }

    /// A segment of this many packets passes, and `gap` is what a gap before it is.
    #[inline]
    pub fn on_segment(&mut self, id: u16, packets: u64, gap: Gap) {
        self.has_missed = false;
        self.numbers.on_segment(id, packets, gap);
    }

    /// The identity of a packet with this number and this TSval.
    #[inline]
    pub fn mark(&self, id: u16, value: Option<u32>) -> Mark {
        Mark {
            id,
            is_numbered: id != 0 || self.are_used,
            value,
        }
    }

    /// The kind of a gap in the numbers. If data are missing, it is a loss. If the tail of all data was lost before the capture, its
    /// retransmission follows the data before without a hole, after a time without data (`is_silent`) or soon after other losses.
    /// Data that were acknowledged and not captured have numbers, too.
    #[inline]
    pub fn gap(
        &mut self,
        at: Time,
        is_missing: bool,
        is_silent: bool,
        rtt: Duration,
        vantage: Vantage,
    ) -> Gap {
        if is_missing {
            self.last_missing = Some(at);
        }
        let is_soon = |last: Time| at.since(last) <= rtt * NEAR_A_HOLE_RTTS;
        let may_follow = is_silent || self.last_missing.is_some_and(is_soon);
        match vantage {
            _ if is_missing || self.has_missed => Gap::Loss,
            Vantage::Elsewhere if may_follow => Gap::Tail,
            _ => Gap::Stray,
        }
    }

    /// True if a packet is a copy of one that passed `age` before, `known`. A copy has the same timestamp and the same IP
    /// identification, or comes too soon for a retransmission. A packet with another identification is another packet, even if
    /// it comes soon, unless a device on the way has changed the identification. `least` is the least RTT.
    pub fn is_copy(&self, mark: Mark, known: Mark, age: Duration, least: Option<Duration>) -> bool {
        let is_soon = || least.is_some_and(|least| age < least / 4 * 3);
        let is_same_number = mark.id == known.id;
        // The next numbers of the sender are those of a retransmission.
        let is_next = || self.numbers.continue_with(mark.id);
        let stamps = mark.value.zip(known.value);
        match stamps.map(|(value, known)| value.wrapping_sub(known).cast_signed()) {
            // A retransmission never has an older timestamp.
            Some(..0) => true,
            Some(1..) => false,
            Some(0) if !self.are_used => {
                is_soon() || least.is_none_or(|least| least >= TIMESTAMP_TICKS)
            }
            Some(0) => is_same_number || is_soon() && !is_next(),
            None if self.are_used && mark.id != 0 => {
                is_same_number || age < TIMESTAMP_TICKS && is_soon() && !is_next()
            }
            None => is_soon(),
        }
    }
}
