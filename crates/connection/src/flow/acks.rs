//! The acknowledgements of a flow's receiver.

use capture::packet::Segment;
use congestion::{Duration, Time};

use super::stream::Stream;
use crate::ack_copies::AckCopies;

/// An acknowledgement of up to this many packets that were not captured is believed.
const MAX_UNCAPTURED_PACKETS: u64 = 10;

/// An acknowledgement confirms another one that is lower by no more than this many bytes.
const MAX_CONFIRMED_STEP: u64 = 1 << 24;

/// The same acknowledgement is believed when it comes for this time. A receiver repeats it when its window changes.
const BELIEVED_AT_REPEAT: u8 = 3;

/// The acknowledgements of one direction.
#[derive(Debug, Clone)]
pub struct Acks {
    /// The latest ones, to tell copies.
    pub copies: AckCopies,
    /// TSval of the newest one.
    newest: Option<u32>,
    /// The latest one, if it is of data that were not captured, and how often it has come.
    pub claimed: Option<(u64, u8)>,
    /// True if any SACK blocks were captured; true if any may have been cut off.
    has_sacks: bool,
    is_any_cut: bool,
    /// When the latest one passed.
    pub latest: Time,
    /// When new data were last acknowledged. Only that restarts the retransmission timer (RFC 6298, section 5.3).
    pub progressed: Time,
    /// For how long the receiver held the present one back. TCP does not tell this.
    pub delay: Duration,
}

impl Acks {
    /// The connection was established at `at`.
    pub fn new(at: Time) -> Acks {
        Acks {
            copies: AckCopies::default(),
            newest: None,
            claimed: None,
            has_sacks: false,
            is_any_cut: false,
            latest: at,
            progressed: at,
            delay: Duration::ZERO,
        }
    }

    /// True if an acknowledgement comes from the receiver. One of data that were not captured may come from anybody. If it is
    /// of much more than what is outstanding, it needs a second one, a little higher, or has to come three times. `mss` is the
    /// payload of a full packet.
    pub fn is_believed(&mut self, ack: u64, stream: &Stream, mss: u64) -> bool {
        let (first, times) = self.claimed.unwrap_or_default();
        let is_higher = times > 0 && first < ack && ack - first <= MAX_CONFIRMED_STEP;
        let times = if first == ack {
            times.saturating_add(1)
        } else {
            1
        };
        self.claimed = Some((ack, times));
        let few = stream.unacked().max(mss * MAX_UNCAPTURED_PACKETS);
        is_higher || times >= BELIEVED_AT_REPEAT || ack - stream.end <= few
    }

    /// True if an acknowledgement has an older timestamp than an earlier one: it was overtaken, or it is a copy.
    #[inline]
    pub fn is_old(&mut self, stamps: Option<(u32, u32)>) -> bool {
        let Some((value, _)) = stamps else {
            return false;
        };
        let is_older = |newest: u32| value.wrapping_sub(newest).cast_signed() < 0;
        if self.newest.is_some_and(is_older) {
            return true;
        }
        self.newest = Some(value);
        false
    }

    /// Notes whether an acknowledgement has SACK blocks, and whether any may have been cut off.
    #[inline]
    pub fn on_sacks(&mut self, segment: &Segment) {
        self.is_any_cut |= segment.is_cut;
        self.has_sacks |= segment.sack_count > 0;
    }

    /// True if SACK blocks tell when data behind a hole arrive.
    #[inline]
    pub fn show_arrivals(&self) -> bool {
        self.has_sacks && !self.is_any_cut
    }
}
