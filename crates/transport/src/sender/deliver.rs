//! Extraction of the delivered data from an ACK.

use congestion::{Controller, Time};

use super::Sender;
use super::delivery::Delivery;
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
}
