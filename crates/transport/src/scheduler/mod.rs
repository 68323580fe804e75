//! The packet scheduler of a host: the path of a sender's bytes between TCP and the NIC.
//!
//! ```text
//! Sender ── autosize ──► Burst ── Pacer ──► earliest departure time
//!    ▲                     │
//!    │ small queues        ▼
//!    └── departed ─── Scheduler (Fifo | Fq) ──► NIC
//! ```
//!
//! - `autosize`: the size of bursts (TSO autosizing).
//! - `pacer`: the departure times of bursts.
//! - `small_queue`: the most bytes of one connection that may wait here (TCP small queues).
//! - [`fifo`] and [`fq`]: the order in which bursts leave.

mod autosize;
pub mod fifo;
pub mod fq;
mod pacer;
mod small_queue;

use congestion::{Bytes, Time};
use serde::{Deserialize, Serialize};

pub use autosize::MAX_OFFLOAD;
pub(crate) use autosize::autosize;
pub use fifo::Fifo;
pub use fq::Fq;
pub use pacer::Pacer;
pub use small_queue::SmallQueues;

use crate::burst::Burst;

/// The place where a connection's bursts are spread over time (Linux `sk_pacing_status`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename = "scheduler", rename_all = "lowercase")]
pub enum Pacing {
    /// Nowhere: bursts leave as fast as the window and the NIC allow.
    None,
    /// The connection itself, if its controller [needs that](congestion::Controller::needs_pacing): by a timer of its
    /// own, it makes a burst only when its departure is due. Other controllers rely on the ACK clock, as with
    /// [`Pacing::None`].
    #[serde(rename = "pacing")]
    PerConnection,
    /// The host's scheduler: the connection stamps bursts with their departures, and [`Fq`] holds them until then.
    #[default]
    Fq,
}

/// The most bursts that wait in a scheduler. It bounds memory; [`SmallQueues`] bound each connection. Linux's
/// default is 10,000 (`sch_fq`), too low for a host of thousands of flows.
pub const MAX_BURSTS: usize = 100_000;

/// The scheduler of a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SchedulerConfig {
    /// One queue for all; for [`Pacing::None`] and [`Pacing::PerConnection`].
    Fifo,
    /// Fair queueing with pacing; for [`Pacing::Fq`].
    Fq(fq::Config),
}

impl SchedulerConfig {
    /// The scheduler for `pacing`.
    pub fn of(pacing: Pacing) -> SchedulerConfig {
        match pacing {
            Pacing::None | Pacing::PerConnection => SchedulerConfig::Fifo,
            Pacing::Fq => SchedulerConfig::Fq(fq::Config::default()),
        }
    }
}

impl Default for SchedulerConfig {
    fn default() -> SchedulerConfig {
        SchedulerConfig::of(Pacing::default())
    }
}

/// The counters of a scheduler.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counters {
    /// Bursts accepted.
    pub enqueued: u64,
    /// Bursts that have left.
    pub dequeued: u64,
    /// Bursts refused: too many, too many of one flow, or a departure beyond the horizon.
    pub dropped: u64,
    /// Times that a flow was delayed until its next departure.
    pub throttled: u64,
    /// Times that a flow was looked at for its next burst; with those of `throttled`, which each take the steps of a heap,
    /// this is the work of fair queueing.
    pub turns: u64,
}

/// The host's queue in front of its NIC. Times passed to it must not decrease.
#[derive(Debug)]
pub enum Scheduler {
    /// One queue for all.
    Fifo(Fifo),
    /// Fair queueing with pacing.
    Fq(Box<Fq>),
}

impl Scheduler {
    /// Creates an empty scheduler.
    pub fn new(config: &SchedulerConfig) -> Scheduler {
        match config {
            SchedulerConfig::Fifo => Scheduler::Fifo(Fifo::default()),
            SchedulerConfig::Fq(config) => Scheduler::Fq(Box::new(Fq::new(config))),
        }
    }

    /// Adds `burst`.
    ///
    /// # Errors
    ///
    /// Returns the burst if it is refused: it is lost, and must be counted as departed.
    #[inline]
    pub fn enqueue(&mut self, now: Time, burst: Burst) -> Result<(), Burst> {
        match self {
            Scheduler::Fifo(fifo) => fifo.enqueue(burst),
            Scheduler::Fq(fq) => fq.enqueue(now, burst),
        }
    }

    /// Removes the next burst that may leave now, for a free NIC; `None` if there is none.
    #[inline]
    pub fn dequeue(&mut self, now: Time) -> Option<Burst> {
        match self {
            Scheduler::Fifo(fifo) => fifo.dequeue(now),
            Scheduler::Fq(fq) => fq.dequeue(now),
        }
    }

    /// The time of the next useful call of [`Scheduler::dequeue`]. It is exact after a call that returned `None`;
    /// otherwise it may be too early ([`Time::ZERO`]: at once). `None` if nothing waits.
    #[inline]
    pub fn next_departure(&self) -> Option<Time> {
        match self {
            Scheduler::Fifo(fifo) => fifo.next_departure(),
            Scheduler::Fq(fq) => fq.next_departure(),
        }
    }

    /// Bytes that wait, including headers.
    pub fn queued(&self) -> Bytes {
        match self {
            Scheduler::Fifo(fifo) => fifo.queued(),
            Scheduler::Fq(fq) => fq.queued(),
        }
    }

    /// The counters.
    pub fn counters(&self) -> Counters {
        match self {
            Scheduler::Fifo(fifo) => fifo.counters(),
            Scheduler::Fq(fq) => fq.counters(),
        }
    }
}
