//! The engines, which run scenarios: in virtual time, over real QUIC, or over the kernel's TCP. Each gives a record of the same
//! form, so that their results can be compared.
//!
//! - A [`Scenario`](scenario::Scenario) describes the path and its senders: plain data.
//! - An [`Engine`] runs it: [`Sim`] with packets in virtual time, [`Quic`] with real UDP packets and our controllers,
//!   [`Linux`] with the kernel's own TCP.
//! - A [`Record`](record::Record) holds the observations, in one schema for every engine.
//!
//! ```
//! use lab::{Cancel, Engine, Sim};
//! use scenario::Scenario;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let scenario: Scenario = r#"
//!     name = "light-loss"
//!     duration = "5s"
//!     path = { rate = "10mbit", rtt = "40ms", buffer = "4bdp", loss = "1%" }
//!     flow = [{ controller = "bbr1" }, { controller = "cubic" }]
//! "#
//! .parse()?;
//! let record = Sim::new().run(&scenario, &|_| (), &Cancel::new())?;
//! for flow in &record.summary.flows {
//!     println!("{}: {} bit/s", flow.controller, flow.goodput_bps);
//! }
//! # Ok(())
//! # }
//! ```

mod advance;
mod engine;
mod engine_kind;
mod engines;
mod error;
mod limits;
mod linux;
mod quic;
mod runtime;
mod sim;

pub use advance::Advance;
pub use emulator::Awake;
pub use engine::{Cancel, Engine};
pub use engine_kind::EngineKind;
pub use error::EngineError;
pub use linux::Linux;
pub use quic::{Limiting, Quic};
pub use runtime::{are_granted, runtime};
pub use sim::Sim;
pub use simulate::{MakeController, MakeControllers, Progress};
