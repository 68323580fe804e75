//! How fast to send, and how much at once.

use units::{Bytes, Duration, Rate, Ratio};

use super::{Bbr1, Config};
use crate::controller::Ack;
use crate::pacing::{NOMINAL_RTT, send_quantum};

/// The time that a packet takes at the slowest rate: whatever the estimate has come down to, the flow must go on to
/// find out better (our choice; an estimate this low comes only from a path that stood still).
const SLOWEST_PACKET: Duration = Duration::from_secs(1);

/// The pacing rate and the send quantum that goes with it.
#[derive(Debug, Clone)]
pub struct Pacing {
    rate: Rate,
    quantum: Bytes,
    has_seen_rtt: bool,
    /// The share of the estimated bandwidth to pace at.
    share: Ratio,
}

impl Pacing {
    /// Starts with the initial window in the nominal RTT.
    pub fn new(config: &Config, initial_cwnd: Bytes, mss: Bytes) -> Pacing {
        let margin = config.pacing_margin;
        let rest = margin.denominator().saturating_sub(margin.numerator());
        let mut pacing = Pacing {
            rate: Rate::ZERO,
            quantum: mss,
            has_seen_rtt: false,
            share: Ratio::new(rest, margin.denominator()),
        };
        pacing.set_bw(
            Rate::from_transfer(initial_cwnd, NOMINAL_RTT),
            config.high_gain,
            mss,
        );
        pacing
    }

    pub fn rate(&self) -> Rate {
        self.rate
    }

    pub fn quantum(&self) -> Bytes {
        self.quantum
    }

    /// Paces at `bw` times `gain`, less the margin.
    fn set_bw(&mut self, bw: Rate, gain: Ratio, mss: Bytes) {
        self.set_rate(self.rate_for(bw, gain), mss);
    }

    fn rate_for(&self, bw: Rate, gain: Ratio) -> Rate {
        bw.scale(gain).scale(self.share)
    }

    fn set_rate(&mut self, rate: Rate, mss: Bytes) {
        self.rate = rate.max(Rate::from_transfer(mss, SLOWEST_PACKET));
        self.fit_quantum(mss);
    }

    /// Sets the send quantum to what fits the rate and packets of `mss`.
    pub fn fit_quantum(&mut self, mss: Bytes) {
        self.quantum = send_quantum(self.rate, mss);
    }
}

impl Bbr1 {
    /// Paces the window over the first round-trip time that is measured; does nothing at later ones (Linux
    /// `bbr_init_pacing_rate_from_rtt`).
    pub(super) fn pace_first_round(&mut self, rtt: Duration) {
        if !self.pacing.has_seen_rtt {
            self.pacing.has_seen_rtt = true;
            let bw = Rate::from_transfer(self.cwnd, rtt.max(Duration::from_micros(1)));
            self.pacing.set_bw(bw, self.config.high_gain, self.mss);
        }
    }

    /// Follows the estimated bandwidth; before the pipe is full only upwards, as early samples are too low.
    pub(super) fn set_pacing_rate(&mut self, ack: &Ack) {
        if let Some(sample) = ack.rtt {
            self.pace_first_round(sample.rtt);
        }
        let rate = self.pacing.rate_for(self.bw(), self.pacing_gain());
        if self.full_pipe.is_reached() || rate > self.pacing.rate {
            self.pacing.set_rate(rate, self.mss);
        }
    }

    /// After idleness there is no queue to drain and no need to probe: paces at the estimated bandwidth.
    pub(super) fn pace_at_bw(&mut self) {
        self.pacing.set_bw(self.bw(), Ratio::ONE, self.mss);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: Bytes = Bytes::new(1_000);

    #[test]
    fn starts_with_the_window_in_a_millisecond() {
        let pacing = Pacing::new(&Config::linux(), MSS * 10, MSS);
        // 10 kB in 1 ms, times 2.885, less 1 %.
        assert_eq!(pacing.rate(), Rate::from_bytes_per_sec(28_561_500));
    }

    #[test]
    fn never_stands_still() {
        let mut pacing = Pacing::new(&Config::paper(), MSS * 10, MSS);
        pacing.set_bw(Rate::ZERO, Ratio::ONE, MSS);
        assert_eq!(pacing.rate(), Rate::from_bytes_per_sec(1_000));
    }
}
