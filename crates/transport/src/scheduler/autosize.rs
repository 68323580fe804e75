//! TSO autosizing: bursts of about a millisecond at the pacing rate, so that a fast flow costs its host little per
//! byte and a slow one is not bursty (Linux `tcp_tso_autosize`, without its addition since 5.18 for round trips below
//! some milliseconds, `tcp_tso_rtt_log`).

use congestion::Bytes;

/// The most bytes of one segmentation offload, without headers (Linux `GSO_LEGACY_MAX_SIZE`).
pub const MAX_OFFLOAD: Bytes = Bytes::new(65_535);

/// The size of the next burst: the controller's send quantum, which is that millisecond, in whole packets of `mss`,
/// at most `max` and at least one packet. Without offload `max` is `mss` or less, so a burst is one packet.
#[inline]
pub(crate) fn autosize(send_quantum: Bytes, mss: Bytes, max: Bytes) -> Bytes {
    let packets = send_quantum
        .min(max)
        .get()
        .checked_div(mss.get())
        .unwrap_or(0);
    mss * packets.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_packets_within_bounds() {
        let mss = Bytes::new(1_448);
        for (quantum, max, packets) in [
            (2 * 1_448, MAX_OFFLOAD, 2),
            (2 * 1_448 + 1_447, MAX_OFFLOAD, 2),
            (0, MAX_OFFLOAD, 1),
            (1_000_000, MAX_OFFLOAD, 45),
            (1_000_000, mss, 1),
            (1_000_000, Bytes::ZERO, 1),
        ] {
            assert_eq!(autosize(Bytes::new(quantum), mss, max), mss * packets);
        }
    }
}
