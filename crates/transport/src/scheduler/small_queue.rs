//! TCP small queues: the limit of one connection's bytes below TCP, in the packet scheduler and at the NIC. Bytes
//! there can no longer be sized, ordered or held back, and one connection would fill the scheduler with bytes that
//! belong in its own send buffer (Linux `tcp_small_queue_check`).

use congestion::{Bytes, Duration, Rate};

use super::Pacing;

/// The time that waiting bytes may take at the pacing rate (Linux `sk_pacing_shift`, 2^-10 s).
const QUEUE_TIME: Duration = Duration::from_nanos(1_000_000_000 >> 10);

/// The limit without pacing, where the rate is a guess (Linux's default of `tcp_limit_output_bytes`).
const UNPACED_LIMIT: Bytes = Bytes::new(4 << 20);

/// The bytes of a connection that may wait below TCP; while more wait, the next burst has to. It is at least two
/// bursts of size `burst`, so that one can be made while the other leaves.
///
/// Linux doubles the limit for retransmissions (`tcp_xmit_retransmit_queue`), and never holds back a connection with
/// at most one unacknowledged burst.
#[inline]
pub fn small_queue_limit(pacing: Pacing, pacing_rate: Rate, burst: Bytes) -> Bytes {
    let limit = pacing_rate.bytes_in(QUEUE_TIME).max(burst * 2);
    match pacing {
        Pacing::None => limit.min(UNPACED_LIMIT),
        Pacing::PerConnection | Pacing::Fq => limit,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_bursts_or_a_millisecond() {
        let burst = Bytes::new(10_000);
        let of = |pacing, bits| small_queue_limit(pacing, Rate::from_bits_per_sec(bits), burst);
        assert_eq!(of(Pacing::Fq, 0), burst * 2);
        assert_eq!(of(Pacing::Fq, 8_000_000_000), Bytes::new(976_562));
        assert_eq!(of(Pacing::None, u64::MAX), UNPACED_LIMIT);
    }
}
