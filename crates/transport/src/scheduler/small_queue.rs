//! TCP small queues: the limit of one connection's bytes below TCP, in the packet scheduler and at the NIC. Bytes
//! there can no longer be sized, ordered or held back, and one connection would fill the scheduler with bytes that
//! belong in its own send buffer (Linux `tcp_small_queue_check`).

use congestion::{Bytes, Duration, Rate};
use serde::{Deserialize, Serialize};

/// The time that waiting bytes may take at the pacing rate (Linux `sk_pacing_shift`, 2^-10 s).
const QUEUE_TIME: Duration = Duration::from_nanos(1_000_000_000 >> 10);

/// A kernel's small queues, which differ in the most bytes at any rate (`tcp_limit_output_bytes`).
///
/// From 5.0 to 6.15, a connection without pacing had at most 1 MiB, and one with pacing had no such limit ("tcp: tsq: no
/// longer use limit_output_bytes for paced flows").
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename = "kind of small queues", rename_all = "lowercase")]
pub enum SmallQueues {
    /// Linux since 6.16: 4 MiB ("tcp: increase tcp_limit_output_bytes default value to 4MB", "tcp: always use
    /// tcp_limit_output_bytes limitation").
    #[default]
    Linux,
    /// Linux until 4.20: 262,144 bytes ("tcp: double default TSQ output bytes limit").
    #[serde(rename = "linux-4.19")]
    Linux419,
    /// None.
    Off,
}

impl SmallQueues {
    /// The bytes of a connection that may wait below TCP; while more wait, the next burst has to. It is at least two
    /// bursts of size `burst`, so that one can be made while the other leaves, and without small queues that of
    /// [`SmallQueues::Linux`].
    ///
    /// Linux doubles the limit for retransmissions (`tcp_xmit_retransmit_queue`), and never holds back a connection with
    /// nothing unacknowledged (since 6.6, with at most one burst unacknowledged, which two bursts always allow here).
    #[inline]
    pub fn limit(self, pacing_rate: Rate, burst: Bytes) -> Bytes {
        let limit = pacing_rate.bytes_in(QUEUE_TIME).max(burst * 2);
        limit.min(self.most())
    }

    /// The most payload at any rate. Linux counts the overhead of packets, too (`truesize`): a tenth is more than what bursts of
    /// 64 kB have, and anything from 0.6 to 33 % allows the same number of them in 4.19.
    const fn most(self) -> Bytes {
        let truesize: u64 = match self {
            SmallQueues::Linux | SmallQueues::Off => 4 << 20,
            SmallQueues::Linux419 => 4 << 16,
        };
        Bytes::new(truesize * 10 / 11)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheduler::MAX_OFFLOAD;

    #[test]
    fn two_bursts_or_a_millisecond() {
        let burst = Bytes::new(10_000);
        let of = |bits| SmallQueues::Linux.limit(Rate::from_bits_per_sec(bits), burst);
        assert_eq!(of(0), burst * 2);
        assert_eq!(of(8_000_000_000), Bytes::new(976_562));
    }

    /// The fourth burst of full size is the last one: with it, more than the limit waits ("Default TSQ limit of four TSO
    /// segments").
    #[test]
    fn no_rate_takes_more_than_four_segments_in_4_19() {
        let of = |kind: SmallQueues, bits| kind.limit(Rate::from_bits_per_sec(bits), MAX_OFFLOAD);
        let limit = of(SmallQueues::Linux419, 10_000_000_000);
        assert!(limit > MAX_OFFLOAD * 3 && limit < MAX_OFFLOAD * 4);
        assert_eq!(of(SmallQueues::Linux419, 1_000_000_000), MAX_OFFLOAD * 2);
        assert_eq!(
            of(SmallQueues::Linux, u64::MAX),
            Bytes::new((4 << 20) * 10 / 11)
        );
    }
}
