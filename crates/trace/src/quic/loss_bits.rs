//! Losses from the two loss bits (draft-ferrieux-hamchaoui-quic-lossbits). The square bit flips after every 64 packets, so
//! packets that are missing in a block were lost before the capture. The loss bit is set on one packet for each packet that
//! its sender declared lost.
//!
//! Most connections do not use these bits. Header protection then makes them random, with blocks of one or two packets.

/// The packets in a sender's block (the draft, "Q Run Length").
const BLOCK_PACKETS: u64 = 64;

/// The fewest packets in a run that counts as a block. Shorter runs come from reordering at an edge.
const MIN_BLOCK_PACKETS: u64 = BLOCK_PACKETS / 4;

/// The number of whole blocks that prove that the bit is used.
const MIN_BLOCKS: u64 = 3;

/// The loss bits of one direction.
#[derive(Debug, Clone, Copy, Default)]
pub struct LossBits {
    value: Option<bool>,
    run: u64,
    runs: u64,
    blocks: u64,
    in_blocks: u64,
    packets: u64,
    reported: u64,
}

impl LossBits {
    #[inline]
    pub fn on_packet(&mut self, square: bool, loss: bool) {
        self.packets += 1;
        self.reported += u64::from(loss);
        if self.value.replace(square) == Some(square) {
            self.run += 1;
            return;
        }
        // The first block may have begun before the capture.
        if self.runs > 1 && self.run >= MIN_BLOCK_PACKETS {
            self.blocks += 1;
            self.in_blocks += self.run;
        }
        self.runs += 1;
        self.run = 1;
    }

    /// The shares of packets that were lost before the capture, and that their sender declared lost. `None` if the bits are
    /// not used.
    pub fn losses(&self) -> Option<(f64, f64)> {
        let is_used = self.blocks >= MIN_BLOCKS && self.runs * MIN_BLOCK_PACKETS < self.packets;
        is_used.then(|| {
            let sent = (self.blocks * BLOCK_PACKETS) as f64;
            let before = 1.0 - self.in_blocks as f64 / sent;
            let reported = self.reported as f64 / self.packets as f64;
            (before.max(0.0), reported)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_of_blocks_was_lost() {
        let mut bits = LossBits::default();
        for number in 0..64_000_u64 {
            // One packet in fifty is lost before the capture, and another one in a hundred behind it.
            if number % 50 != 7 {
                bits.on_packet(number / BLOCK_PACKETS % 2 == 1, number % 100 < 3);
            }
        }
        let (before, reported) = bits.losses().expect("used");
        assert!((before - 0.02).abs() < 0.001, "{before}");
        assert!((reported - 0.03).abs() < 0.002, "{reported}");
    }

    #[test]
    fn protected_bits_show_nothing() {
        let (mut bits, mut random) = (LossBits::default(), 7_u64);
        for _ in 0..100_000 {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            bits.on_packet(random >> 62 & 1 != 0, random >> 63 != 0);
        }
        assert_eq!(bits.losses(), None);
    }
}
