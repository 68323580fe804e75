//! Aggregation: the amount by which ACKs exceed the expected rate.
//!
//! Wi-Fi, cellular and cable links, and hosts, hold ACKs (or data) back and release them together. Between two bursts
//! of ACKs the sender can only use its window. The window therefore needs room for the excess of a burst over the
//! steady stream that the bandwidth estimate predicts (Linux `bbr_update_ack_aggregation`; BBR draft,
//! "BBR.extra_acked"). Each version remembers the excess for a time of its own.

use units::{Bytes, Duration, Time};

/// A period in which ACKs arrive faster than the bandwidth estimate predicts.
#[derive(Debug, Clone)]
pub struct Episode {
    start: Time,
    acked: Bytes,
}

impl Episode {
    /// An episode that begins now.
    pub fn new(now: Time) -> Episode {
        Episode {
            start: now,
            acked: Bytes::ZERO,
        }
    }

    /// Counts the time of the episode from now on, and keeps what was acknowledged in it.
    pub fn restart_clock(&mut self, now: Time) {
        self.start = now;
    }

    /// The bytes acknowledged in the episode.
    pub fn acked(&self) -> Bytes {
        self.acked
    }

    /// Takes an ACK for `acked` bytes; `expected` gives the expected bytes for a time. Returns the excess over the
    /// expectation in this episode. If the previous ACK brought no more than expected, a new episode begins with this
    /// one.
    pub fn on_ack(
        &mut self,
        now: Time,
        acked: Bytes,
        expected: impl FnOnce(Duration) -> Bytes,
    ) -> Bytes {
        let mut expected = expected(now.since(self.start));
        if self.acked <= expected {
            *self = Episode::new(now);
            expected = Bytes::ZERO;
        }
        self.acked += acked;
        self.acked - expected
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One packet per millisecond is expected.
    fn extra(episode: &mut Episode, ms: u64, packets: u64) -> u64 {
        let now = Time::ZERO + Duration::from_millis(ms);
        let expected = |time: Duration| Bytes::new(time.as_nanos() / 1_000_000);
        let acked = Bytes::new(packets);
        episode.on_ack(now, acked, expected).get()
    }

    #[test]
    fn it_lasts_as_long_as_more_comes_than_is_expected() {
        let mut episode = Episode::new(Time::ZERO);
        assert_eq!(extra(&mut episode, 10, 10), 10, "it begins");
        assert_eq!(extra(&mut episode, 12, 10), 18);
        assert_eq!(extra(&mut episode, 30, 5), 5, "20 were expected");
    }
}
