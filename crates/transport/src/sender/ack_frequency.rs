//! The ACKs that the sender requests of its peer, by the state of its controller (BBR draft, "Impact of changing ACK
//! frequency").

use congestion::{AckFrequency, Controller};

use super::Sender;
use crate::segment::AckRequest;

/// The least number of ACKs in a round trip in which feedback matters.
const MIN_ACKS_PER_ROUND: u64 = 4;

/// The usual number of full segments that cause an ACK (RFC 5681).
const USUAL_SEGMENTS: u64 = 2;

impl<C: Controller> Sender<C> {
    /// The request on the packets that leave now. None before the first RTT, and if the controller wants the peer's own
    /// frequency.
    pub(super) fn ack_request(&self) -> Option<AckRequest> {
        if !self.config.requests_acks {
            return None;
        }
        let srtt = self.rtt.smoothed()?;
        let window = self.controller.cwnd().get() / self.config.mss.get().max(1);
        let part = window / MIN_ACKS_PER_ROUND;
        let frequency = self.controller.ack_frequency();
        let (segments, max_delay) = match frequency {
            AckFrequency::Usual => return None,
            AckFrequency::Frequent | AckFrequency::Prompt => {
                (part.min(USUAL_SEGMENTS), srtt / MIN_ACKS_PER_ROUND)
            }
            AckFrequency::Rare => (part.max(USUAL_SEGMENTS), srtt / 2),
        };
        Some(AckRequest {
            every: u32::try_from(segments.max(1)).unwrap_or(u32::MAX),
            max_delay,
            is_immediate: frequency == AckFrequency::Prompt,
        })
    }
}
