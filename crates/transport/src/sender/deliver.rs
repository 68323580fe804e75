//! Extraction of the delivered data from an ACK.

use congestion::{Bytes, Controller, Time};

use super::Sender;
use super::delivery::Delivery;
use super::recovery::Phase;
use crate::segment;

impl<C: Controller> Sender<C> {
    /// Updates the scoreboard with an ACK: first its cumulative acknowledgement, then its selective ones.
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

        // In the order of the stream, so that only reordering by the network counts as such.
        let mut blocks = [(0, 0); segment::MAX_SACK_BLOCKS];
        for (slot, range) in blocks.iter_mut().zip(ack.sacks.ranges()) {
            *slot = (range.start, range.end);
        }
        blocks.sort_unstable();
        for (start, end) in blocks {
            // Only blocks within the outstanding data are valid (Linux `tcp_is_sackblock_valid`).
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

    /// Updates the scoreboard with an ACK of a peer without SACK. Each duplicate ACK delivers a packet, and the ACK that
    /// fills the hole only what they have not delivered.
    pub(super) fn deliver_in_order(
        &mut self,
        now: Time,
        ack: &segment::Ack,
        moves_window: bool,
    ) -> Delivery {
        let is_repeated = ack.next == self.stream.una() && !moves_window;
        let is_duplicate = is_repeated && self.heeds_duplicates();
        let mut delivery = Delivery::new(ack.echo);
        let recovery_end = self.recovery.end();
        let mut hole = None;
        let mut is_repaired = false;
        delivery.is_progress = self.stream.acknowledge(ack.next);
        let Sender {
            scoreboard,
            sampler,
            new_reno,
            ..
        } = self;
        scoreboard.acknowledge(ack.next, |packet| {
            delivery.in_order += 1;
            delivery.add(packet, recovery_end);
            hole.get_or_insert(packet.state.bytes);
            is_repaired |= packet.is_retransmitted;
            sampler.on_packet_named(&packet.state);
        });
        if is_repaired {
            delivery.on_hole_filled();
        }
        let next = self.stream.next();
        let behind = scoreboard.front().map_or(0, |front| next - front.end());
        let behind = Bytes::new(behind);
        if delivery.is_progress {
            let sizes = [hole.unwrap_or_default(), delivery.bytes, behind];
            delivery.bytes = new_reno.on_progress(scoreboard, delivery.in_order, sizes);
            // Outside a recovery, the earlier duplicate ACKs were about the hole that is filled.
            if self.recovery.phase() != Phase::Recovery || ack.next >= recovery_end {
                new_reno.reset();
            }
        } else if is_duplicate {
            delivery.is_duplicate = true;
            delivery.bytes = new_reno.on_duplicate(scoreboard, behind, self.config.mss);
        } else {
            new_reno.spare_hole();
        }
        if !delivery.bytes.is_zero() {
            self.sampler.on_bytes_delivered(now, delivery.bytes);
        }
        self.stats.delivered += delivery.bytes;
        delivery
    }

    /// Whether a duplicate ACK shows that a packet has arrived. At the end of a recovery it may be due to what was
    /// retransmitted in vain, and after a timeout only new data are not (Linux `tcp_fastretrans_alert`,
    /// `tcp_process_loss`).
    fn heeds_duplicates(&self) -> bool {
        let (una, next, end) = (self.stream.una(), self.stream.next(), self.recovery.end());
        !self.scoreboard.is_empty()
            && match self.recovery.phase() {
                Phase::Open | Phase::Cwr => true,
                Phase::Recovery => una < end,
                Phase::Loss => una < end && next > end,
            }
    }
}
