//! A stretch of the delivery curve during which the flow was slow on purpose, as in ProbeRTT.

use units::Bytes;

/// Packets sent within it show the rate of the flow, not that of the path. In ProbeRTT they count as
/// application-limited (BBR draft, "ProbeRTT Logic", which marks the connection; Linux, `bbr_update_min_rtt`). The
/// sampler belongs to the transport, so the controller remembers the stretch itself.
#[derive(Debug, Clone)]
pub struct SlowStretch {
    from: Bytes,
    to: Bytes,
}

impl SlowStretch {
    /// An empty stretch.
    pub fn none() -> SlowStretch {
        SlowStretch {
            from: Bytes::MAX,
            to: Bytes::ZERO,
        }
    }

    /// Begins a stretch at this total of delivered bytes.
    pub fn begin(&mut self, delivered: Bytes) {
        self.from = delivered;
    }

    /// Extends the stretch over everything in flight now.
    pub fn extend(&mut self, delivered: Bytes, inflight: Bytes) {
        self.to = delivered + inflight;
    }

    /// Sets whether the flow is slow from now on. An earlier stretch continues if not everything sent within it is
    /// delivered yet.
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

    /// Whether a packet was sent within the stretch, by the bytes delivered at its departure.
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
        // Slow again before the end of the stretch, and again after it.
        stretch.follow(true, KB * 24, KB * 4);
        assert!(stretch.contains(KB * 11) && stretch.contains(KB * 40));
        stretch.follow(false, KB * 30, KB * 4);
        stretch.follow(true, KB * 40, KB * 4);
        assert!(!stretch.contains(KB * 39) && stretch.contains(KB * 40));
    }
}
