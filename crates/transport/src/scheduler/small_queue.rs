//! TCP small queues: how much of one connection may wait below TCP, in the packet scheduler and at the NIC. What waits
//! there is too late to be sized, ordered or held back; one connection would fill the scheduler with what belongs in its
//! own send buffer (Linux `tcp_small_queue_check`).

use congestion::{Bytes, Duration, Rate};

use super::Pacing;

/// The time at the pacing rate that may wait (Linux `sk_pacing_shift`, 2^-10 s).
const QUEUE_TIME: Duration = Duration::from_nanos(1_000_000_000 >> 10);

/// The most without pacing, where the rate is a guess (Linux's default of `tcp_limit_output_bytes`).
const UNPACED_LIMIT: Bytes = Bytes::new(4 << 20);

/// How many bytes of a connection may wait below TCP: when more than that do, the next burst has to wait until one has
/// departed. At least two bursts of size `burst`, so that one can be made while the other leaves.
///
/// Linux doubles the limit for retransmissions (`tcp_xmit_retransmit_queue`), and holds nothing back of a connection of
/// which at most one burst is unacknowledged.
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
