//! The limits of a sender, and for how long each held.
//!
//! The time between two departures of new data has one limit, decided by the state after the first departure. The
//! application limits if it wrote no more: the segment was short and had PSH, or everything was acknowledged and nothing
//! followed. The receiver limits if the receive window was full. Otherwise congestion control or the path limits. A capture
//! does not show whether the application wrote no more or its send buffer was full. It does not show that both windows were
//! full at once, either.
//!
//! Congestion control and the path are told apart a round later, by what the data of the round show when they are
//! acknowledged: the bottleneck limited the round if it was busy, and the window did if it was not (the paper's figure 1:
//! where the bottleneck is busy, more data in flight do not raise the delivery rate). Until then, the time is
//! [undecided](crate::account).
//!
//! The event that [triggered](crate::cues) a departure tells more. If it was an acknowledgement that had just arrived, the
//! data had waited for room in a window or in the send buffer. If not, a pacer released the data, or they were just
//! written.
//!
//! A packet scheduler delays paced data below TCP. TCP adds a burst while no more than two wait there (TCP
//! small queues). So TCP has nothing left to send while the last three bursts of a write depart. Without such a
//! scheduler, Linux delays paced data within TCP (`tcp_pacing_check`), and nothing waits below. The acknowledgements that
//! segments echo tell the two [apart](crate::cues::Built).

use congestion::{Bytes, Duration, Rate, Time};

use crate::account::{Account, Shares};
use crate::cues::{Built, Cue};
use crate::limit::Limit;

/// The bursts that wait below TCP after it has sent all that it may. It hands down another one while no more than two
/// wait there (Linux `tcp_small_queue_check`).
pub const BURSTS_BELOW_TCP: usize = 3;

/// So many bursts must tell when they were built.
const MIN_BUILT_BURSTS: u64 = 30;

/// Without a scheduler, fewer than one burst in so many seems to be built early, because clocks are coarse.
const MIN_BURSTS_PER_EARLY: u64 = 50;

/// Departures no further apart than this are one burst.
const MAX_BURST_GAP: Duration = Duration::from_micros(100);

/// The state after a departure of new data.
#[derive(Debug, Clone, Copy)]
pub struct Departure {
    /// When the segment departed.
    pub at: Time,
    /// Payload.
    pub bytes: u64,
    /// True if the application had written no more.
    pub ends_write: bool,
    /// True if the receive window had no room for another segment.
    pub is_window_full: bool,
    /// True if the data in flight are on a plateau, as with a send buffer that is too small.
    pub is_steady: bool,
    /// True if a loss-based controller would still be in slow start after idle.
    pub may_regrow: bool,
    /// The limit if none of these applies, and the bottleneck is busy.
    pub else_by: Limit,
}

/// Measures how long each limit held a flow.
#[derive(Debug, Clone)]
pub struct Limits {
    /// If paced data wait below TCP.
    below_tcp: Account,
    /// If they wait within TCP.
    within_tcp: Account,
    /// The round that has ended and is not decided.
    ended: Option<Ended>,
    /// When the present round began.
    began: Time,
    /// True if the bottleneck was busy in the latest decided round.
    is_busy: bool,
    last: Departure,
    /// Since when everything has been acknowledged, if it still is.
    idle_since: Option<Time>,
    /// When a full window had room again.
    opened: Option<Time>,
    /// True if the sender has closed.
    is_closed: bool,
    /// True if data were sent again since the last departure of new data.
    is_repairing: bool,
    /// The payload of the latest burst.
    burst: u64,
    /// Bursts that were built after the burst before them had departed, and those that were built earlier.
    built_after: u64,
    built_before: u64,
    /// The latest bursts that may have waited below TCP, oldest first: how long each took, and the limit if it did not
    /// wait.
    below: [(Limit, Duration); BURSTS_BELOW_TCP],
    /// The length of the present train of packets, each as soon after the other as the path allows. Used where the events
    /// that triggered departures are unknown.
    train: Duration,
    /// True if it is longer than what is sent at once.
    is_long: bool,
}

/// A round of departures that has ended.
#[derive(Debug, Clone, Copy)]
struct Ended {
    /// The end of its data.
    data: u64,
    times: (Time, Time),
}

/// A round is decided.
#[derive(Debug, Clone, Copy)]
pub struct Decided {
    /// When it began and when it ended.
    pub times: (Time, Time),
    /// True if the bottleneck was busy.
    pub is_busy: bool,
}

/// Thresholds by which a departure is judged.
#[derive(Debug, Clone, Copy, Default)]
pub struct Thresholds {
    /// A sender with everything acknowledged may be silent for this long although it could send.
    pub silence: Duration,
    /// Packets no further apart than this were sent together, and the path has spread them out.
    pub train: Duration,
    /// A longer train is not a burst.
    pub longest_train: Duration,
    /// The average rate of a flow on a plateau.
    pub pace: Rate,
}

impl Limits {
    /// The connection was established at `at`.
    pub fn new(at: Time) -> Limits {
        Limits {
            below_tcp: Account::default(),
            within_tcp: Account::default(),
            ended: None,
            began: at,
            is_busy: false,
            last: Departure {
                at,
                bytes: 0,
                ends_write: true,
                is_window_full: false,
                is_steady: false,
                may_regrow: false,
                else_by: Limit::SlowStart,
            },
            idle_since: Some(at),
            opened: None,
            is_closed: false,
            is_repairing: false,
            burst: 0,
            built_after: 0,
            built_before: 0,
            below: [(Limit::SlowStart, Duration::ZERO); BURSTS_BELOW_TCP],
            train: Duration::ZERO,
            is_long: false,
        }
    }

    /// The limit of the flow since the last departure, as far as it is known at `now`.
    fn present(&self, now: Time, cue: Cue, thresholds: &Thresholds) -> Limit {
        // A sender that may not send is not idle.
        let idle_since = match (self.idle_since, self.opened) {
            (Some(idle), Some(opened)) => Some(idle.max(opened)),
            (_, None) if self.last.is_window_full => None,
            (idle, _) => idle,
        };
        let is_idle = |since: Time| now.since(since) > thresholds.silence;
        if self.last.ends_write || idle_since.is_some_and(is_idle) {
            Limit::Application
        } else if self.last.is_window_full {
            Limit::Receiver
        } else if self.last.is_steady && !self.is_paced(now, cue, thresholds.pace) {
            Limit::Application
        } else if self.last.may_regrow && cue == Cue::Answer {
            Limit::SlowStart
        } else {
            self.last.else_by
        }
    }

    /// True if a pacer delayed this departure. A full send buffer gets room only when an acknowledgement arrives, and a
    /// pacer is not much slower than the flow's average rate.
    fn is_paced(&self, now: Time, cue: Cue, pace: Rate) -> bool {
        let longest = pace.time_for(Bytes::new(self.burst)) * 2;
        cue == Cue::None && now.since(self.last.at) <= longest
    }

    /// Records a departure of new data. Returns what limited the flow until now.
    pub fn on_departure(
        &mut self,
        departure: Departure,
        (cue, built): (Cue, Built),
        thresholds: &Thresholds,
    ) -> Limit {
        let span = departure.at.since(self.last.at);
        let by = self.present(departure.at, cue, thresholds);
        match cue {
            Cue::Unknown => self.add_of_train(by, span, thresholds),
            Cue::Answer | Cue::None => self.add_of_bursts(by, span, cue, built),
        }
        if span > MAX_BURST_GAP {
            self.burst = 0;
        }
        self.burst += departure.bytes;
        self.last = departure;
        self.is_repairing = false;
        self.idle_since = None;
        self.opened = None;
        by.if_busy(self.is_busy)
    }

    /// Lost data of the last write are sent again. Until the first of them departed, nobody knew of the losses. Then, the
    /// others waited for congestion control.
    pub fn on_repeat(&mut self, at: Time, thresholds: &Thresholds) {
        if !self.last.ends_write {
            return;
        }
        let span = at.since(self.last.at);
        let is_next = self.is_repairing && span <= thresholds.longest_train;
        if is_next {
            self.add(self.last.else_by, span);
        } else {
            self.settle(Some(Limit::Application));
            self.add(Limit::Application, span);
        }
        self.last.at = at;
        self.is_repairing = true;
    }

    /// The round of the departures before `at` ends, with the data before `data`. It lasts on if the round before is not
    /// decided.
    pub fn end_round(&mut self, at: Time, data: u64) {
        if self.ended.is_some() {
            return;
        }
        let times = (std::mem::replace(&mut self.began, at), at);
        self.ended = Some(Ended { data, times });
        self.below_tcp.end_round();
        self.within_tcp.end_round();
    }

    /// Decides the round that has ended, if the data before `acked` include its own. `is_busy`: whether the
    /// bottleneck was busy in the round trip before.
    pub fn decide(&mut self, acked: u64, is_busy: bool) -> Option<Decided> {
        let ended = self.ended.filter(|ended| ended.data <= acked)?;
        self.ended = None;
        self.is_busy = is_busy;
        self.below_tcp.decide(is_busy);
        self.within_tcp.decide(is_busy);
        let times = ended.times;
        Some(Decided { times, is_busy })
    }

    /// Nothing is known of the time until now.
    pub fn skip(&mut self, at: Time) {
        self.last.at = at;
        self.ended = None;
    }

    fn add_of_bursts(&mut self, by: Limit, span: Duration, cue: Cue, built: Built) {
        let is_held = matches!(by, Limit::Application | Limit::Receiver);
        if span > MAX_BURST_GAP && !is_held {
            self.built_after += u64::from(built == Built::After);
            self.built_before += u64::from(built == Built::Before);
        }
        if is_held {
            self.settle(Some(by));
        } else if cue == Cue::Answer {
            self.settle(None);
        } else if span > MAX_BURST_GAP {
            let (oldest, took) = self.below[0];
            self.add(oldest, took);
            self.below.rotate_left(1);
            self.below[BURSTS_BELOW_TCP - 1] = (by, span);
            return;
        }
        self.add(by, span);
    }

    fn add(&mut self, by: Limit, span: Duration) {
        self.below_tcp.add(by, span);
        self.within_tcp.add(by, span);
    }

    /// True if nothing waits below TCP. With a scheduler, single bursts do not wait there, either.
    pub fn is_paced_within_tcp(&self) -> bool {
        self.built_after >= MIN_BUILT_BURSTS
            && self.built_before * MIN_BURSTS_PER_EARLY < self.built_after
    }

    /// Settles the latest bursts: they waited below TCP while `held_by` limited the flow, or they did not wait.
    fn settle(&mut self, held_by: Option<Limit>) {
        for (by, span) in &mut self.below {
            self.below_tcp.add(held_by.unwrap_or(*by), *span);
            self.within_tcp.add(*by, *span);
            *span = Duration::ZERO;
        }
    }

    fn add_of_train(&mut self, by: Limit, span: Duration, thresholds: &Thresholds) {
        let has_more = !self.last.ends_write && !self.last.is_window_full;
        if has_more && span <= thresholds.train {
            self.train = self.train + span;
            self.is_long |= self.train > thresholds.longest_train;
            // Nothing that follows makes it a burst. So each round has its own part.
            if self.is_long && !self.last.is_steady {
                let train = std::mem::take(&mut self.train);
                self.add(self.last.else_by, train);
            }
        } else {
            self.end_train(by, thresholds);
            self.add(by, span);
        }
    }

    /// A train that was sent at once has the limit of the gap that follows it.
    fn end_train(&mut self, by: Limit, thresholds: &Thresholds) {
        let is_long = self.is_long || self.train > thresholds.longest_train;
        let by = match () {
            () if !is_long => by,
            () if self.last.is_steady => Limit::Application,
            () => self.last.else_by,
        };
        let train = std::mem::take(&mut self.train);
        self.add(by, train);
        self.is_long = false;
    }

    /// Everything is acknowledged.
    pub fn on_idle(&mut self, at: Time) {
        if self.idle_since.is_none() {
            self.idle_since = Some(at);
        }
    }

    /// The receive window has room for another segment.
    pub fn on_room(&mut self, at: Time) {
        if self.last.is_window_full && self.opened.is_none() {
            self.opened = Some(at);
        }
    }

    /// All sent data have arrived, and the receiver has no room: the last departure ended at the edge of its window.
    pub fn on_no_room(&mut self) {
        if !self.is_closed {
            (self.last.is_window_full, self.last.ends_write) = (true, false);
            self.opened = None;
        }
    }

    /// True if the last departure ended a write.
    pub fn has_ended_write(&self) -> bool {
        self.last.ends_write
    }

    /// The sender has closed.
    pub fn on_close(&mut self) {
        self.is_closed = true;
        self.last.ends_write = true;
    }

    /// The times until `end`.
    pub fn until(&self, end: Time, thresholds: &Thresholds) -> Shares {
        let mut all = self.clone();
        let by = self.present(end, Cue::Unknown, thresholds);
        all.end_train(by, thresholds);
        all.settle(Some(by).filter(|by| matches!(by, Limit::Application | Limit::Receiver)));
        all.add(by, end.since(self.last.at));
        let account = if self.is_paced_within_tcp() {
            all.within_tcp
        } else {
            all.below_tcp
        };
        account.shares(self.is_busy)
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
            may_regrow: false,
            else_by: Limit::Bottleneck,
        }
    }

    /// How long each limit held, for writes every 100 ms that are paced at a burst per millisecond.
    fn of_writes(bursts: u64, cue: Cue, built: Built) -> (u64, u64) {
        let thresholds = Thresholds::default();
        let mut limits = Limits::new(Time::ZERO);
        for write in 0..10 {
            for burst in 1..=bursts {
                let departure = departure(write * 100 + burst, burst == bursts);
                let cue = if burst == 1 { Cue::None } else { cue };
                limits.on_departure(departure, (cue, built), &thresholds);
            }
        }
        let shares = limits.until(Time::ZERO + Duration::from_secs(1), &thresholds);
        let millis = |limit| shares.of(limit).as_nanos() / 1_000_000;
        (millis(Limit::Application), millis(Limit::Window))
    }

    #[test]
    fn the_last_bursts_of_a_write_have_left_tcp_before_they_depart() {
        // Ten bursts take nine milliseconds. During the last three, they wait only in the scheduler.
        assert_eq!(of_writes(10, Cue::None, Built::Before), (940, 60));
        assert_eq!(of_writes(4, Cue::None, Built::Before), (1_000, 0));
    }

    #[test]
    fn bursts_that_are_built_one_after_the_other_wait_within_tcp() {
        assert_eq!(of_writes(10, Cue::None, Built::After), (910, 90));
        assert_eq!(of_writes(5, Cue::None, Built::After), (960, 40));
    }

    #[test]
    fn what_an_acknowledgement_has_let_go_waited_for_no_scheduler() {
        assert_eq!(of_writes(10, Cue::Answer, Built::Unknown), (910, 90));
    }

    #[test]
    fn the_losses_of_a_write_are_not_repaired_in_the_applications_time() {
        let thresholds = Thresholds {
            longest_train: Duration::from_millis(40),
            ..Thresholds::default()
        };
        let mut limits = Limits::new(Time::ZERO);
        let millis = |ms| Time::ZERO + Duration::from_millis(ms);
        limits.on_departure(
            departure(10, true),
            (Cue::None, Built::Unknown),
            &thresholds,
        );
        for at in [50, 60, 70, 300] {
            limits.on_repeat(millis(at), &thresholds);
        }
        let shares = limits.until(millis(400), &thresholds);
        let of = |limit| shares.of(limit).as_nanos() / 1_000_000;
        assert_eq!((of(Limit::Application), of(Limit::Window)), (380, 20));
    }

    #[test]
    fn a_send_buffer_waits_for_acknowledgements_and_a_pacer_does_not() {
        let thresholds = Thresholds {
            pace: Rate::from_bytes_per_sec(1_000_000),
            ..Thresholds::default()
        };
        // At this pace, 2,000 bytes take 2 ms.
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
            limits.on_departure(steady(10), (Cue::None, Built::Unknown), &thresholds);
            let by = limits.on_departure(steady(10 + wait), (cue, Built::Unknown), &thresholds);
            assert_eq!(by, limit, "{cue:?} {wait}");
        }
    }
}
