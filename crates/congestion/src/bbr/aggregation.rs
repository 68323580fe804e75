//! How much more than expected is acknowledged at a time.
//!
//! Wi-Fi, cellular and cable links, and hosts, hold ACKs (or data) back and release them together. Between two bursts of ACKs the
//! sender goes on only as long as its window lasts: so the window must have room for what a burst brings beyond the steady stream
//! that the bandwidth estimate predicts. (Linux `bbr_update_ack_aggregation`; BBR draft, "BBR.extra_acked".) For how long that is
//! remembered is each version's own.

use units::{Bytes, Duration, Time};

/// A time in which ACKs come faster than the bandwidth estimate predicts.
#[derive(Debug, Clone)]
pub struct Episode {
    start: Time,
    acked: Bytes,
}

impl Episode {
    /// One that begins now.
    pub fn new(now: Time) -> Episode {
        Episode {
            start: now,
            acked: Bytes::ZERO,
        }
    }

    /// What was acknowledged in it.
    pub fn acked(&self) -> Bytes {
        self.acked
    }

    /// An ACK for `acked` has arrived, where `expected` says how much to expect in such a time. Returns how much more has been
    /// acknowledged in this episode. If the last one has brought no more than was expected, the next begins with this ACK.
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

    /// One packet a millisecond is expected.
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
