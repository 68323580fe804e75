//! The interface of an engine.

use record::Record;
use scenario::Scenario;
use simulate::Progress;

use crate::engine_kind::EngineKind;
use crate::error::EngineError;

/// Ends a run early. Clones share one token: keep one for a Ctrl-C handler and give the other to the run.
pub type Cancel = tokio_util::sync::CancellationToken;

/// Runs scenarios.
pub trait Engine {
    /// Returns the kind of this engine.
    fn kind(&self) -> EngineKind;

    /// Checks that this engine can run the scenario.
    ///
    /// # Errors
    ///
    /// The scenario is invalid, or asks for something that this engine cannot do. The error names the field to change.
    fn check(&self, scenario: &Scenario) -> Result<(), EngineError>;

    /// Checks that this engine can run the scenario on this machine: that the process has the privileges, and the kernel
    /// the controllers. Blocks for a moment.
    ///
    /// # Errors
    ///
    /// Those of [`Engine::check`], or the machine lacks something.
    fn check_here(&self, scenario: &Scenario) -> Result<(), EngineError> {
        self.check(scenario)
    }

    /// Runs a scenario to its end and blocks meanwhile; call it from a thread that may block. The engine's threads
    /// call `watch` for every flow about twenty times a second; it must return soon.
    ///
    /// Once `cancel` is cancelled, the run ends within a moment. Its record then covers the time until that moment
    /// ([`Summary::is_partial`](record::Summary)).
    ///
    /// # Errors
    ///
    /// Those of [`Engine::check`], or the run failed.
    fn run(
        &self,
        scenario: &Scenario,
        watch: &(dyn Fn(Progress) + Sync),
        cancel: &Cancel,
    ) -> Result<Record, EngineError>;

    /// Runs a scenario as [`Engine::run`] does, but records no samples over time; the record is otherwise the same.
    /// This takes less memory, and a simulation takes less time.
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
