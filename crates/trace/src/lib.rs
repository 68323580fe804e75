//! Reads packet captures, follows the connections in them, and says what limited each connection.
//!
//! A [`Trace`] reads captures and qlogs, and follows each connection in bounded memory. A [`Summary`] gives the results as
//! numbers. [`Direction::scenario`] turns the path of a connection into a scenario.
//!
//! ```no_run
//! use trace::{Summary, Trace};
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

#[cfg(any(test, fuzzing))]
pub mod fuzz;
mod guess;
mod hosts;
mod probes;
pub mod quic;
mod scenario;
mod signs;
mod summary;
mod table;
#[cfg(test)]
mod tests;
mod trace;

pub use capture::packet::{Endpoint, link_name};
pub use capture::quic::KeyLogError;
pub use capture::read::{Opened, ReadError};
pub use connection::{Limit, Sample};
pub use guess::{Family, Guess};
pub use probes::{Probes, Schedule};
pub use scenario::Direction;
pub use signs::Signs;
pub use summary::{
    CapturePoint, Causes, ConnectionSummary, FlowSummary, FlowTimeline, KnownPath, LimitShare,
    LimitedBy, RttSummary, Spread, Summary, Timeline,
};
pub use table::MAX_CONNECTIONS;
pub use trace::{Counts, Trace};
