//! The retransmission timeout (RFC 6298), as Linux computes it.

use congestion::{Duration, Time};

use super::rtt::Rtt;

/// The timeout before the first measurement (RFC 6298, section 2.1).
const INITIAL: Duration = Duration::from_secs(1);

/// Beyond this many doublings every timeout has long been the longest.
const MAX_BACKOFF: u32 = 32;

#[derive(Debug, Clone)]
pub struct Rto {
    min: Duration,
    max: Duration,
    backoff: u32,
    deadline: Option<Time>,
}

impl Rto {
    pub fn new(min: Duration, max: Duration) -> Rto {
        Rto {
            min,
            max,
            backoff: 0,
            deadline: None,
        }
    }

    /// The timeout, backoff included. The floor is under the margin for variation, not under the sum (Linux
    /// `__tcp_set_rto`), so that it is always that much above the round-trip time.
    pub fn timeout(&self, rtt: &Rtt) -> Duration {
        let base = rtt
            .smoothed()
            .map_or(INITIAL, |smoothed| smoothed + rtt.margin().max(self.min));
        (base * (1 << self.backoff)).min(self.max)
    }

    pub fn deadline(&self) -> Option<Time> {
        self.deadline
    }

    /// Timeouts in a row, without progress between.
    pub fn backoff(&self) -> u32 {
        self.backoff
    }

    /// Starts anew from `from` on.
    pub fn restart(&mut self, from: Time, rtt: &Rtt) {
        self.deadline = Some(from + self.timeout(rtt));
    }

    /// Something was acknowledged: the path is alive (Linux clears `icsk_backoff` then).
    pub fn on_progress(&mut self) {
        self.backoff = 0;
    }

    /// Everything is acknowledged.
    pub fn stop(&mut self) {
        self.deadline = None;
    }

    /// Whether the timeout has come. If so, the next is twice as long (RFC 6298, section 5.5).
    pub fn on_timer(&mut self, now: Time, rtt: &Rtt) -> bool {
        if self.deadline.is_none_or(|deadline| now < deadline) {
            return false;
        }
        self.backoff = (self.backoff + 1).min(MAX_BACKOFF);
        self.restart(now, rtt);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_until_something_is_acknowledged() {
        let mut rtt = Rtt::default();
        let mut rto = Rto::new(Duration::from_millis(200), Duration::from_secs(2));
        assert_eq!(rto.timeout(&rtt), INITIAL);
        for _ in 0..100 {
            rtt.update(
                Time::ZERO,
                Duration::from_millis(40),
                Duration::from_millis(40),
            );
        }
        let mut now = Time::ZERO;
        rto.restart(now, &rtt);
        for ms in [240, 480, 960, 1_920, 2_000, 2_000] {
            let timeout = rto.timeout(&rtt);
            assert!(timeout.saturating_sub(Duration::from_millis(ms)) < Duration::from_micros(1));
            now += timeout;
            assert!(rto.on_timer(now, &rtt));
            assert!(!rto.on_timer(now, &rtt));
        }
        rto.on_progress();
        assert!(rto.timeout(&rtt) <= Duration::from_millis(241));
    }
}
