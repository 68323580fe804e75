//! The data delivered by one ACK.

use congestion::{Bytes, RttSample, Time};

use super::scoreboard::Packet;

/// The data delivered by one ACK, and the facts that their packets show.
#[derive(Debug)]
pub struct Delivery {
    /// The echoed timestamp (TSecr).
    pub echo: Time,
    /// Bytes newly known to have arrived.
    pub bytes: Bytes,
    /// Whether the cumulative acknowledgement advanced.
    pub is_progress: bool,
    /// Whether data were newly acknowledged selectively.
    pub is_selective: bool,
    /// Whether it is a duplicate ACK of a peer without SACK: a packet has arrived behind a hole.
    pub is_duplicate: bool,
    /// Whether a packet arrived that was sent before the recovery and never retransmitted (Linux
    /// `FLAG_ORIG_SACK_ACKED`).
    pub has_first_transmission: bool,
    /// Packets newly acknowledged cumulatively.
    pub in_order: u64,
    /// The send time of the first delivered packet that was never retransmitted, preferably one in order (Linux
    /// `tcp_ack_update_rtt`, `seq_rtt_us`).
    pub oldest: Option<Time>,
    newest: Option<Newest>,
}

/// The delivered packet that was sent last.
#[derive(Debug, Clone, Copy)]
struct Newest {
    sequence: u64,
    sent: Time,
    is_retransmitted: bool,
}

impl Delivery {
    /// Creates an empty delivery of an ACK with this timestamp.
    pub fn new(echo: Time) -> Delivery {
        Delivery {
            echo,
            bytes: Bytes::ZERO,
            is_progress: false,
            is_selective: false,
            is_duplicate: false,
            has_first_transmission: false,
            in_order: 0,
            oldest: None,
            newest: None,
        }
    }

    /// Adds a packet; packets up to `recovery_end` were sent before the recovery.
    #[inline]
    pub fn add(&mut self, packet: &Packet, recovery_end: u64) {
        self.bytes += packet.state.bytes;
        self.has_first_transmission |= !packet.is_retransmitted && packet.end() <= recovery_end;
        if !packet.is_retransmitted {
            self.oldest.get_or_insert(packet.state.sent_time);
        }
        let sequence = packet.state.sequence;
        if self.newest.is_none_or(|newest| sequence > newest.sequence) {
            self.newest = Some(Newest {
                sequence,
                sent: packet.state.sent_time,
                is_retransmitted: packet.is_retransmitted,
            });
        }
    }

    /// Notes that a cumulative ACK without SACK covers a retransmitted packet. What else it covers may have arrived long
    /// before, so it shows no first transmission, and only its timestamp shows a round-trip time (Linux
    /// `tcp_clean_rtx_queue`).
    pub fn on_hole_filled(&mut self) {
        self.has_first_transmission = false;
        self.oldest = None;
        if let Some(newest) = &mut self.newest {
            newest.is_retransmitted = true;
        }
    }

    /// Whether all delivered packets were sent before the last transmission of `packet`.
    pub fn precedes(&self, packet: &Packet) -> bool {
        let sequence = packet.state.sequence;
        self.newest.is_some_and(|newest| newest.sequence < sequence)
    }

    /// The round-trip time of the newest delivered packet. A retransmitted packet gives none, unless the timestamp
    /// shows that its last transmission is the one that arrived (Karn's algorithm, RFC 6298 section 3, and RFC 7323).
    pub fn rtt(&self, now: Time, mss: Bytes) -> Option<RttSample> {
        let newest = self.newest?;
        let is_known = !newest.is_retransmitted || self.echo == newest.sent;
        // A single small packet in order, whose ACK the receiver may have delayed (Linux `FLAG_ACK_MAYBE_DELAYED`).
        let is_ack_delayed = self.in_order == 1 && !self.is_selective && self.bytes < mss;
        is_known.then(|| RttSample {
            rtt: now.since(newest.sent),
            is_ack_delayed,
        })
    }
}
