//! What an engine is.

use congestion::State;
use record::Record;
use scenario::{Controller, Scenario};
use units::{Bytes, Duration, Rate};

use crate::engine_kind::EngineKind;
use crate::error::EngineError;

/// Ends a run before its time. Clones are of the same token: keep one for a Ctrl-C handler and give the other to the
/// run.
pub type Cancel = tokio_util::sync::CancellationToken;

/// Runs scenarios.
pub trait Engine {
    /// Which engine it is.
    fn kind(&self) -> EngineKind;

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

    /// As [`Engine::run`], for those who look at no samples over time. The record has none, and is the same in all else. It
    /// takes less memory, and of a simulation less time.
    ///
    /// # Errors
    ///
    /// Those of [`Engine::run`].
    fn run_without_samples(
        &self,
        scenario: &Scenario,
        watch: &(dyn Fn(Progress) + Sync),
        cancel: &Cancel,
    ) -> Result<Record, EngineError> {
        let mut record = self.run(scenario, watch, cancel)?;
        record.drop_samples();
        Ok(record)
    }
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
