//! Aggregation as Linux measures and remembers it (`bbr_update_ack_aggregation`).

use units::{Bytes, Duration, Rate, Ratio, Time};

use crate::bbr::aggregation::Episode;

/// The rounds after which the older half of the window is forgotten. The window is five to ten rounds long, as that of
/// the bandwidth filter (Linux `bbr_extra_acked_win_rtts`).
const HALF_WINDOW_ROUNDS: u8 = 5;

/// The largest allowance, as time at the estimated bandwidth: aggregation in real links stays below 100 ms (Linux
/// `bbr_extra_acked_max_us`).
const MAX_ALLOWANCE_TIME: Duration = Duration::from_millis(100);

/// The packets after which an episode ends in any case, so that its average does not reach back forever (Linux
/// `bbr_ack_epoch_acked_reset_thresh`).
const MAX_EPISODE_PACKETS: u64 = 1 << 20;

/// The windowed maximum of the excess of acknowledged over expected bytes.
#[derive(Debug, Clone)]
pub struct AckAggregation {
    episode: Episode,
    /// The greatest excess of the current and of the previous half window.
    current: Bytes,
    previous: Bytes,
    rounds: u8,
}

impl AckAggregation {
    pub fn new(now: Time) -> AckAggregation {
        AckAggregation {
            episode: Episode::new(now),
            current: Bytes::ZERO,
            previous: Bytes::ZERO,
            rounds: 0,
        }
    }

    /// Notes the start of a round.
    pub fn on_round(&mut self) {
        self.rounds += 1;
        if self.rounds >= HALF_WINDOW_ROUNDS {
            self.rounds = 0;
            self.previous = self.current;
            self.current = Bytes::ZERO;
        }
    }

    /// Takes an ACK for `acked` bytes, at an estimated bandwidth `bw` and a window of `cwnd`.
    pub fn on_ack(&mut self, now: Time, acked: Bytes, bw: Rate, cwnd: Bytes, mss: Bytes) {
        if self.episode.acked() + acked >= mss * MAX_EPISODE_PACKETS {
            self.restart(now);
        }
        let expected = |time| whole_packets(bw.bytes_in(time), mss);
        let extra = self.episode.on_ack(now, acked, expected).min(cwnd);
        self.current = self.current.max(extra);
    }

    /// Starts anew after the sender was idle.
    pub fn restart(&mut self, now: Time) {
        self.episode = Episode::new(now);
    }

    /// The room in the window for the next burst of ACKs.
    pub fn allowance(&self, bw: Rate, gain: Ratio) -> Bytes {
        let extra = gain.of_bytes(self.current.max(self.previous));
        extra.min(bw.bytes_in(MAX_ALLOWANCE_TIME))
    }
}

/// Rounds down to whole packets, as Linux does with its expectation.
fn whole_packets(bytes: Bytes, mss: Bytes) -> Bytes {
    mss * bytes.get().checked_div(mss.get()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: Bytes = Bytes::new(1_000);
    const CWND: Bytes = Bytes::new(1_000_000);
    /// One packet per millisecond.
    const BW: Rate = Rate::from_bytes_per_sec(1_000_000);

    fn at(ms: u64) -> Time {
        Time::ZERO + Duration::from_millis(ms)
    }

    #[test]
    fn a_steady_stream_needs_one_packets_room() {
        let mut aggregation = AckAggregation::new(at(0));
        for ms in 1..100 {
            aggregation.on_ack(at(ms), MSS, BW, CWND, MSS);
        }
        assert_eq!(aggregation.allowance(BW, Ratio::ONE), MSS);
    }

    #[test]
    fn what_is_expected_counts_in_whole_packets() {
        let mut aggregation = AckAggregation::new(at(0));
        aggregation.on_ack(at(2), MSS * 2, BW, CWND, MSS);
        let early = at(4) - Duration::from_micros(100);
        aggregation.on_ack(early, MSS * 2, BW, CWND, MSS);
        // Not 1.9 of the second pair, but one packet was expected.
        assert_eq!(aggregation.allowance(BW, Ratio::ONE), MSS * 3);
    }

    #[test]
    fn bursts_need_the_room_of_a_burst() {
        let mut aggregation = AckAggregation::new(at(0));
        for ms in (10..200).step_by(10) {
            for _ in 0..10 {
                aggregation.on_ack(at(ms), MSS, BW, CWND, MSS);
            }
        }
        assert_eq!(aggregation.allowance(BW, Ratio::ONE), MSS * 10);
        assert_eq!(aggregation.allowance(BW, Ratio::ZERO), Bytes::ZERO);
    }

    #[test]
    fn a_burst_is_forgotten_after_at_most_ten_rounds() {
        let mut aggregation = AckAggregation::new(at(0));
        aggregation.on_ack(at(1), MSS * 50, BW, CWND, MSS);
        for _ in 0..HALF_WINDOW_ROUNDS {
            aggregation.on_round();
        }
        assert_eq!(aggregation.allowance(BW, Ratio::ONE), MSS * 50);
        for _ in 0..HALF_WINDOW_ROUNDS {
            aggregation.on_round();
        }
        assert_eq!(aggregation.allowance(BW, Ratio::ONE), Bytes::ZERO);
    }

    #[test]
    fn bounded_by_the_window_and_by_time() {
        let mut aggregation = AckAggregation::new(at(0));
        aggregation.on_ack(at(1), MSS * 500, BW, MSS * 300, MSS);
        assert_eq!(aggregation.current, MSS * 300);
        assert_eq!(aggregation.allowance(BW, Ratio::ONE), MSS * 100);
    }
}
