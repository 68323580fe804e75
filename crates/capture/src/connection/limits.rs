//! What kept a sender from sending, for how long.
//!
//! From one departure of new data to the next, what held the next back is what was in the way after the one before: nothing
//! more was written (the segment was short and pushed, or all was acknowledged and nothing followed); or the receive window was
//! full; else, congestion control or the path. A capture does not show whether the application wrote no more or its send
//! buffer was full, nor both windows full at once.
//!
//! What a departure [followed](super::cues) tells more. With an acknowledgement that had just arrived, a window or a send buffer has
//! opened, and the data had waited for that. Without one, a pacer has let the data go, or they were just written.
//!
//! What is paced may wait below TCP, in the packet scheduler, where TCP lets two bursts wait and adds one when there are no more (TCP
//! small queues). When the last three bursts of a write depart, TCP has had nothing to send for as long as they took. Linux without that
//! scheduler paces within TCP, where nothing waits below. Timestamps tell: TCP has had nothing to send for as long as the last burst
//! waited below.

use congestion::{Bytes, Duration, Rate, Time};
use units::named;

use super::cues::Cue;

/// So many bursts wait below TCP when it has sent all that it may.
const BELOW: usize = 3;

/// What is no further apart is one burst.
const BURST: Duration = Duration::from_micros(100);

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
    /// Payload.
    pub bytes: u64,
    /// Whether the application had written no more.
    pub ends_write: bool,
    /// Whether the receive window had no room for a further segment.
    pub is_window_full: bool,
    /// Whether what is in flight stays, as with a send buffer that is too small.
    pub is_steady: bool,
    /// What limits it if none of them does.
    pub else_by: Limit,
    /// How long it has waited below TCP, if that is known.
    pub below: Option<Duration>,
}

/// Keeps account of what limits a flow.
#[derive(Debug, Clone)]
pub struct Limits {
    shares: Shares,
    last: Departure,
    /// When everything was acknowledged, if it still is.
    idle_since: Option<Time>,
    /// When the window that was full had room again.
    opened: Option<Time>,
    /// Whether the sender has said that there is no more.
    is_closed: bool,
    /// Payload of the latest burst.
    burst: u64,
    /// How long the latest bursts took that may have waited below TCP, and what limited the flow if they did not; the oldest first.
    below: [(Limit, Duration); BELOW],
    /// How long the present train of packets takes, in which one follows the other as fast as the path lets them: where nobody knows
    /// what they followed.
    train: Duration,
}

/// What a departure is judged by, beside what is known of the flow.
#[derive(Debug, Clone, Copy, Default)]
pub struct Patience {
    /// How long a sender may be silent with everything acknowledged although it could send.
    pub silence: Duration,
    /// Packets that are no further apart were sent together, and the path has drawn them apart.
    pub train: Duration,
    /// A longer train is no burst.
    pub longest_train: Duration,
    /// How fast a flow is on the whole of which what is in flight stays.
    pub pace: Rate,
}

impl Limits {
    /// A connection is open since `at`.
    pub fn new(at: Time) -> Limits {
        Limits {
            shares: Shares::default(),
            last: Departure {
                at,
                bytes: 0,
                ends_write: true,
                is_window_full: false,
                is_steady: false,
                else_by: Limit::SlowStart,
                below: None,
            },
            idle_since: Some(at),
            opened: None,
            is_closed: false,
            burst: 0,
            below: [(Limit::SlowStart, Duration::ZERO); BELOW],
            train: Duration::ZERO,
        }
    }

    /// What has limited the flow since the last departure, as far as is known before the next.
    fn present(&self, now: Time, cue: Cue, patience: &Patience) -> Limit {
        // Nobody is idle who may not send.
        let idle_since = match (self.idle_since, self.opened) {
            (Some(idle), Some(opened)) => Some(idle.max(opened)),
            (_, None) if self.last.is_window_full => None,
            (idle, _) => idle,
        };
        let is_idle = |since: Time| now.since(since) > patience.silence;
        if self.last.ends_write || idle_since.is_some_and(is_idle) {
            Limit::Application
        } else if self.last.is_window_full {
            Limit::Receiver
        } else if self.last.is_steady && !self.is_paced(now, cue, patience.pace) {
            Limit::Application
        } else {
            self.last.else_by
        }
    }

    /// Whether what departs now waited for its time. A send buffer has room again when an acknowledgement arrives, and not without; and
    /// a pacer is not much slower than the flow is on the whole.
    fn is_paced(&self, now: Time, cue: Cue, pace: Rate) -> bool {
        let longest = pace.time_for(Bytes::new(self.burst)) * 2;
        cue == Cue::None && now.since(self.last.at) <= longest
    }

    /// New data departs. Gives what limited the flow until now.
    pub fn on_departure(&mut self, departure: Departure, cue: Cue, patience: &Patience) -> Limit {
        let span = departure.at.since(self.last.at);
        let by = self.present(departure.at, cue, patience);
        match cue {
            Cue::Unknown => self.add_of_train(by, span, patience),
            Cue::Answer | Cue::None => self.add_of_bursts(by, span, cue),
        }
        if span > BURST {
            self.burst = 0;
        }
        self.burst += departure.bytes;
        self.last = departure;
        self.idle_since = None;
        self.opened = None;
        by
    }

    fn add_of_bursts(&mut self, by: Limit, span: Duration, cue: Cue) {
        let is_held = matches!(by, Limit::Application | Limit::Receiver);
        if is_held {
            self.settle(Some(by));
        } else if cue == Cue::Answer {
            self.settle(None);
        } else if span > BURST {
            let (oldest, took) = self.below[0];
            self.shares.add(oldest, took);
            self.below.rotate_left(1);
            self.below[BELOW - 1] = (by, span);
            return;
        }
        self.shares.add(by, span);
    }

    /// The latest bursts waited below TCP while this held the flow, or did not.
    fn settle(&mut self, held_by: Option<Limit>) {
        let all = self.below.iter().map(|(_, span)| *span);
        let all = all.fold(Duration::ZERO, |sum, span| sum + span);
        let mut made = all.saturating_sub(self.last.below.unwrap_or(all));
        for (by, span) in &mut self.below {
            let before = made.min(*span);
            made = made.saturating_sub(before);
            self.shares.add(*by, before);
            let held = span.saturating_sub(before);
            self.shares.add(held_by.unwrap_or(*by), held);
            *span = Duration::ZERO;
        }
    }

    fn add_of_train(&mut self, by: Limit, span: Duration, patience: &Patience) {
        let has_more = !self.last.ends_write && !self.last.is_window_full;
        if has_more && span <= patience.train {
            self.train = self.train + span;
        } else {
            self.end_train(by, patience);
            self.shares.add(by, span);
        }
    }

    /// What was sent together is limited by what comes after it.
    fn end_train(&mut self, by: Limit, patience: &Patience) {
        let is_burst = self.train <= patience.longest_train;
        let by = match () {
            () if is_burst => by,
            () if self.last.is_steady => Limit::Application,
            () => self.last.else_by,
        };
        self.shares.add(by, self.train);
        self.train = Duration::ZERO;
    }

    /// Everything is acknowledged.
    pub fn on_idle(&mut self, at: Time) {
        if self.idle_since.is_none() {
            self.idle_since = Some(at);
        }
    }

    /// The receive window has room for a further segment.
    pub fn on_room(&mut self, at: Time) {
        if self.last.is_window_full && self.opened.is_none() {
            self.opened = Some(at);
        }
    }

    /// All that was sent has arrived, and the receiver has no room: what departed last ended at its window's edge.
    pub fn on_no_room(&mut self) {
        if !self.is_closed {
            (self.last.is_window_full, self.last.ends_write) = (true, false);
            self.opened = None;
        }
    }

    /// Whether the application had written no more than what departed last.
    pub fn has_ended_write(&self) -> bool {
        self.last.ends_write
    }

    /// The sender has closed: there is nothing more.
    pub fn on_close(&mut self) {
        self.is_closed = true;
        self.last.ends_write = true;
    }

    /// The shares until `end`.
    pub fn until(&self, end: Time, patience: &Patience) -> Shares {
        let mut all = self.clone();
        let by = self.present(end, Cue::Unknown, patience);
        all.end_train(by, patience);
        all.settle(Some(by).filter(|by| matches!(by, Limit::Application | Limit::Receiver)));
        all.shares.add(by, end.since(self.last.at));
        all.shares
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn departure(at: u64, ends_write: bool) -> Departure {
        Departure {
            at: Time::ZERO + Duration::from_millis(at),
            bytes: 2_000,
            ends_write,
            is_window_full: false,
            is_steady: false,
            else_by: Limit::Window,
            below: None,
        }
    }

    /// Of writes that are paced by the millisecond, one each 100 ms: how long what limited them.
    fn of_writes(bursts: u64, cue: Cue) -> (u64, u64) {
        let patience = Patience::default();
        let mut limits = Limits::new(Time::ZERO);
        for write in 0..10 {
            for burst in 1..=bursts {
                let departure = departure(write * 100 + burst, burst == bursts);
                let cue = if burst == 1 { Cue::None } else { cue };
                limits.on_departure(departure, cue, &patience);
            }
        }
        let shares = limits.until(Time::ZERO + Duration::from_secs(1), &patience);
        let millis = |limit| shares.of(limit).as_nanos() / 1_000_000;
        (millis(Limit::Application), millis(Limit::Window))
    }

    #[test]
    fn the_last_bursts_of_a_write_have_left_tcp_before_they_depart() {
        // Ten bursts take nine milliseconds. In the last three, they wait for the scheduler alone.
        assert_eq!(of_writes(10, Cue::None), (940, 60));
        assert_eq!(of_writes(4, Cue::None), (1_000, 0));
    }

    #[test]
    fn what_did_not_wait_below_tcp_waited_within() {
        let patience = Patience::default();
        for (below, millis) in [(0, 9), (1, 8), (5, 6)] {
            let mut limits = Limits::new(Time::ZERO);
            for burst in 1..=10 {
                let departure = Departure {
                    below: Some(Duration::from_millis(below)),
                    ..departure(burst, burst == 10)
                };
                limits.on_departure(departure, Cue::None, &patience);
            }
            let shares = limits.until(Time::ZERO + Duration::from_secs(1), &patience);
            let paced = shares.of(Limit::Window);
            assert_eq!(paced, Duration::from_millis(millis), "{below} ms");
        }
    }

    #[test]
    fn what_an_acknowledgement_has_let_go_waited_for_no_scheduler() {
        assert_eq!(of_writes(10, Cue::Answer), (910, 90));
    }

    #[test]
    fn a_send_buffer_waits_for_acknowledgements_and_a_pacer_does_not() {
        let patience = Patience {
            pace: Rate::from_bytes_per_sec(1_000_000),
            ..Patience::default()
        };
        // 2,000 bytes take 2 ms at that pace.
        for (cue, wait, limit) in [
            (Cue::Answer, 3, Limit::Application),
            (Cue::Unknown, 3, Limit::Application),
            (Cue::None, 3, Limit::Window),
            (Cue::None, 5, Limit::Application),
        ] {
            let mut limits = Limits::new(Time::ZERO);
            let steady = |at| Departure {
                is_steady: true,
                ..departure(at, false)
            };
            limits.on_departure(steady(10), Cue::None, &patience);
            let by = limits.on_departure(steady(10 + wait), cue, &patience);
            assert_eq!(by, limit, "{cue:?} {wait}");
        }
    }
}
