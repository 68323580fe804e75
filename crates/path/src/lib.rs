//! The effects of a network path on packets, as pure code: packets and times in, packets and times out.
//!
//! A [`Link`] is one direction: MTU, loss, policer, buffer, bottleneck rate or trace, corruption, duplication,
//! propagation delay, jitter, reordering, aggregation, in that order; its documentation has a diagram. A [`Path`] is
//! two of them. All of it is plain data ([`LinkConfig`]) and integer arithmetic: no clock, no I/O, no global
//! randomness. The same seed treats every packet the same on any machine. A simulator calls it in virtual time, an
//! emulator in real time.
//!
//! ```
//! use path::{Buffer, Capacity, Link, LinkConfig};
//! use units::{Bytes, Duration, Time};
//!
//! let mut link = Link::new(
//!     LinkConfig {
//!         capacity: Capacity::Rate("12mbit".parse()?),
//!         delay: Duration::from_millis(20),
//!         buffer: Buffer::Packets(100),
//!         ..LinkConfig::default()
//!     },
//!     1,
//! )?;
//!
//! // Two packets enter at once; each takes a millisecond to serialize.
//! link.send(Time::ZERO, Bytes::new(1500), "first");
//! link.send(Time::ZERO, Bytes::new(1500), "second");
//!
//! let mut arrivals = Vec::new();
//! while let Some(now) = link.next_event() {
//!     while let Some(arrival) = link.receive(now) {
//!         arrivals.push((arrival.at.as_nanos(), arrival.packet));
//!     }
//! }
//! assert_eq!(arrivals, [(21_000_000, "first"), (22_000_000, "second")]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod agenda;
mod aggregation;
mod bounds;
mod capacity;
mod change;
mod config;
mod corruption;
mod counters;
mod demand;
mod effects;
mod extras;
mod flight;
#[cfg(any(test, fuzzing))]
pub mod fuzz;
mod jitter;
mod line;
mod link;
mod loss;
mod mtu;
mod pace;
mod parcel;
mod path;
mod policer;
mod queue;
mod random;
mod rate_text;
mod rates;
mod reorder;
mod seed;
mod store;
mod trace;
mod trace_error;
mod trace_text;

pub use agenda::Agenda;
pub use aggregation::Aggregation;
pub use bounds::MTU;
pub use capacity::Capacity;
pub use change::Change;
pub use config::LinkConfig;
pub use counters::{Count, Counters};
pub use demand::Demand;
pub use effects::Effects;
pub use jitter::{Distribution, Jitter};
pub use link::{Arrival, Link, Queued};
pub use loss::{GilbertElliott, Loss, LossAt};
pub use mtu::Mtu;
pub use parcel::{Ecn, Parcel};
pub use path::{Path, PathConfig};
pub use policer::Policer;
pub use queue::{Buffer, CoDel, Discipline, DualPi2, FqCoDel, Red};
pub use reorder::Reorder;
pub use seed::{link_seed, part_seed};
pub use trace::{OPPORTUNITY, Trace, assumed_unit};
pub use trace_error::{TraceError, TraceReason};
pub use trace_text::TooLong;
