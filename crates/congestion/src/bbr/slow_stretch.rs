//! The stretch of the delivery curve during which ProbeRTT kept the flow slow.

use units::Bytes;

/// What was sent within it shows the rate of ProbeRTT, not that of the path, so it counts as application-limited (BBR draft,
/// "ProbeRTT Logic", which marks the connection; Linux, `bbr_update_min_rtt`). The sampler is the transport's, so the
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

    /// Whether a packet was sent within the stretch, if `prior_delivered` had been delivered when it was.
    pub fn contains(&self, prior_delivered: Bytes) -> bool {
        self.from <= prior_delivered && prior_delivered <= self.to
    }
}
