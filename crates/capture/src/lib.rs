//! Reads packet captures, follows the connections in them, and says what limited each connection.
//!
//! A [`Trace`] reads captures ([`read`]), decodes their packets ([`packet`]), and follows each TCP [`connection`] in
//! bounded memory. A [`Summary`] gives the results as numbers. [`Direction::scenario`] turns the path of a connection into a
//! scenario. [`mod@write`] goes the other way: it writes simulated packets as a capture.
//!
//! ```no_run
//! use capture::{Summary, Trace};
//!
//! let mut trace = Trace::new();
//! trace.read(std::fs::File::open("capture.pcapng")?, &|| true)?;
//! let (summary, _) = Summary::of(trace);
//! for connection in &summary.connections {
//!     for flow in &connection.flows {
//!         println!("{} → {}: RTprop {:?} ms", flow.from, flow.to, flow.rtprop_ms);
//!     }
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod clock;
pub mod connection;
#[cfg(any(test, fuzzing))]
pub mod fuzz;
mod guess;
mod hosts;
mod memory;
pub mod packet;
mod probes;
pub mod quic;
pub mod read;
mod scenario;
mod signs;
mod summary;
mod table;
#[cfg(test)]
mod tests;
mod trace;
pub mod write;

pub use guess::{Family, Guess};
pub use probes::{Probes, Schedule};
pub use scenario::Direction;
pub use signs::Signs;
pub use summary::{
    Causes, ConnectionSummary, FlowSummary, FlowTimeline, KnownPath, LimitedBy, Place, RttSummary,
    Spread, Summary, Timeline,
};
pub use table::MOST as MOST_CONNECTIONS;
pub use trace::{Counts, Trace};
