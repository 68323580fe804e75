//! A token-bucket policer: it drops the excess over a rate, and delays nothing.

use serde::{Deserialize, Serialize};
use units::{Bytes, ConfigError, Duration, Rate, Time};

use crate::bounds::MTU;

/// A token bucket that is full at the start. In any span t, at most `burst` + `rate` × t bytes pass. The rest is
/// dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a table such as { rate = \"10mbit\", burst = \"100kb\" }"
)]
pub struct Policer {
    /// The rate at which the bucket fills.
    pub rate: Rate,
    /// The size of the bucket: so much may pass at once after a quiet period.
    pub burst: Bytes,
}

impl Policer {
    pub(crate) fn validate(&self) -> Result<(), ConfigError> {
        if self.rate.is_zero() {
            return Err(ConfigError::new(
                "policer.rate",
                "is zero: nothing would pass after the burst; give a rate such as 10mbit",
            ));
        }
        if self.burst < MTU {
            return Err(ConfigError::new(
                "policer.burst",
                format!(
                    "of {} is smaller than one packet, so no full packet could ever pass; give at least {MTU}",
                    self.burst
                ),
            ));
        }
        Ok(())
    }
}

/// The units of tokens per byte: bytes per second × nanoseconds is then exact.
const PARTS: u128 = 1_000_000_000;

/// The bucket's level at a given time.
#[derive(Debug, Clone)]
pub(crate) struct TokenBucket {
    rate: Rate,
    capacity: u128,
    tokens: u128,
    at: Time,
}

impl TokenBucket {
    pub(crate) fn new(policer: Policer) -> TokenBucket {
        let capacity = policer.burst.get() as u128 * PARTS;
        TokenBucket {
            rate: policer.rate,
            capacity,
            tokens: capacity,
            at: Time::ZERO,
        }
    }

    /// True if a packet of `size` bytes passes at `now`. If it does, its tokens are taken.
    pub(crate) fn admits(&mut self, now: Time, size: Bytes) -> bool {
        let filled = self.rate.bytes_per_sec() as u128 * elapsed(self.at, now);
        self.tokens = self.tokens.saturating_add(filled).min(self.capacity);
        self.at = now;
        match self.tokens.checked_sub(size.get() as u128 * PARTS) {
            Some(rest) => {
                self.tokens = rest;
                true
            }
            None => false,
        }
    }
}

fn elapsed(from: Time, to: Time) -> u128 {
    let span: Duration = to.since(from);
    span.as_nanos() as u128
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bucket(rate: u64, burst: u64) -> TokenBucket {
        TokenBucket::new(Policer {
            rate: Rate::from_bytes_per_sec(rate),
            burst: Bytes::new(burst),
        })
    }

    #[test]
    fn full_at_the_start_then_the_rate() {
        let mut bucket = bucket(1_000_000, 3_000);
        let packet = Bytes::new(1_500);
        assert!(bucket.admits(Time::ZERO, packet));
        assert!(bucket.admits(Time::ZERO, packet));
        assert!(!bucket.admits(Time::ZERO, packet));
        // 1500 bytes take 1.5 ms to the nanosecond.
        assert!(!bucket.admits(Time::from_nanos(1_499_999), packet));
        assert!(bucket.admits(Time::from_nanos(1_500_000), packet));
        assert!(!bucket.admits(Time::from_nanos(1_500_000), Bytes::new(1)));
    }

    #[test]
    fn never_more_than_the_burst_after_a_quiet_spell() {
        let mut bucket = bucket(u64::MAX, 3_000);
        assert!(!bucket.admits(Time::MAX, Bytes::new(3_001)));
        assert!(bucket.admits(Time::MAX, Bytes::new(3_000)));
        assert!(bucket.admits(Time::MAX, Bytes::ZERO));
        assert!(!bucket.admits(Time::MAX, Bytes::MAX));
    }
}
