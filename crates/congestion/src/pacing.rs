//! Arithmetic that every paced controller shares.

use units::{Bytes, Duration, Rate, Ratio};

/// The RTT to assume before one is known: short enough to hold nothing back (Linux `bbr_init_pacing_rate_from_rtt`).
pub const NOMINAL_RTT: Duration = Duration::from_millis(1);

/// The time that a burst takes at the pacing rate, 2^-10 s: bursts grow with the rate, so that their cost to the
/// sending host is spread over more bytes and the queue they make stays one of about a millisecond (Linux
/// `sk_pacing_shift`).
pub const BURST_TIME: Duration = Duration::from_nanos(1_000_000_000 >> 10);

/// The longest burst: what segmentation offload takes at once (Linux `GSO_LEGACY_MAX_SIZE`, less the byte with which
/// its length still fits 16 bits).
const MAX_BURST: Bytes = Bytes::new(65_535);

/// The rate below which single packets are sent. Above it at least two are, which a receiver acknowledges with one ACK
/// (Linux `bbr_min_tso_rate`).
const SINGLE_PACKET_RATE: Rate = Rate::from_bits_per_sec(1_200_000);

/// The send quantum at a pacing rate of `rate`: whole packets of `mss`, as many as fit the time and size of a burst, but
/// not too few (BBR draft, "Send Quantum: C.send_quantum").
pub fn send_quantum(rate: Rate, mss: Bytes) -> Bytes {
    let least = if rate < SINGLE_PACKET_RATE { 1 } else { 2 };
    let burst = rate.bytes_in(BURST_TIME).min(MAX_BURST);
    let packets = burst.get().checked_div(mss.get()).unwrap_or(0);
    mss * packets.max(least)
}

/// The same for a controller that wants next to no queue: as many packets as fit a quarter of that time, and at least one
/// (Prague draft, "Packet Pacing"; Linux `prague_burst_shift`).
pub fn smooth_quantum(rate: Rate, mss: Bytes) -> Bytes {
    let burst = rate.bytes_in(BURST_TIME / 4).min(MAX_BURST);
    let packets = burst.get().checked_div(mss.get()).unwrap_or(0);
    mss * packets.max(1)
}

/// The rate that spreads a window of `cwnd` bytes evenly over one round trip, times `gain`; never zero. Without a
/// measured round-trip time, [`NOMINAL_RTT`] is used.
pub fn window_rate(cwnd: Bytes, srtt: Option<Duration>, gain: Ratio) -> Rate {
    let rate = Rate::from_transfer(gain.of_bytes(cwnd), srtt.unwrap_or(NOMINAL_RTT));
    rate.max(Rate::from_bytes_per_sec(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_is_a_millisecond_within_bounds() {
        let mss = Bytes::new(1_000);
        for (mbit, packets) in [(1, 1), (10, 2), (100, 12), (100_000, 65)] {
            let rate = Rate::from_bits_per_sec(mbit * 1_000_000);
            assert_eq!(send_quantum(rate, mss), mss * packets);
        }
        // At least two packets, however large.
        let mss = Bytes::new(60_000);
        assert_eq!(send_quantum(Rate::MAX, mss), mss * 2);
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
