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
