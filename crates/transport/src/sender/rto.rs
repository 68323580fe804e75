//! The retransmission timeout (RFC 6298), as Linux computes it.

use congestion::{Duration, Time};

use super::config::Config;
use super::rtt::Rtt;

/// The timeout before the first measurement (RFC 6298, section 2.1).
const INITIAL_TIMEOUT: Duration = Duration::from_secs(1);

/// The most doublings; long before these, every timeout is the maximum.
const MAX_BACKOFF: u8 = 32;

#[derive(Debug, Clone, Default)]
pub struct Rto {
    deadline: Option<Time>,
    backoff: u8,
}

impl Rto {
    /// The timeout, including backoff. The minimum applies to the margin for variation, not to the sum (Linux
    /// `__tcp_set_rto`), so the timeout always exceeds the round-trip time by at least that much.
    #[inline]
    pub fn timeout(&self, rtt: &Rtt, config: &Config) -> Duration {
        let base = rtt.smoothed().map_or(INITIAL_TIMEOUT, |smoothed| {
            smoothed + rtt.margin().max(config.min_rto)
        });
        (base * (1 << self.backoff)).min(config.max_rto)
    }

    #[inline]
    pub fn deadline(&self) -> Option<Time> {
        self.deadline
    }

    /// Consecutive timeouts without progress between them.
    pub fn backoff(&self) -> u8 {
        self.backoff
    }

    /// Restarts the timer at `from`.
    #[inline]
    pub fn restart(&mut self, from: Time, rtt: &Rtt, config: &Config) {
        self.deadline = Some(from + self.timeout(rtt, config));
    }

    /// Notes progress: the path works (Linux clears `icsk_backoff` then).
    pub fn on_progress(&mut self) {
        self.backoff = 0;
    }

    /// Stops the timer, because everything is acknowledged.
    pub fn stop(&mut self) {
        self.deadline = None;
    }

    /// Whether the timeout has expired. If so, the next is twice as long (RFC 6298, section 5.5).
    pub fn on_timer(&mut self, now: Time, rtt: &Rtt, config: &Config) -> bool {
        if self.deadline.is_none_or(|deadline| now < deadline) {
            return false;
        }
        self.backoff = (self.backoff + 1).min(MAX_BACKOFF);
        self.restart(now, rtt, config);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_until_something_is_acknowledged() {
        let mut rtt = Rtt::default();
        let mut rto = Rto::default();
        let config = Config {
            max_rto: Duration::from_secs(2),
            ..Config::default()
        };
        assert_eq!(rto.timeout(&rtt, &config), INITIAL_TIMEOUT);
        for _ in 0..100 {
            rtt.update(
                Time::ZERO,
                Duration::from_millis(40),
                Duration::from_millis(40),
            );
        }
        let mut now = Time::ZERO;
        rto.restart(now, &rtt, &config);
        for ms in [240, 480, 960, 1_920, 2_000, 2_000] {
            let timeout = rto.timeout(&rtt, &config);
            assert!(timeout.saturating_sub(Duration::from_millis(ms)) < Duration::from_micros(1));
            now += timeout;
            assert!(rto.on_timer(now, &rtt, &config));
            assert!(!rto.on_timer(now, &rtt, &config));
        }
        rto.on_progress();
        assert!(rto.timeout(&rtt, &config) <= Duration::from_millis(241));
    }
}
