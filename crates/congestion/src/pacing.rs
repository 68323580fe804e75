//! Arithmetic that every paced controller shares.

use units::{Bytes, Duration, Rate, Ratio};

/// The round-trip time that a sender assumes for its first pacing rate, before it has measured one: short, so that the
/// initial window leaves nearly at once, yet not as one burst (BBR draft, "Pacing Rate"; Linux, `bbr_init`).
pub const NOMINAL_RTT: Duration = Duration::from_millis(1);

/// How much sending a quantum stands for (BBR draft, "Send Quantum: BBR.send_quantum").
const QUANTUM_SPAN: Duration = Duration::from_millis(1);
/// No quantum is larger: the most that segmentation offload carries at once.
const LARGEST_QUANTUM: Bytes = Bytes::new(64 * 1024);

/// The send quantum at pacing rate `rate`: a millisecond's worth, at most 64 KiB, at least two packets (BBR draft,
/// "Send Quantum: BBR.send_quantum").
pub fn send_quantum(rate: Rate, mss: Bytes) -> Bytes {
    rate.bytes_in(QUANTUM_SPAN)
        .min(LARGEST_QUANTUM)
        .max(mss * 2)
}

/// The rate that spreads a window of `cwnd` bytes evenly over one round trip, times `gain`; never zero. Without a
/// measured round-trip time, [`NOMINAL_RTT`] takes its place.
pub fn window_rate(cwnd: Bytes, srtt: Option<Duration>, gain: Ratio) -> Rate {
    let rate = Rate::from_transfer(gain.of_bytes(cwnd), srtt.unwrap_or(NOMINAL_RTT));
    rate.max(Rate::from_bytes_per_sec(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantum_is_a_millisecond_between_two_packets_and_64_kib() {
        let mss = Bytes::new(1_500);
        for (mbit, quantum) in [(1, 3_000), (100, 12_500), (10_000, 65_536)] {
            let rate = Rate::from_bits_per_sec(mbit * 1_000_000);
            assert_eq!(send_quantum(rate, mss), Bytes::new(quantum));
        }
        // Two packets at least, however large.
        let mss = Bytes::new(60_000);
        assert_eq!(send_quantum(Rate::MAX, mss), Bytes::new(120_000));
    }

    #[test]
    fn a_window_is_spread_over_a_round_trip() {
        let cwnd = Bytes::new(50_000);
        let rate = window_rate(cwnd, Some(Duration::from_millis(40)), Ratio::new(6, 5));
        assert_eq!(rate, Rate::from_bytes_per_sec(1_500_000));
        let rate = window_rate(cwnd, None, Ratio::ONE);
        assert_eq!(rate, Rate::from_bytes_per_sec(50_000_000));
        let never_zero = window_rate(Bytes::new(1), Some(Duration::MAX), Ratio::ONE);
        assert_eq!(never_zero, Rate::from_bytes_per_sec(1));
    }
}
