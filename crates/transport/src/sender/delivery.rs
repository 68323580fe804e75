//! What one ACK delivered.

use congestion::{Bytes, Controller, RttSample, Time};

use super::Sender;
use super::scoreboard::Packet;
use crate::segment;

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
    in_order: u64,
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
    fn new(echo: Time) -> Delivery {
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

    #[inline]
    fn add(&mut self, packet: &Packet, recovery_end: u64) {
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

impl<C: Controller> Sender<C> {
    /// Moves the scoreboard to what the ACK tells: first what it acknowledges cumulatively, then selectively.
    pub(super) fn deliver(&mut self, now: Time, ack: &segment::Ack) -> Delivery {
        let mut delivery = Delivery::new(ack.echo);
        let Sender {
            scoreboard,
            sampler,
            rack,
            dup_threshold,
            rtt,
            stream,
            ..
        } = self;
        let recovery_end = self.recovery.end();
        let mss = self.config.mss;

        let newest = rack.newest();
        delivery.is_progress = stream.acknowledge(ack.next);
        scoreboard.acknowledge(ack.next, |packet| {
            delivery.in_order += 1;
            delivery.add(packet, recovery_end);
            sampler.on_packet_acked(now, &packet.state);
            rack.on_delivered(now, packet, Some(ack.echo), newest, rtt);
        });

        // In the order of the stream, so that only what the network has reordered looks so.
        let mut blocks = [(0, 0); segment::MAX_SACK_BLOCKS];
        for (place, range) in blocks.iter_mut().zip(ack.sacks.ranges()) {
            *place = (range.start, range.end);
        }
        blocks.sort_unstable();
        for (start, end) in blocks {
            // Linux `tcp_is_sackblock_valid`: within what is outstanding.
            if start <= stream.una() || start >= end || end > stream.next() {
                continue;
            }
            scoreboard.sack(start, end, mss, |number, packet| {
                delivery.is_selective = true;
                delivery.add(packet, recovery_end);
                sampler.on_packet_acked(now, &packet.state);
                rack.on_delivered(now, packet, None, newest, rtt);
                dup_threshold.on_sacked(number);
            });
        }
        self.stats.delivered += delivery.bytes;
        delivery
    }
}
