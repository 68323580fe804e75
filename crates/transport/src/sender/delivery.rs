//! What one ACK delivered.

use congestion::{Bytes, RttSample, Time};

use super::scoreboard::Packet;

/// What one ACK delivered, and what its packets tell.
#[derive(Debug)]
pub struct Delivery {
    /// The timestamp that came back (TSecr).
    pub echo: Time,
    /// Bytes that are newly known to have arrived.
    pub bytes: Bytes,
    /// Whether the cumulative acknowledgement advanced.
    pub is_progress: bool,
    /// Whether something was newly acknowledged selectively.
    pub is_selective: bool,
    /// Whether a packet arrived that was sent before the recovery and never repeated (Linux `FLAG_ORIG_SACK_ACKED`).
    pub has_first_transmission: bool,
    /// Packets newly acknowledged cumulatively.
    pub in_order: u64,
    /// When the first of the packets delivered that was never repeated was sent: of those in order, if there are any
    /// (Linux `tcp_ack_update_rtt`, `seq_rtt_us`).
    pub oldest: Option<Time>,
    newest: Option<Newest>,
}

/// Of the packets delivered the one sent last.
#[derive(Debug, Clone, Copy)]
struct Newest {
    sequence: u64,
    sent: Time,
    is_repeated: bool,
}

impl Delivery {
    /// Nothing yet, by an ACK with this timestamp.
    pub fn new(echo: Time) -> Delivery {
        Delivery {
            echo,
            bytes: Bytes::ZERO,
            is_progress: false,
            is_selective: false,
            has_first_transmission: false,
            in_order: 0,
            oldest: None,
            newest: None,
        }
    }

    /// One more packet; those up to `recovery_end` were sent before the recovery.
    #[inline]
    pub fn add(&mut self, packet: &Packet, recovery_end: u64) {
        self.bytes += packet.state.bytes;
        self.has_first_transmission |= !packet.is_repeated && packet.end() <= recovery_end;
        if !packet.is_repeated {
            self.oldest.get_or_insert(packet.state.sent_time);
        }
        let sequence = packet.state.sequence;
        if self.newest.is_none_or(|newest| sequence > newest.sequence) {
            self.newest = Some(Newest {
                sequence,
                sent: packet.state.sent_time,
                is_repeated: packet.is_repeated,
            });
        }
    }

    /// Whether all that was delivered had been sent before `packet` was, for the last time.
    pub fn precedes(&self, packet: &Packet) -> bool {
        let sequence = packet.state.sequence;
        self.newest.is_some_and(|newest| newest.sequence < sequence)
    }

    /// The round-trip time of the newest packet delivered: by when it was sent, unless it was repeated and the timestamp
    /// does not tell that this is the copy that arrived (Karn's algorithm, RFC 6298 section 3, and RFC 7323).
    pub fn rtt(&self, now: Time, mss: Bytes) -> Option<RttSample> {
        let newest = self.newest?;
        let is_known = !newest.is_repeated || self.echo == newest.sent;
        // A runt in order, which the receiver may have held back in the hope of another (Linux `FLAG_ACK_MAYBE_DELAYED`).
        let is_ack_delayed = self.in_order == 1 && !self.is_selective && self.bytes < mss;
        is_known.then(|| RttSample {
            rtt: now.since(newest.sent),
            is_ack_delayed,
        })
    }
}
