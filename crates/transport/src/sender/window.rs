//! The peer's receive window, and the probe when it is shut.

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
    /// An ACK of everything before `next` offers `size`. An ACK that was overtaken must not shrink the window: of two with
    /// the same `next` the greater offer counts, or one of nothing (Linux `tcp_may_update_window`).
    pub fn update(&mut self, next: u64, size: u64) {
        let is_current = next == self.next && (size > self.size || size == 0);
        if next > self.next || is_current {
            (self.next, self.size) = (next, size);
        }
    }

    /// What it offers.
    pub fn size(&self) -> Bytes {
        Bytes::new(self.size)
    }

    /// The stream position up to which may be sent.
    pub fn end(&self) -> u64 {
        self.next.saturating_add(self.size)
    }
}

/// The persist timer: asks for the window while it is shut and nothing is in flight whose acknowledgement would tell
/// (RFC 9293, "Zero-Window Probing"; intervals as a retransmission's).
#[derive(Debug, Clone, Default)]
pub struct Persist {
    timer: Rto,
    is_due: bool,
}

impl Persist {
    /// The window is shut, since now or before.
    pub fn arm(&mut self, now: Time, rtt: &Rtt, config: &Config) {
        if self.timer.deadline().is_none() {
            self.timer.restart(now, rtt, config);
        }
    }

    /// The window is open, or something is in flight.
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

    /// Whether a probe is to leave now; once.
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
