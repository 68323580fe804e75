//! The path and its flows, as plain data.
//!
//! A scenario is read from TOML ([`Scenario::from_str`](std::str::FromStr::from_str), [`Scenario::load`]), with
//! overrides such as `path.loss=2%` ([`Draft`]), or built field by field. In each case, the same code reads a value,
//! and errors are [`DocumentError`](document::DocumentError)s.
//!
//! ```
//! use scenario::{Draft, Scenario};
//!
//! let text = r#"
//!     name = "light-loss"
//!     duration = "5s"
//!     path = { rate = "10mbit", rtt = "40ms", buffer = "4bdp", loss = "1%" }
//!     flow = [{ controller = "bbr1" }]
//! "#;
//! let mut draft = Draft::parse(text, ".".as_ref())?;
//! draft.set("path.rate", "20mbit")?;
//! let scenario: Scenario = draft.read()?;
//! assert_eq!(scenario.path.data.rate, Some("20mbit".parse()?));
//! // An error has the line, the field and the reason.
//! let error = text.replace("1%", "101%").parse::<Scenario>().unwrap_err();
//! assert_eq!(error.field, "path.loss");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod app;
mod bbr1;
mod bbr3;
mod bounded;
mod buffer;
mod change;
mod check;
mod check_link;
mod check_network;
mod controller;
mod course;
mod cubic;
mod draft;
mod flow;
#[cfg(any(test, fuzzing))]
pub mod fuzz;
mod hops;
mod host;
mod limit;
mod link_spec;
mod name;
mod named_link;
mod network;
mod path_spec;
mod propagation;
mod route;
mod routing;
mod scenario;
mod segment;
mod to_path;

pub use bbr1::{Bbr1Spec, Variant as Bbr1Variant};
pub use bbr3::{Bbr3Spec, Marks};
pub use buffer::{BufferError, BufferSpec};
pub use change::ChangeSpec;
pub use check::MAX_FLOWS;
pub use controller::{ClassController, Controller, ControllerError, KernelController};
pub use course::Course;
pub use cubic::{CubicSpec, HyStart, Variant as CubicVariant};
pub use draft::{Draft, field_meant};
pub use flow::FlowSpec;
pub use hops::Hops;
pub use host::{HostChangeSpec, HostSpec};
pub use limit::Limits;
pub use link_spec::LinkSpec;
pub use name::Name;
pub use named_link::NamedLink;
pub use network::Network;
pub use path_spec::PathSpec;
pub use route::{Crossing, Route};
pub use scenario::Scenario;
