//! Scenario × engine → record.
//!
//! - A [`Scenario`] says what the path is and who sends over it: plain data.
//! - An [`Engine`] runs it: [`Sim`], packets in virtual time; [`Quic`], real UDP packets and our controllers; [`Linux`],
//!   the kernel's own TCP.
//! - A [`Record`] is what was observed, in one schema whatever the engine.
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
mod error;
mod flow;
mod kind;
mod linux;
mod quic;
mod sim;
mod ways;

use congestion::State;
use units::{Bytes, Duration, Rate};

pub use advance::Advance;
pub use error::EngineError;
pub use kind::{EngineKind, UnknownEngine};
pub use linux::Linux;
pub use quic::Quic;
pub use sim::Sim;

use record::Record;
use scenario::{Controller, Scenario};

/// Ends a run before its time. Clones are of the same token: keep one for a Ctrl-C handler and give the other to the
/// run.
pub type Cancel = tokio_util::sync::CancellationToken;

/// Runs scenarios.
pub trait Engine {
    /// Its name in records.
    fn name(&self) -> &'static str;

    /// Whether this engine can run the scenario.
    ///
    /// # Errors
    ///
    /// The scenario makes no sense, or asks for what this engine cannot do; the error's field is the one to mend.
    fn check(&self, scenario: &Scenario) -> Result<(), EngineError>;

    /// Runs a scenario to its end and blocks meanwhile; call it from a thread that may be blocked. `watch` is told about
    /// every flow some twenty times a second, from threads of the engine, and must return soon.
    ///
    /// Once `cancel` is cancelled, the run ends within a moment, and its record is of what happened until then
    /// ([`Summary::is_partial`](record::Summary)).
    ///
    /// # Errors
    ///
    /// Those of [`Engine::check`]; or the run failed.
    fn run(
        &self,
        scenario: &Scenario,
        watch: &(dyn Fn(Progress) + Sync),
        cancel: &Cancel,
    ) -> Result<Record, EngineError>;
}

/// How far a flow has come.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// Which of the scenario's flows.
    pub flow: usize,
    /// Its controller.
    pub controller: Controller,
    /// When, from the start of the run.
    pub at: Duration,
    /// Payload delivered, as far as the sender knows; exact at the end.
    pub delivered: Bytes,
    /// Payload to deliver; `None` if the flow sends until the end of the run.
    pub total: Option<Bytes>,
    /// Payload delivered per second, of late; at the end, over the flow's whole life.
    pub rate: Rate,
    /// The last measured round-trip time.
    pub rtt: Option<Duration>,
    /// The controller's state; none before the first ACK.
    pub state: Option<State>,
    /// Whether the flow has ended.
    pub is_done: bool,
}
