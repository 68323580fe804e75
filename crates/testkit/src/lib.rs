//! Finds errors in how a transport drives Fullpipe's controllers.
//!
//! [`check`] connects your transport several times, each time with a controller that logs the events that it receives. It
//! sends the transport's packets over an emulated path in virtual time. Then it compares the events with what happened on the
//! path. Each difference is a [`Finding`], with the measurement that shows it.
//!
//! You implement a [`Transport`]: both ends of a connection, without a clock and without sockets. The controller comes
//! from [`Probe::controller`]. The example `toy` of this crate is a complete transport.
//!
//! ```text
//! let report = testkit::check(&Knows::everything(), |probe| MyTransport::connect(|about| probe.controller(about)));
//! assert!(report.findings.is_empty(), "{report}");
//! ```
//!
//! Only the path of a course has random choices, and these are seeded. A transport without random choices of its own gets the
//! same report each time.

mod course;
mod report;
mod rules;
mod setting;
mod transport;
mod witness;
mod world;

pub use course::check;
pub use report::{Fault, Finding, Report};
pub use transport::{End, Knows, Transport};
pub use witness::{Probe, Witness};
