//! Says what is wrong in how a transport drives Fullpipe's controllers.
//!
//! [`check`] connects your transport several times, each time with a controller that writes down what it is told, and
//! sends its packets over an emulated path in virtual time. What the controller was told is then compared with what
//! happened on the path. Each difference is a [`Finding`], with the figure that shows it.
//!
//! What you write is a [`Transport`]: both ends of a connection without a clock and without sockets. The controller comes
//! from [`Probe::controller`]. The example `toy` of this crate is a complete one.
//!
//! ```text
//! let report = testkit::check(&Knows::everything(), |probe| MyTransport::connect(|about| probe.controller(about)));
//! assert!(report.findings.is_empty(), "{report}");
//! ```
//!
//! The courses have no random choice but the path's, which is seeded: a transport without one of its own gets the same
//! report each time.

mod course;
mod report;
mod rules;
mod transport;
mod witness;
mod world;

pub use course::check;
pub use report::{Fault, Finding, Report};
pub use transport::{End, Knows, Transport};
pub use witness::{Probe, Witness};
