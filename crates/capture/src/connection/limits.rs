//! What kept a sender from sending, for how long.
//!
//! From one departure of new data to the next, what held the next back is what was in the way after the one before: nothing
//! more was written (the segment was short and pushed, or all was acknowledged and nothing followed); or the receive window was
//! full; else, congestion control or the path. A capture does not show whether the application wrote no more or its send
//! buffer was full, nor both windows full at once.

use congestion::{Bytes, Duration, Time};
use units::named;

named! {
    /// What limits a flow.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum Limit, "limit" {
        /// The application, or a send buffer that is too small.
        Application = "application",
        /// The receive window.
        Receiver = "receiver",
        /// Congestion control in its first growth: Startup, or slow start.
        SlowStart = "slow_start",
        /// Congestion control, with less in flight than the path holds.
        Window = "window",
        /// The bottleneck, which is busy: more is in flight than the path holds.
        Bottleneck = "bottleneck",
        /// The bottleneck's buffer, which is full: packets are lost.
        Buffer = "buffer",
    }
}

impl Limit {
    /// How much was in flight per BDP decides what the limit is called.
    pub fn of_flight(flight: Bytes, bdp: Option<Bytes>, is_full: bool, is_losing: bool) -> Limit {
        if !is_full {
            return Limit::SlowStart;
        }
        match bdp {
            Some(bdp) if flight >= bdp && is_losing => Limit::Buffer,
            Some(bdp) if flight >= bdp => Limit::Bottleneck,
            _ => Limit::Window,
        }
    }
}

/// How long which limit held.
#[derive(Debug, Clone, Copy, Default)]
pub struct Shares {
    spans: [Duration; Limit::ALL.len()],
}

impl Shares {
    /// How long this limit held.
    pub fn of(&self, limit: Limit) -> Duration {
        self.spans[limit as usize]
    }

    /// All of them together.
    pub fn total(&self) -> Duration {
        let spans = self.spans.iter();
        spans.fold(Duration::ZERO, |sum, span| sum + *span)
    }

    fn add(&mut self, limit: Limit, span: Duration) {
        let place = &mut self.spans[limit as usize];
        *place = *place + span;
    }
}

/// What is known after a departure of new data.
#[derive(Debug, Clone, Copy)]
pub struct Departure {
    /// When it was.
    pub at: Time,
    /// Whether the application had written no more.
    pub ends_write: bool,
    /// Whether the receive window had no room for a further segment.
    pub is_window_full: bool,
    /// What limits it if neither of them does.
    pub else_by: Limit,
}

/// Keeps account of what limits a flow.
#[derive(Debug, Clone)]
pub struct Limits {
    shares: Shares,
    last: Departure,
    /// When everything was acknowledged, if it still is.
    idle_since: Option<Time>,
    /// How long the present train of packets takes, in which one follows the other as fast as the path lets them.
    train: Duration,
}

/// What a departure is judged by, beside what is known of the flow.
#[derive(Debug, Clone, Copy, Default)]
pub struct Patience {
    /// How long a sender may be silent with everything acknowledged although it could send.
    pub silence: Duration,
    /// Packets that are no further apart were sent together, and pacing or the path has drawn them apart.
    pub train: Duration,
    /// A longer train is no burst.
    pub longest_train: Duration,
}

impl Limits {
    /// A connection is open since `at`.
    pub fn new(at: Time) -> Limits {
        Limits {
            shares: Shares::default(),
            last: Departure {
                at,
                ends_write: true,
                is_window_full: false,
                else_by: Limit::SlowStart,
            },
            idle_since: Some(at),
            train: Duration::ZERO,
        }
    }

    /// What has limited the flow since the last departure, as far as is known before the next.
    fn present(&self, now: Time, patience: Duration) -> Limit {
        let is_idle = |since: Time| now.since(since) > patience;
        if self.last.ends_write || self.idle_since.is_some_and(is_idle) {
            Limit::Application
        } else if self.last.is_window_full {
            Limit::Receiver
        } else {
            self.last.else_by
        }
    }

    /// New data departs. Gives what limited the flow until now.
    pub fn on_departure(&mut self, departure: Departure, patience: &Patience) -> Limit {
        let span = departure.at.since(self.last.at);
        let by = self.present(departure.at, patience.silence);
        let has_more = !self.last.ends_write && !self.last.is_window_full;
        if has_more && span <= patience.train {
            self.train = self.train + span;
        } else {
            self.end_train(by, patience);
            self.shares.add(by, span);
        }
        self.last = departure;
        self.idle_since = None;
        by
    }

    /// What was sent together is limited by what comes after it.
    fn end_train(&mut self, by: Limit, patience: &Patience) {
        let is_burst = self.train <= patience.longest_train;
        let by = if is_burst { by } else { self.last.else_by };
        self.shares.add(by, self.train);
        self.train = Duration::ZERO;
    }

    /// Everything is acknowledged.
    pub fn on_idle(&mut self, at: Time) {
        if self.idle_since.is_none() {
            self.idle_since = Some(at);
        }
    }

    /// The sender has closed: there is nothing more.
    pub fn on_close(&mut self) {
        self.last.ends_write = true;
    }

    /// The shares until `end`.
    pub fn until(&self, end: Time, patience: &Patience) -> Shares {
        let mut all = self.clone();
        let by = self.present(end, patience.silence);
        all.end_train(by, patience);
        all.shares.add(by, end.since(self.last.at));
        all.shares
    }
}
