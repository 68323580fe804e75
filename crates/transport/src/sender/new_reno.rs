//! Loss detection for a peer without SACK: three duplicate ACKs show a loss (RFC 5681, "Fast Retransmit/Fast Recovery"),
//! and each partial ACK of a recovery the next one (RFC 6582).
//!
//! A duplicate ACK shows that a packet has arrived behind the first hole, and not which. Only the number of such packets
//! is kept (Linux `tcp_add_reno_sack`). They are no longer in flight, so that one new packet may leave for each (RFC
//! 3042), and they count as delivered. The ACK that fills the hole covers them as well, and delivers only the rest.

use congestion::Bytes;

use super::scoreboard::Scoreboard;

/// The duplicate ACKs that show a loss (RFC 5681).
const DUP_THRESHOLD: u64 = 3;

/// The most of them on a path that reorders (Linux `tcp_max_reordering`).
const MAX_THRESHOLD: u64 = 300;

#[derive(Debug, Clone)]
pub struct NewReno {
    /// The packets that have arrived behind the first hole (Linux `sacked_out`).
    arrived: u64,
    /// The number of them that shows a loss (Linux `reordering`).
    threshold: u64,
    /// The bytes that duplicate ACKs have counted as delivered, and that no ACK covers yet.
    counted: Bytes,
    /// Whether the latest ACK has shown that the first outstanding packet is a hole, if it was partial.
    is_partial: bool,
}

impl NewReno {
    pub fn new() -> NewReno {
        NewReno {
            arrived: 0,
            threshold: DUP_THRESHOLD,
            counted: Bytes::ZERO,
            is_partial: false,
        }
    }

    /// The packets that have arrived behind the first hole.
    pub fn arrived(&self) -> u64 {
        self.arrived
    }

    /// Whether enough packets have arrived behind the first hole.
    pub fn shows_loss(&self) -> bool {
        self.arrived >= self.threshold
    }

    /// Whether the latest ACK was partial, and shows the next hole.
    pub fn is_partial(&self) -> bool {
        self.is_partial
    }

    /// Notes an ACK that says nothing about a hole, or whose first transmission arrived late.
    pub fn spare_hole(&mut self) {
        self.is_partial = false;
    }

    /// Handles a duplicate ACK: a packet of `mss` bytes has arrived among those behind the first outstanding one, which
    /// have `behind` bytes. Returns the newly delivered bytes. There are none if more have arrived than were sent: then
    /// packets were duplicated or reordered.
    pub fn on_duplicate(&mut self, scoreboard: &Scoreboard, behind: Bytes, mss: Bytes) -> Bytes {
        self.is_partial = false;
        self.arrived += 1;
        if self.is_reordered(scoreboard, 0) {
            return Bytes::ZERO;
        }
        let bytes = mss.min(behind - self.counted);
        self.counted += bytes;
        bytes
    }

    /// Handles the acknowledgement of `packets` packets with `bytes`, of which the first was the hole and had `hole`
    /// bytes. Returns the bytes that are not counted yet. `behind` is as in [`NewReno::on_duplicate`], after this ACK.
    ///
    /// What was counted too much, because packets arrived twice, is made up for as soon as it exceeds what is outstanding.
    pub fn on_progress(
        &mut self,
        scoreboard: &Scoreboard,
        packets: u64,
        [hole, bytes, behind]: [Bytes; 3],
    ) -> Bytes {
        self.is_partial = true;
        self.arrived = self.arrived.saturating_sub(packets.saturating_sub(1));
        self.is_reordered(scoreboard, packets);
        let most = (bytes - hole).max(self.counted - behind).min(bytes);
        let covered = self.counted.min(most);
        self.counted -= covered;
        bytes - covered
    }

    /// Forgets the duplicate ACKs, because they were about another hole. The threshold stays, even after a timeout: Linux
    /// lowers it only for a peer with SACK, because it has forgotten the duplicate ACKs by then (`tcp_enter_loss`).
    pub fn reset(&mut self) {
        self.arrived = 0;
    }

    /// Whether more packets have arrived than there are behind holes. Then packets were reordered by up to what was
    /// outstanding before this ACK, which has acknowledged `acked` packets, and so many duplicate ACKs show a loss. With few
    /// packets outstanding, these are fewer than three (Linux `tcp_check_reno_reordering`).
    fn is_reordered(&mut self, scoreboard: &Scoreboard, acked: u64) -> bool {
        let numbers = scoreboard.numbers();
        let outstanding = numbers.end - numbers.start;
        let most = outstanding.saturating_sub(scoreboard.lost_packets().max(1));
        let is_reordered = self.arrived > most;
        if is_reordered {
            self.arrived = most;
            self.threshold = (outstanding + acked).min(MAX_THRESHOLD);
        }
        is_reordered
    }
}
