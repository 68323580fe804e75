//! The limits of the sender.

use congestion::{Duration, Time};

/// A limit that prevents the sender from sending.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// The connection is not open, and no SYN has carried data.
    Closed,
    /// The application has nothing to send, and everything is acknowledged.
    Idle,
    /// The application has nothing to send.
    Application,
    /// The receive window.
    ReceiveWindow,
    /// The send buffer: the application has more data, but all data in it are sent.
    SendBuffer,
    /// The congestion window.
    CongestionWindow,
    /// The pacing rate, or the bytes that wait below.
    Pacing,
}

/// The time in each limit of a connection, since the end of its handshake or its SYN with data. The times exclude
/// each other, and add up to the connection's.
///
/// Linux reports some of them (`tcp_chrono_start`): `tcpi_busy_time` is all except [`idle`](Limits::idle), with
/// `tcpi_rwnd_limited` and `tcpi_sndbuf_limited` as parts of it. It does not distinguish the rest of the busy time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Limits {
    /// The application had nothing to send, and everything was acknowledged.
    pub idle: Duration,
    /// The application had nothing to send while data were outstanding.
    pub application: Duration,
    /// The receive window held data back.
    pub receive_window: Duration,
    /// The send buffer was full, with everything in it sent, and the application had more data.
    pub send_buffer: Duration,
    /// The congestion window held data back.
    pub congestion_window: Duration,
    /// The pacing rate, or the bytes that waited below, held data back.
    pub pacing: Duration,
}

impl Limits {
    #[inline]
    fn add(&mut self, limit: Limit, span: Duration) {
        let time = match limit {
            Limit::Closed => return,
            Limit::Idle => &mut self.idle,
            Limit::Application => &mut self.application,
            Limit::ReceiveWindow => &mut self.receive_window,
            Limit::SendBuffer => &mut self.send_buffer,
            Limit::CongestionWindow => &mut self.congestion_window,
            Limit::Pacing => &mut self.pacing,
        };
        *time = *time + span;
    }
}

/// The current limit and the times so far.
#[derive(Debug, Clone)]
pub struct Limited {
    by: Limit,
    since: Time,
    so_far: Limits,
}

impl Limited {
    pub fn new(now: Time) -> Limited {
        Limited {
            by: Limit::Closed,
            since: now,
            so_far: Limits::default(),
        }
    }

    /// Changes the limit to `by` at `now`; the time until then belongs to the previous limit.
    #[inline]
    pub fn set(&mut self, now: Time, by: Limit) {
        self.so_far.add(self.by, now.since(self.since));
        self.by = by;
        self.since = self.since.max(now);
    }

    /// The times until `now`.
    pub fn until(&self, now: Time) -> Limits {
        let mut limits = self.so_far;
        limits.add(self.by, now.since(self.since));
        limits
    }
}

/// Whether the congestion window limits the flow. The answer is kept until the data sent while it did are
/// acknowledged (Linux `tcp_cwnd_validate`).
#[derive(Debug, Clone, Default)]
pub struct CwndUsage {
    is_limited: bool,
    /// The end of the data sent when that was last noted.
    end: u64,
}

impl CwndUsage {
    /// Notes that the sender has sent all it could, up to `next`; `una` is acknowledged.
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
