//! The peer's receive window, and the probe while it is closed.

use congestion::{Bytes, Time};

use super::config::Config;
use super::rto::Rto;
use super::rtt::Rtt;

/// The window that the receiver offers (RFC 9293, section 3.8.6).
#[derive(Debug, Clone, Default)]
pub struct PeerWindow {
    /// The latest cumulative acknowledgement that moved the window.
    next: u64,
    size: u64,
}

impl PeerWindow {
    /// Updates the window from an ACK of everything before `next` that offers `size`. An overtaken ACK must not
    /// shrink the window: of two with the same `next` the greater offer counts, or an offer of zero (Linux
    /// `tcp_may_update_window`). Returns whether the offer counts.
    pub fn update(&mut self, next: u64, size: u64) -> bool {
        let is_current = next == self.next && (size > self.size || size == 0);
        let counts = next > self.next || is_current;
        if counts {
            (self.next, self.size) = (next, size);
        }
        counts
    }

    /// The offered window.
    pub fn size(&self) -> Bytes {
        Bytes::new(self.size)
    }

    /// The right edge of the offered window.
    pub fn end(&self) -> u64 {
        self.next.saturating_add(self.size)
    }
}

/// The persist timer. It probes a closed window while nothing is in flight whose ACK would show that it opens (RFC
/// 9293, "Zero-Window Probing"; its intervals are those of retransmissions).
#[derive(Debug, Clone, Default)]
pub struct Persist {
    timer: Rto,
    is_due: bool,
}

impl Persist {
    /// Starts the timer for a closed window, if it is not running.
    pub fn arm(&mut self, now: Time, rtt: &Rtt, config: &Config) {
        if self.timer.deadline().is_none() {
            self.timer.restart(now, rtt, config);
        }
    }

    /// Stops the timer: the window is open, or data are in flight.
    pub fn stop(&mut self) {
        self.timer.stop();
        self.timer.on_progress();
        self.is_due = false;
    }

    pub fn deadline(&self) -> Option<Time> {
        self.timer.deadline()
    }

    pub fn on_timer(&mut self, now: Time, rtt: &Rtt, config: &Config) {
        self.is_due |= self.timer.on_timer(now, rtt, config);
    }

    /// Whether a probe is to leave now; returns true once.
    pub fn take_due(&mut self) -> bool {
        core::mem::take(&mut self.is_due)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_overtaken_ack_does_not_shrink_the_window() {
        let mut window = PeerWindow::default();
        window.update(0, 100);
        window.update(50, 60);
        window.update(50, 40);
        assert_eq!(window.end(), 110);
        window.update(50, 80);
        window.update(0, 1_000);
        assert_eq!(window.end(), 130);
        window.update(50, 0);
        assert_eq!(window.end(), 50);
        window.update(51, u64::MAX);
        assert_eq!(window.end(), u64::MAX);
    }
}
