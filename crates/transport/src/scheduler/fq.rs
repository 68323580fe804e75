//! Fair queueing with pacing: a queue for each flow, flows delayed until their next earliest departure time, and
//! deficit round robin between those that are due (Linux `net/sched/sch_fq.c`; DRR: Shreedhar and Varghese 1995).
//!
//! ```text
//!            first burst                        departure in the future
//! (unknown) ────────────► new flows ──┐   ┌─────────────────────────────► delayed
//!     ▲                               ▼   │                                  │
//!     │ 3 s idle          ┌──────► served ┤ credit spent, or a new flow      │ departure has come
//!     │                   │           │   ▼ is empty                         │
//!  detached ◄─────────────┴───── old flows ◄─────────────────────────────────┘
//!            an old flow is empty
//! ```
//!
//! - New flows go before old ones, so that short flows need not wait behind long ones.
//! - A flow may send while its credit is positive. Sending may take the credit below zero by up to a burst, and each
//!   turn adds a quantum. Flows that compete for a busy NIC therefore share it fairly in bytes, whatever the size of
//!   their bursts.
//! - Bursts of a flow leave in order, each at its departure time or later.

mod delayed;
mod flow;
mod pool;

use std::collections::VecDeque;

use congestion::{Bytes, Duration, Time};

use super::{Counters, MAX_BURSTS};
use crate::burst::Burst;
use delayed::Delayed;
use flow::{Flow, Flows, List};
use pool::Pool;

/// The MTU of Ethernet; quanta are multiples of it.
const MTU: Bytes = Bytes::new(1500);

/// The idle time after which a flow counts as new (Linux `FQ_GC_AGE`).
const IDLE_TIMEOUT: Duration = Duration::from_secs(3);

/// The settings of an [`Fq`]. The defaults are Linux's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// The credit added at each turn of a flow; at least one byte, at most 1 MiB.
    pub quantum: Bytes,
    /// The initial credit of a flow: an initial window.
    pub initial_quantum: Bytes,
    /// The idle time after which a flow in debt gets a quantum at once.
    pub refill_delay: Duration,
    /// The most bursts of one flow that may wait.
    pub flow_limit: u32,
    /// The furthest departure in the future.
    pub horizon: Duration,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            quantum: MTU * 2,
            initial_quantum: MTU * 10,
            refill_delay: Duration::from_millis(40),
            flow_limit: 100,
            horizon: Duration::from_secs(10),
        }
    }
}

/// Fair queueing with pacing. A flow is a connection.
#[derive(Debug)]
pub struct Fq {
    config: Config,
    flows: Flows,
    waiting: Pool<Waiting>,
    new: List,
    old: List,
    delayed: Delayed,
    /// Every flow once, with the time at which to check whether it can be removed.
    reviews: VecDeque<(Time, u32)>,
    queued: Bytes,
    counters: Counters,
}

/// A burst in its flow's queue.
#[derive(Debug)]
struct Waiting {
    burst: Burst,
    /// Its size on the wire.
    size: Bytes,
    /// The flow's next burst.
    next: Option<u32>,
}

impl Fq {
    /// Creates an empty scheduler.
    pub fn new(config: &Config) -> Fq {
        let mut config = config.clone();
        config.quantum = config.quantum.clamp(Bytes::new(1), Bytes::new(1 << 20));
        Fq {
            config,
            flows: Flows::default(),
            waiting: Pool::default(),
            new: List::default(),
            old: List::default(),
            delayed: Delayed::default(),
            reviews: VecDeque::new(),
            queued: Bytes::ZERO,
            counters: Counters::default(),
        }
    }

    /// Adds `burst` behind the other bursts of its connection (Linux `fq_enqueue`).
    ///
    /// # Errors
    ///
    /// Returns it if there are too many bursts, or if its departure is beyond the horizon.
    pub fn enqueue(&mut self, now: Time, burst: Burst) -> Result<(), Burst> {
        if self.waiting.len() >= MAX_BURSTS || burst.departure > now + self.config.horizon {
            self.counters.dropped += 1;
            return Err(burst);
        }
        self.forget_idle_flows(now);
        let number = burst.connection;
        self.ensure_flow(now, number);
        let flow = &mut self.flows[number];
        if flow.bursts >= self.config.flow_limit {
            self.counters.dropped += 1;
            return Err(burst);
        }
        if let Some(since) = flow.detached.take() {
            let idle = now.since(since);
            if idle >= IDLE_TIMEOUT {
                flow.credit = credit_of(self.config.initial_quantum);
            } else if idle > self.config.refill_delay {
                flow.credit = flow.credit.max(credit_of(self.config.quantum));
            }
            self.new.push_back(&mut self.flows, number);
        }
        let size = burst.wire_size();
        let waiting = Waiting {
            burst,
            size,
            next: None,
        };
        let index = self.waiting.insert(waiting);
        let flow = &mut self.flows[number];
        let behind = flow.last.and_then(|last| self.waiting.get_mut(last));
        match behind {
            Some(last) => last.next = Some(index),
            None => flow.first = Some(index),
        }
        flow.last = Some(index);
        flow.bursts += 1;
        self.queued += size;
        self.counters.enqueued += 1;
        Ok(())
    }

    /// Removes the next burst that may leave now (Linux `fq_dequeue`).
    pub fn dequeue(&mut self, now: Time) -> Option<Burst> {
        self.release_due_flows(now);
        loop {
            let is_new = !self.new.is_empty();
            let number = self.new.first().or(self.old.first())?;
            self.counters.turns += 1;
            let flow = &mut self.flows[number];
            if flow.credit <= 0 {
                flow.credit += credit_of(self.config.quantum);
                self.pop_flow(is_new);
                self.old.push_back(&mut self.flows, number);
                continue;
            }
            let departure = flow
                .first
                .and_then(|first| self.waiting.get(first))
                .map(|waiting| waiting.burst.departure);
            match departure {
                Some(departure) if departure <= now => return self.serve(number),
                Some(departure) => {
                    self.delayed.push(departure, number);
                    self.pop_flow(is_new);
                    self.counters.throttled += 1;
                }
                // A new flow passes through the old ones, so that it cannot starve them by returning as new.
                None if is_new => {
                    self.pop_flow(is_new);
                    self.old.push_back(&mut self.flows, number);
                }
                None => {
                    flow.detached = Some(now);
                    self.pop_flow(is_new);
                }
            }
        }
    }

    /// The time of the next useful call of [`Fq::dequeue`]; see [`super::Scheduler::next_departure`].
    pub fn next_departure(&self) -> Option<Time> {
        if self.waiting.is_empty() {
            None
        } else if self.new.is_empty() && self.old.is_empty() {
            self.delayed.next()
        } else {
            Some(Time::ZERO)
        }
    }

    /// Bytes that wait, including headers.
    pub fn queued(&self) -> Bytes {
        self.queued
    }

    /// The counters.
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// The number of known flows: those with bursts, and those that had some a few seconds ago.
    pub fn flows(&self) -> usize {
        self.flows.len()
    }

    /// Removes the first burst of the flow that has its turn.
    fn serve(&mut self, number: u32) -> Option<Burst> {
        let flow = &mut self.flows[number];
        let waiting = self.waiting.remove(flow.first?)?;
        flow.first = waiting.next;
        if flow.first.is_none() {
            flow.last = None;
        }
        flow.bursts -= 1;
        flow.credit -= credit_of(waiting.size);
        self.queued -= waiting.size;
        self.counters.dequeued += 1;
        debug_assert!(self.queued.is_zero() == self.waiting.is_empty());
        Some(waiting.burst)
    }

    /// Moves flows whose departure is due to the list of old flows (Linux `fq_check_throttled`).
    fn release_due_flows(&mut self, now: Time) {
        while let Some(number) = self.delayed.pop_due(now) {
            self.old.push_back(&mut self.flows, number);
        }
    }

    /// Removes the flow that has its turn from its list.
    fn pop_flow(&mut self, is_new: bool) {
        let list = if is_new { &mut self.new } else { &mut self.old };
        list.pop_front(&mut self.flows);
    }

    /// Creates the flow of this connection if there is none (Linux `fq_classify`).
    fn ensure_flow(&mut self, now: Time, number: u32) {
        if self.flows.get(number).is_none() {
            let credit = credit_of(self.config.initial_quantum);
            self.flows.insert(number, Flow::new(credit, now));
            self.reviews.push_back((now + IDLE_TIMEOUT, number));
        }
    }

    /// Removes flows that would count as new anyway (Linux `fq_gc`). It checks two at most: no call is long, and
    /// flows are removed faster than they can be created.
    fn forget_idle_flows(&mut self, now: Time) {
        for _ in 0..2 {
            let Some((_, number)) = self.reviews.pop_front_if(|(due, _)| *due <= now) else {
                return;
            };
            match self.flows.get(number) {
                Some(flow)
                    if flow
                        .detached
                        .is_some_and(|since| now.since(since) >= IDLE_TIMEOUT) =>
                {
                    debug_assert!(flow.bursts == 0);
                    self.flows.remove(number);
                }
                _ => self.reviews.push_back((now + IDLE_TIMEOUT, number)),
            }
        }
    }
}

/// A size as credit.
fn credit_of(size: Bytes) -> i64 {
    i64::try_from(size.get()).unwrap_or(i64::MAX)
}
