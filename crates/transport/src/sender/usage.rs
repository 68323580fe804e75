//! What limits the sender.

use congestion::Time;

use super::Stats;

/// What keeps the sender from sending.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// The connection is not open, or nothing was asked yet.
    Closed,
    /// The application has nothing to send.
    Application,
    /// The receive window.
    ReceiveWindow,
    /// The congestion window, the pacing rate, or what still waits below.
    Congestion,
}

/// How long which limit held.
#[derive(Debug, Clone)]
pub struct Limited {
    by: Limit,
    since: Time,
}

impl Limited {
    pub fn new(now: Time) -> Limited {
        Limited {
            by: Limit::Closed,
            since: now,
        }
    }

    /// From `now` on the limit is `by`; the time until then is the former one's.
    #[inline]
    pub fn set(&mut self, now: Time, by: Limit, stats: &mut Stats) {
        let span = now.since(self.since);
        match self.by {
            Limit::Closed => {}
            Limit::Application => stats.app_limited = stats.app_limited + span,
            Limit::ReceiveWindow => stats.rwnd_limited = stats.rwnd_limited + span,
            Limit::Congestion => stats.cwnd_limited = stats.cwnd_limited + span,
        }
        self.by = by;
        self.since = self.since.max(now);
    }
}

/// Whether the congestion window is what limits the flow, remembered for as long as the data takes that was sent while it
/// did (Linux `tcp_cwnd_validate`).
#[derive(Debug, Clone, Default)]
pub struct CwndUsage {
    is_limited: bool,
    /// What had been sent when that was last noted.
    end: u64,
}

impl CwndUsage {
    /// The sender has sent what it could, up to `next`; `una` is acknowledged.
    pub fn note(&mut self, is_limited: bool, una: u64, next: u64) {
        if is_limited || una >= self.end {
            self.is_limited = is_limited;
            self.end = next;
        }
    }

    pub fn is_limited(&self) -> bool {
        self.is_limited
    }
}
