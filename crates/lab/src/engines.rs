//! From an engine's name to the engine.

use crate::engine::Engine;
use crate::engine_kind::EngineKind;
use crate::error::EngineError;
use crate::limits::Limits;
use crate::linux::Linux;
use crate::quic::Quic;
use crate::sim::Sim;

impl EngineKind {
    /// Sees to what the engine needs of the system, for the whole process. To be called before the process has a second
    /// thread.
    ///
    /// # Errors
    ///
    /// What this process may not do, and what would allow it.
    pub fn prepare(self) -> Result<(), EngineError> {
        if self == EngineKind::Linux {
            ::linux::privilege::acquire()?;
        }
        Ok(())
    }

    /// What the engine cannot do; nothing if it can do all that a scenario may ask for.
    pub(crate) const fn limits(self) -> Option<&'static Limits> {
        match self {
            EngineKind::Sim => None,
            EngineKind::Quic => Some(&crate::quic::LIMITS),
            EngineKind::Linux => Some(&crate::linux::LIMITS),
        }
    }

    /// The engine.
    pub fn engine(self) -> Box<dyn Engine + Send + Sync> {
        match self {
            EngineKind::Sim => Box::new(Sim::new()),
            EngineKind::Quic => Box::new(Quic::new()),
            EngineKind::Linux => Box::new(Linux::new()),
        }
    }
}
