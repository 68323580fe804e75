//! The pacing rate and the send quantum.

use units::{Bytes, Duration, Rate, Ratio};

use crate::pacing::{NOMINAL_RTT, send_quantum};

/// The time of a packet at the slowest rate. A flow must go on sending to raise a low estimate (our choice; an estimate
/// this low comes only from a path that stood still).
const MAX_PACKET_TIME: Duration = Duration::from_secs(1);

/// The pacing rate and the send quantum that goes with it.
#[derive(Debug, Clone)]
pub struct Pacing {
    rate: Rate,
    quantum: Bytes,
    has_seen_rtt: bool,
    startup_gain: Ratio,
    /// The paced share of the estimated bandwidth.
    share: Ratio,
    /// The packets of the smallest burst.
    fewest: u8,
}

impl Pacing {
    /// Starts with the initial window in the nominal RTT. `margin` is the share of the estimated bandwidth by which
    /// pacing stays below it. A burst has at least `fewest` packets, even at the slowest rates.
    pub fn new(
        margin: Ratio,
        startup_gain: Ratio,
        fewest: u8,
        initial_cwnd: Bytes,
        mss: Bytes,
    ) -> Pacing {
        let rest = margin.denominator().saturating_sub(margin.numerator());
        let mut pacing = Pacing {
            rate: Rate::ZERO,
            quantum: mss,
            has_seen_rtt: false,
            startup_gain,
            share: Ratio::new(rest, margin.denominator()),
            fewest,
        };
        pacing.set_bw(
            Rate::from_transfer(initial_cwnd, NOMINAL_RTT),
            startup_gain,
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
    pub fn set_bw(&mut self, bw: Rate, gain: Ratio, mss: Bytes) {
        self.set_rate(self.rate_for(bw, gain), mss);
    }

    fn rate_for(&self, bw: Rate, gain: Ratio) -> Rate {
        bw.scale(gain).scale(self.share)
    }

    fn set_rate(&mut self, rate: Rate, mss: Bytes) {
        self.rate = rate.max(Rate::from_transfer(mss, MAX_PACKET_TIME));
        self.fit_quantum(mss);
    }

    /// Sets the send quantum that fits the rate and packets of `mss`.
    pub fn fit_quantum(&mut self, mss: Bytes) {
        self.quantum = send_quantum(self.rate, mss).max(mss * u64::from(self.fewest));
    }

    /// Paces the window over the first measured round-trip time. Later ones have no effect (BBR draft, "Pacing Rate:
    /// C.pacing_rate"; Linux `bbr_init_pacing_rate_from_rtt`).
    pub fn fit_first_round(&mut self, rtt: Duration, cwnd: Bytes, mss: Bytes) {
        if !self.has_seen_rtt {
            self.has_seen_rtt = true;
            let bw = Rate::from_transfer(cwnd, rtt.max(Duration::from_micros(1)));
            self.set_bw(bw, self.startup_gain, mss);
        }
    }

    /// Follows the estimated bandwidth. Before the pipe is full the rate only rises, since early samples are too low.
    pub fn follow(&mut self, bw: Rate, gain: Ratio, is_full: bool, mss: Bytes) {
        let rate = self.rate_for(bw, gain);
        if is_full || rate > self.rate {
            self.set_rate(rate, mss);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: Bytes = Bytes::new(1_000);

    #[test]
    fn starts_with_the_window_in_a_millisecond() {
        let pacing = Pacing::new(Ratio::new(1, 100), Ratio::new(2885, 1000), 1, MSS * 10, MSS);
        // 10 kB in 1 ms, times 2.885, less 1 %.
        assert_eq!(pacing.rate(), Rate::from_bytes_per_sec(28_561_500));
    }

    #[test]
    fn never_stands_still() {
        let mut pacing = Pacing::new(Ratio::ZERO, Ratio::ONE, 1, MSS * 10, MSS);
        pacing.set_bw(Rate::ZERO, Ratio::ONE, MSS);
        assert_eq!(pacing.rate(), Rate::from_bytes_per_sec(1_000));
    }
}
