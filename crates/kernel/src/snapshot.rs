//! The observable state of a connection's controller in the kernel.

use units::{Bytes, Duration, Rate, Ratio};

/// The state of one connection's controller: `struct snapshot` in `bpf/snapshot.h`, the start of its socket storage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Snapshot {
    /// The congestion window.
    pub cwnd: Bytes,
    /// The pacing rate.
    pub pacing_rate: Rate,
    /// The send quantum.
    pub send_quantum: Bytes,
    /// The index of the state among the controller's states.
    pub mode: usize,
    /// The bandwidth that it assumes.
    pub bw: Option<Rate>,
    /// The minimum RTT that it assumes.
    pub min_rtt: Option<Duration>,
    /// The pacing gain, on the bandwidth.
    pub pacing_gain: Ratio,
    /// The cwnd gain, on the BDP.
    pub cwnd_gain: Ratio,
    /// The number of round trips.
    pub round: u64,
    /// BBRv3's bounds, as in `congestion::Snapshot`.
    pub short_term_bw: Option<Rate>,
    /// See `congestion::Snapshot`.
    pub short_term_inflight: Option<Bytes>,
    /// See `congestion::Snapshot`.
    pub long_term_inflight: Option<Bytes>,
}

impl Snapshot {
    /// Reads the beginning of a connection's socket storage. `None` if it is too short.
    pub fn parse(storage: &[u8]) -> Option<Snapshot> {
        let mut words = storage
            .chunks_exact(8)
            .map_while(|word| Some(u64::from_ne_bytes(word.try_into().ok()?)));
        let mut next = || words.next();
        let bound = |word: u64| (word != u64::MAX).then_some(word);
        Some(Snapshot {
            cwnd: Bytes::new(next()?),
            pacing_rate: Rate::from_bytes_per_sec(next()?),
            send_quantum: Bytes::new(next()?),
            mode: usize::try_from(next()?).ok()?,
            bw: Some(Rate::from_bytes_per_sec(next()?)).filter(|bw| !bw.is_zero()),
            min_rtt: bound(next()?).map(Duration::from_nanos),
            pacing_gain: ratio(next()?),
            cwnd_gain: ratio(next()?),
            round: next()?,
            short_term_bw: bound(next()?).map(Rate::from_bytes_per_sec),
            short_term_inflight: bound(next()?).map(Bytes::new),
            long_term_inflight: bound(next()?).map(Bytes::new),
        })
    }
}

/// The numerator is in the lower half.
#[expect(clippy::cast_possible_truncation, reason = "the lower half is wanted")]
pub(crate) fn ratio(word: u64) -> Ratio {
    Ratio::new(word as u32, (word >> 32) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_in_order() {
        let words = [
            1,
            2,
            3,
            4,
            5,
            6,
            5 << 32 | 4,
            1 << 32 | 2,
            9,
            10,
            u64::MAX,
            12,
        ];
        let bytes: Vec<u8> = words
            .iter()
            .flat_map(|word: &u64| word.to_ne_bytes())
            .collect();
        let seen = Snapshot::parse(&bytes).unwrap();
        assert_eq!((seen.mode, seen.round), (4, 9));
        assert_eq!(seen.pacing_gain, Ratio::new(4, 5));
        assert_eq!(seen.min_rtt, Some(Duration::from_nanos(6)));
        assert_eq!(seen.short_term_inflight, None);
        assert_eq!(seen.long_term_inflight, Some(Bytes::new(12)));
        assert_eq!(Snapshot::parse(&bytes[..95]), None);
    }
}
