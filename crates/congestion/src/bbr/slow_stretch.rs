//! A stretch of the delivery curve during which the flow was slow on purpose, as in ProbeRTT.

use units::Bytes;

/// What was sent within it shows the rate of the flow, not that of the path. That of ProbeRTT counts as application-limited (BBR
/// draft, "ProbeRTT Logic", which marks the connection; Linux, `bbr_update_min_rtt`). The sampler is the transport's, so the
/// controller remembers the stretch itself.
#[derive(Debug, Clone)]
pub struct SlowStretch {
    from: Bytes,
    to: Bytes,
}

impl SlowStretch {
    /// Nowhere.
    pub fn none() -> SlowStretch {
        SlowStretch {
            from: Bytes::MAX,
            to: Bytes::ZERO,
        }
    }

    /// A stretch begins with so much delivered.
    pub fn begin(&mut self, delivered: Bytes) {
        self.from = delivered;
    }

    /// It lasts as long as what is in flight now.
    pub fn extend(&mut self, delivered: Bytes, inflight: Bytes) {
        self.to = delivered + inflight;
    }

    /// Whether the flow is slow from now on. The stretch goes on if what was sent within it is not all delivered yet.
    pub fn follow(&mut self, is_slow: bool, delivered: Bytes, inflight: Bytes) {
        let is_open = self.to == Bytes::MAX;
        if is_slow && !is_open {
            if !self.contains(delivered) {
                self.from = delivered;
            }
            self.to = Bytes::MAX;
        } else if !is_slow && is_open {
            self.to = delivered + inflight;
        }
    }

    /// Whether a packet was sent within the stretch, if `prior_delivered` had been delivered when it was.
    pub fn contains(&self, prior_delivered: Bytes) -> bool {
        self.from <= prior_delivered && prior_delivered <= self.to
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KB: Bytes = Bytes::new(1_000);

    #[test]
    fn it_lasts_until_what_was_sent_in_it_is_delivered() {
        let mut stretch = SlowStretch::none();
        stretch.follow(false, KB * 9, KB * 5);
        assert!(!stretch.contains(KB * 9));
        stretch.follow(true, KB * 10, KB * 5);
        stretch.follow(true, KB * 20, KB * 5);
        assert!(!stretch.contains(KB * 9) && stretch.contains(KB * 30));
        stretch.follow(false, KB * 21, KB * 4);
        assert!(stretch.contains(KB * 25) && !stretch.contains(KB * 26));
        // Slow again before that, and again after it.
        stretch.follow(true, KB * 24, KB * 4);
        assert!(stretch.contains(KB * 11) && stretch.contains(KB * 40));
        stretch.follow(false, KB * 30, KB * 4);
        stretch.follow(true, KB * 40, KB * 4);
        assert!(!stretch.contains(KB * 39) && stretch.contains(KB * 40));
    }
}
