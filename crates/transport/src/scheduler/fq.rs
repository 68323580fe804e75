//! Fair queueing with pacing: a queue for each flow, flows put aside until their next earliest departure time, and
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
//! - New flows go before old ones, so that a mouse is not held behind elephants.
//! - A flow may send as long as its credit is positive; sending takes it below zero by up to a burst, and each turn adds
//!   a quantum, so that flows that compete for a busy NIC share it fairly in bytes, whatever the size of their bursts.
//! - Bursts of a flow leave in the order in which they came, each at its departure time or later.

mod delayed;
mod flow;
mod pool;

use std::collections::VecDeque;

use congestion::{Bytes, Duration, Time};

use super::{Counters, LIMIT};
use crate::burst::Burst;
use delayed::Delayed;
use flow::{Flow, Flows, List};
use pool::Pool;

/// An Ethernet's packet, which quanta are multiples of.
const MTU: Bytes = Bytes::new(1500);

/// A flow that has had nothing to send for so long is a new one when it comes back (Linux `FQ_GC_AGE`).
const MEMORY: Duration = Duration::from_secs(3);

/// How an [`Fq`] shares. The defaults are Linux's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// The credit that a flow gets at each of its turns; at least one byte, at most 1 MiB.
    pub quantum: Bytes,
    /// The credit that a flow begins with: an initial window's worth.
    pub initial_quantum: Bytes,
    /// How long a flow must have been idle to get a quantum at once when it comes back in debt.
    pub refill_delay: Duration,
    /// The most bursts of one flow that wait.
    pub flow_limit: u32,
    /// How far ahead a departure may lie.
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
    /// Every flow once: when to look whether it can be forgotten.
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
    /// An empty scheduler.
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

    /// Takes `burst` in, behind the other bursts of its connection (Linux `fq_enqueue`).
    ///
    /// # Errors
    ///
    /// Gives it back if there are too many bursts, or if it is to leave beyond the horizon.
    pub fn enqueue(&mut self, now: Time, burst: Burst) -> Result<(), Burst> {
        if self.waiting.len() >= LIMIT || burst.departure > now + self.config.horizon {
            self.counters.dropped += 1;
            return Err(burst);
        }
        self.forget_idle_flows(now);
        let number = burst.connection;
        self.know(now, number);
        let flow = &mut self.flows[number];
        if flow.bursts >= self.config.flow_limit {
            self.counters.dropped += 1;
            return Err(burst);
        }
        if let Some(since) = flow.detached.take() {
            let idle = now.since(since);
            if idle >= MEMORY {
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

    /// The next burst that may leave now (Linux `fq_dequeue`).
    pub fn dequeue(&mut self, now: Time) -> Option<Burst> {
        self.release_due_flows(now);
        loop {
            let is_new = !self.new.is_empty();
            let number = self.new.first().or(self.old.first())?;
            let flow = &mut self.flows[number];
            if flow.credit <= 0 {
                flow.credit += credit_of(self.config.quantum);
                self.take_off(is_new);
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
                    self.take_off(is_new);
                    self.counters.throttled += 1;
                }
                // A new flow passes through the old ones, so that it cannot starve them by coming back as new.
                None if is_new => {
                    self.take_off(is_new);
                    self.old.push_back(&mut self.flows, number);
                }
                None => {
                    flow.detached = Some(now);
                    self.take_off(is_new);
                }
            }
        }
    }

    /// When [`Fq::dequeue`] is next worth asking; see [`super::Scheduler::next_departure`].
    pub fn next_departure(&self) -> Option<Time> {
        if self.waiting.is_empty() {
            None
        } else if self.new.is_empty() && self.old.is_empty() {
            self.delayed.next()
        } else {
            Some(Time::ZERO)
        }
    }

    /// Bytes that wait, headers included.
    pub fn queued(&self) -> Bytes {
        self.queued
    }

    /// What it has done.
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// How many flows it knows: those with bursts, and those that had some a few seconds ago.
    pub fn flows(&self) -> usize {
        self.flows.len()
    }

    /// Takes the first burst of a flow whose turn it is.
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

    /// Lets flows whose departure has come take turns again (Linux `fq_check_throttled`).
    fn release_due_flows(&mut self, now: Time) {
        while let Some(number) = self.delayed.pop_due(now) {
            self.old.push_back(&mut self.flows, number);
        }
    }

    /// Takes the flow whose turn it is off its list.
    fn take_off(&mut self, is_new: bool) {
        let list = if is_new { &mut self.new } else { &mut self.old };
        list.pop_front(&mut self.flows);
    }

    /// Makes the flow of this connection if it is not known (Linux `fq_classify`).
    fn know(&mut self, now: Time, number: u32) {
        if self.flows.get(number).is_none() {
            let credit = credit_of(self.config.initial_quantum);
            self.flows.insert(number, Flow::new(credit, now));
            self.reviews.push_back((now + MEMORY, number));
        }
    }

    /// Forgets flows that would be new ones anyway (Linux `fq_gc`): looks at two at most, so that no call is long, and
    /// flows are forgotten faster than they can be made.
    fn forget_idle_flows(&mut self, now: Time) {
        for _ in 0..2 {
            let Some((_, number)) = self.reviews.pop_front_if(|(due, _)| *due <= now) else {
                return;
            };
            match self.flows.get(number) {
                Some(flow)
                    if flow
                        .detached
                        .is_some_and(|since| now.since(since) >= MEMORY) =>
                {
                    debug_assert!(flow.bursts == 0);
                    self.flows.remove(number);
                }
                _ => self.reviews.push_back((now + MEMORY, number)),
            }
        }
    }
}

/// A size as credit.
fn credit_of(size: Bytes) -> i64 {
    i64::try_from(size.get()).unwrap_or(i64::MAX)
}
