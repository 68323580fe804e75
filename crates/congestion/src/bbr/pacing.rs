//! The pacing rate and the send quantum.

use units::{Bytes, Duration, Rate, Ratio};

use crate::pacing::{NOMINAL_RTT, send_quantum};

/// The time of a packet at the slowest rate. A flow must go on sending to raise a low estimate (our choice; an estimate
/// this low comes only from a path that stood still).
const MAX_PACKET_TIME: Duration = Duration::from_secs(1);

/// What the versions of BBR set differently.
#[derive(Debug, Clone, Copy)]
pub struct Config {
    /// The share of the estimated bandwidth by which pacing stays below it.
    pub margin: Ratio,
    /// The same for the first rates, which come from the initial window.
    pub first_margin: Ratio,
    pub startup_gain: Ratio,
    /// The packets of the smallest burst, even at the slowest rates.
    pub fewest: u8,
}

/// The pacing rate and the send quantum that goes with it.
#[derive(Debug, Clone)]
pub struct Pacing {
    config: Config,
    rate: Rate,
    quantum: Bytes,
    has_seen_rtt: bool,
}

impl Pacing {
    /// Starts with the initial window in the nominal RTT.
    pub fn new(config: Config, initial_cwnd: Bytes, mss: Bytes) -> Pacing {
        let mut pacing = Pacing {
            config,
            rate: Rate::ZERO,
            quantum: mss,
            has_seen_rtt: false,
        };
        pacing.set_first(Rate::from_transfer(initial_cwnd, NOMINAL_RTT), mss);
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
        bw.scale(gain).scale(rest(self.config.margin))
    }

    fn set_first(&mut self, bw: Rate, mss: Bytes) {
        let share = rest(self.config.first_margin);
        self.set_rate(bw.scale(self.config.startup_gain).scale(share), mss);
    }

    fn set_rate(&mut self, rate: Rate, mss: Bytes) {
        self.rate = rate.max(Rate::from_transfer(mss, MAX_PACKET_TIME));
        self.fit_quantum(mss);
    }

    /// Sets the send quantum that fits the rate and packets of `mss`.
    pub fn fit_quantum(&mut self, mss: Bytes) {
        self.quantum = send_quantum(self.rate, mss).max(mss * u64::from(self.config.fewest));
    }

    /// Paces `window` over the first measured round-trip time. Later ones have no effect (BBR draft, "Pacing Rate:
    /// C.pacing_rate"; Linux `bbr_init_pacing_rate_from_rtt`).
    pub fn fit_first_round(&mut self, rtt: Duration, window: Bytes, mss: Bytes) {
        if !self.has_seen_rtt {
            self.has_seen_rtt = true;
            let bw = Rate::from_transfer(window, rtt.max(Duration::from_micros(1)));
            self.set_first(bw, mss);
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

/// What a share leaves.
fn rest(share: Ratio) -> Ratio {
    let rest = share.denominator().saturating_sub(share.numerator());
    Ratio::new(rest, share.denominator())
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: Bytes = Bytes::new(1_000);

    #[test]
    fn starts_with_the_window_in_a_millisecond() {
        let percent = Ratio::new(1, 100);
        // 10 kB in 1 ms, times 2.885; less 1 %, or not.
        for (first_margin, rate) in [(percent, 28_561_500), (Ratio::ZERO, 28_850_000)] {
            let config = Config {
                margin: percent,
                first_margin,
                startup_gain: Ratio::new(2885, 1000),
                fewest: 1,
            };
            let mut pacing = Pacing::new(config, MSS * 10, MSS);
            assert_eq!(pacing.rate(), Rate::from_bytes_per_sec(rate));
            pacing.fit_first_round(Duration::from_millis(10), MSS * 10, MSS);
            assert_eq!(pacing.rate(), Rate::from_bytes_per_sec(rate / 10));
        }
    }

    #[test]
    fn never_stands_still() {
        let config = Config {
            margin: Ratio::ZERO,
            first_margin: Ratio::ZERO,
            startup_gain: Ratio::ONE,
            fewest: 1,
        };
        let mut pacing = Pacing::new(config, MSS * 10, MSS);
        pacing.set_bw(Rate::ZERO, Ratio::ONE, MSS);
        assert_eq!(pacing.rate(), Rate::from_bytes_per_sec(1_000));
    }
}
