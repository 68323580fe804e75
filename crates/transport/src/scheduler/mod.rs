//! The packet scheduler of a host: what becomes of a sender's bytes between TCP and the NIC.
//!
//! ```text
//! Sender ── autosize ──► Burst ── Pacer ──► earliest departure time
//!    ▲                     │
//!    │ small_queue_limit   ▼
//!    └── departed ─── Scheduler (Fifo | Fq) ──► NIC
//! ```
//!
//! - `autosize`: how large a burst is (TSO autosizing).
//! - `pacer`: when it may leave.
//! - `small_queue`: how much of one connection may wait here (TCP small queues).
//! - [`fifo`] and [`fq`]: in which order bursts leave.

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
pub use small_queue::small_queue_limit;

use crate::burst::Burst;

/// Who spreads a connection's bursts over time (Linux `sk_pacing_status`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename = "scheduler", rename_all = "lowercase")]
pub enum Pacing {
    /// Nobody: bursts leave as fast as the window and the NIC allow.
    None,
    /// The connection itself, if its controller [needs that](congestion::Controller::needs_pacing): it makes a burst only
    /// when its departure has come, by a timer of its own. Others leave it to the ACK clock, as with [`Pacing::None`].
    #[serde(rename = "pacing")]
    PerConnection,
    /// The host's scheduler: the connection stamps bursts with their departures, [`Fq`] holds them until then.
    #[default]
    Fq,
}

/// The most bursts that wait in a scheduler. [`small_queue_limit`] bounds what each connection has there; this bounds
/// memory. Linux's default is 10,000 (`sch_fq`), to be raised on a host of thousands of flows.
pub const LIMIT: usize = 100_000;

/// Which scheduler a host has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SchedulerConfig {
    /// One queue for all; for [`Pacing::None`] and [`Pacing::PerConnection`].
    Fifo,
    /// Fair queueing with pacing; for [`Pacing::Fq`].
    Fq(fq::Config),
}

impl SchedulerConfig {
    /// The scheduler that goes with `pacing`.
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

/// What a scheduler has done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counters {
    /// Bursts accepted.
    pub enqueued: u64,
    /// Bursts that have left.
    pub dequeued: u64,
    /// Bursts refused: too many, too many of one flow, or a departure beyond the horizon.
    pub dropped: u64,
    /// Times that a flow was put aside until its next departure.
    pub throttled: u64,
}

/// The host's queue in front of its NIC. Times given must not decrease.
#[derive(Debug)]
pub enum Scheduler {
    /// One queue for all.
    Fifo(Fifo),
    /// Fair queueing with pacing.
    Fq(Box<Fq>),
}

impl Scheduler {
    /// An empty scheduler.
    pub fn new(config: &SchedulerConfig) -> Scheduler {
        match config {
            SchedulerConfig::Fifo => Scheduler::Fifo(Fifo::default()),
            SchedulerConfig::Fq(config) => Scheduler::Fq(Box::new(Fq::new(config))),
        }
    }

    /// Takes `burst` in.
    ///
    /// # Errors
    ///
    /// Gives it back when it is refused: it is lost, and must be counted as departed.
    #[inline]
    pub fn enqueue(&mut self, now: Time, burst: Burst) -> Result<(), Burst> {
        match self {
            Scheduler::Fifo(fifo) => fifo.enqueue(burst),
            Scheduler::Fq(fq) => fq.enqueue(now, burst),
        }
    }

    /// The next burst that may leave now, for a NIC that is free; `None` if there is none.
    #[inline]
    pub fn dequeue(&mut self, now: Time) -> Option<Burst> {
        match self {
            Scheduler::Fifo(fifo) => fifo.dequeue(now),
            Scheduler::Fq(fq) => fq.dequeue(now),
        }
    }

    /// When [`Scheduler::dequeue`] is next worth asking: exact after it has answered `None`, else it may be too early
    /// ([`Time::ZERO`]: at once). `None` if nothing waits.
    #[inline]
    pub fn next_departure(&self) -> Option<Time> {
        match self {
            Scheduler::Fifo(fifo) => fifo.next_departure(),
            Scheduler::Fq(fq) => fq.next_departure(),
        }
    }

    /// Bytes that wait, headers included.
    pub fn queued(&self) -> Bytes {
        match self {
            Scheduler::Fifo(fifo) => fifo.queued(),
            Scheduler::Fq(fq) => fq.queued(),
        }
    }

    /// What it has done.
    pub fn counters(&self) -> Counters {
        match self {
            Scheduler::Fifo(fifo) => fifo.counters(),
            Scheduler::Fq(fq) => fq.counters(),
        }
    }
}
