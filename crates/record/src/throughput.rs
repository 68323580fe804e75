//! The deliveries of a flow, by second.

use units::{Bytes, Duration, Rate};

/// The payload that a flow delivered in each second since the run's start.
///
/// Its size is bounded: a run with more seconds than [`CAPACITY`](Throughput::CAPACITY) has intervals of two seconds,
/// then of four, and so on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Throughput {
    interval_s: u64,
    bytes: Vec<u64>,
    /// The total at the last note.
    delivered: Bytes,
}

impl Throughput {
    /// The most intervals that are kept: more than an hour of seconds.
    pub const CAPACITY: usize = 4_096;

    /// The length of an interval: a second, or a power of two of them.
    pub fn interval(&self) -> Duration {
        Duration::from_secs(self.interval_s)
    }

    /// The payload bytes in each interval, from the run's start to the last interval in which something was delivered.
    pub fn bytes(&self) -> &[u64] {
        &self.bytes
    }

    /// The payload bytes in the interval with this index; zero for intervals that are not kept.
    pub fn at(&self, index: usize) -> u64 {
        self.bytes.get(index).copied().unwrap_or(0)
    }

    /// Records that by `at`, `delivered` bytes have arrived in all. New bytes count for the interval that contains
    /// `at` or ends with it.
    pub(super) fn note(&mut self, at: Duration, delivered: Bytes) {
        let new = (delivered - self.delivered).get();
        if new == 0 {
            return;
        }
        self.delivered = delivered;
        let index = loop {
            let index = at.as_nanos().saturating_sub(1) / self.interval().as_nanos();
            match usize::try_from(index) {
                Ok(index) if index < Self::CAPACITY => break index,
                _ => self.coarsen(),
            }
        };
        if self.bytes.len() <= index {
            self.bytes.resize(index + 1, 0);
        }
        if let Some(bytes) = self.bytes.get_mut(index) {
            *bytes = bytes.saturating_add(new);
        }
    }

    /// Merges intervals in pairs.
    fn coarsen(&mut self) {
        self.interval_s = self.interval_s.saturating_mul(2);
        self.bytes = self
            .bytes
            .chunks(2)
            .map(|pair| {
                pair.iter()
                    .fold(0, |sum: u64, bytes| sum.saturating_add(*bytes))
            })
            .collect();
    }
}

impl Default for Throughput {
    fn default() -> Throughput {
        Throughput {
            interval_s: 1,
            bytes: Vec::new(),
            delivered: Bytes::ZERO,
        }
    }
}

/// The mean rate of these bytes over this time; zero if there was no time.
pub(super) fn goodput(delivered: Bytes, span: Duration) -> Rate {
    if span.is_zero() {
        Rate::ZERO
    } else {
        Rate::from_transfer(delivered, span)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_byte_counts_in_its_second() {
        let mut throughput = Throughput::default();
        for (millis, delivered) in [(0, 10), (1_000, 30), (1_001, 31), (3_500, 41), (3_600, 41)] {
            throughput.note(Duration::from_millis(millis), Bytes::new(delivered));
        }
        assert_eq!(throughput.bytes(), [30, 1, 0, 10]);
        assert_eq!((throughput.at(3), throughput.at(4)), (10, 0));
    }

    #[test]
    fn a_long_run_has_longer_intervals_and_loses_no_byte() {
        let mut throughput = Throughput::default();
        for second in 0..10_000 {
            throughput.note(
                Duration::from_secs(second + 1),
                Bytes::new((second + 1) * 7),
            );
        }
        assert_eq!(throughput.interval(), Duration::from_secs(4));
        assert_eq!(throughput.bytes().len(), 2_500);
        assert!(throughput.bytes().iter().all(|bytes| *bytes == 28));
        // However late, it is one more interval.
        throughput.note(Duration::MAX, Bytes::new(70_001));
        assert!(throughput.bytes().len() <= Throughput::CAPACITY);
        assert_eq!(throughput.bytes().iter().sum::<u64>(), 70_001);
    }
}
