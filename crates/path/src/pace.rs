//! The bottleneck's transmission times.

use units::{Bytes, Rate, Time};

use crate::capacity::Capacity;
use crate::demand::{Cell, Demand};
use crate::line::Line;
use crate::rates::Follower;
use crate::trace::{Opportunities, Recorded};

/// The bottleneck's clock after the packets that it has carried.
///
/// Most links have none or a constant rate. What the others need is elsewhere, so that a link is small.
#[derive(Debug, Clone)]
pub(crate) enum Pace {
    Unlimited(Time),
    Rate(Line),
    Granted(Box<Cell>),
    Trace(Box<Opportunities>),
    Rates(Box<Follower>),
}

impl Pace {
    pub(crate) fn new(capacity: Capacity, demand: Option<Demand>) -> Pace {
        match (capacity, demand) {
            (Capacity::Unlimited, _) => Pace::Unlimited(Time::ZERO),
            (Capacity::Rate(rate), None) => Pace::Rate(Line::new(rate, Time::ZERO)),
            (Capacity::Rate(rate), Some(demand)) => {
                Pace::Granted(Box::new(Cell::new(demand, rate)))
            }
            (Capacity::Trace(trace), _) => match trace.recorded() {
                Recorded::Opportunities(stamps) => {
                    Pace::Trace(Box::new(Opportunities::new(stamps)))
                }
                Recorded::Rates(rates) => Pace::Rates(Box::new(Follower::new(rates))),
            },
        }
    }

    /// Records that the bottleneck was idle until `now`.
    #[inline]
    pub(crate) fn wake(&mut self, now: Time) {
        match self {
            Pace::Unlimited(at) => *at = now,
            Pace::Rate(line) => line.wake(now),
            Pace::Granted(cell) => cell.line_mut().wake(now),
            Pace::Trace(opportunities) => opportunities.skip_to(now),
            Pace::Rates(follower) => follower.wake(now),
        }
    }

    /// The start of the next packet. At a rate, that is the time at which the packets carried so far are through.
    #[inline]
    pub(crate) fn start(&self) -> Time {
        match self {
            Pace::Unlimited(at) => *at,
            Pace::Rate(line) => line.finish(),
            Pace::Granted(cell) => cell.line().finish(),
            Pace::Trace(opportunities) => opportunities.start(),
            Pace::Rates(follower) => follower.finish(),
        }
    }

    /// The start of the next packet if the bottleneck was idle until `now`.
    #[inline]
    pub(crate) fn start_after_idle(&self, now: Time) -> Time {
        match self {
            Pace::Unlimited(_) | Pace::Rate(_) | Pace::Granted(_) => now,
            Pace::Trace(opportunities) => {
                let mut opportunities = Opportunities::clone(opportunities);
                opportunities.skip_to(now);
                opportunities.start()
            }
            Pace::Rates(follower) => follower.start_after_idle(now),
        }
    }

    /// The start of a packet behind this many waiting bytes.
    #[inline]
    pub(crate) fn start_behind(&self, waiting: Bytes) -> Time {
        let finish = |line: &Line| line.clone().carry(waiting);
        match self {
            Pace::Unlimited(at) => *at,
            Pace::Rate(line) => finish(line),
            Pace::Granted(cell) => finish(cell.line()),
            Pace::Trace(opportunities) => {
                let mut opportunities = Opportunities::clone(opportunities);
                opportunities.take(waiting);
                opportunities.start()
            }
            Pace::Rates(follower) => follower.start_behind(waiting),
        }
    }

    /// Carries the next packet, and returns the time at which it is through.
    #[inline]
    pub(crate) fn carry(&mut self, size: Bytes) -> Time {
        match self {
            Pace::Unlimited(at) => *at,
            Pace::Rate(line) => line.carry(size),
            Pace::Granted(cell) => cell.line_mut().carry(size),
            Pace::Trace(opportunities) => opportunities.take(size),
            Pace::Rates(follower) => follower.carry(size),
        }
    }

    /// Changes the rate at `at`. A packet that is through only after `at` continues at the new rate.
    pub(crate) fn change_rate(&mut self, at: Time, rate: Rate) {
        match self {
            Pace::Unlimited(_) => *self = Pace::Rate(Line::new(rate, at)),
            Pace::Rate(line) => line.change_rate(at, rate),
            Pace::Granted(cell) => cell.change_rate(at, rate),
            Pace::Trace(_) | Pace::Rates(_) => {}
        }
    }

    /// Records that a packet entered the queue or left the bottleneck at `now`.
    #[inline]
    pub(crate) fn backlog_changes(&mut self, now: Time) {
        if let Pace::Granted(cell) = self {
            cell.backlog_changes(now);
        }
    }

    /// The time at which the rate is next adapted to the queue.
    #[inline]
    pub(crate) fn next_look(&self) -> Option<Time> {
        match self {
            Pace::Granted(cell) => cell.next_look(),
            Pace::Rates(follower) => follower.next_look(),
            _ => None,
        }
    }

    /// Adapts the rate at that time, with `backlog` waiting or in transmission.
    pub(crate) fn look(&mut self, backlog: Bytes) {
        match self {
            Pace::Granted(cell) => cell.look(backlog),
            Pace::Rates(follower) => follower.look(backlog),
            _ => {}
        }
    }

    /// True if a packet starts at once when nothing waits.
    #[inline]
    pub(crate) fn is_free_when_idle(&self) -> bool {
        match self {
            Pace::Unlimited(_) => true,
            Pace::Rate(line) => !line.is_stalled(),
            Pace::Granted(cell) => !cell.line().is_stalled(),
            Pace::Trace(_) | Pace::Rates(_) => false,
        }
    }

    /// The line, if it is in an outage until a change of the rate.
    pub(crate) fn stalled(&self) -> Option<&Line> {
        let line = match self {
            Pace::Rate(line) => line,
            Pace::Granted(cell) => cell.line(),
            Pace::Unlimited(_) | Pace::Trace(_) | Pace::Rates(_) => return None,
        };
        line.is_stalled().then_some(line)
    }
}
