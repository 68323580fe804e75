//! Engines by their kind.

use crate::engine::Engine;
use crate::engine_kind::EngineKind;
use crate::error::EngineError;
use crate::limits::Limits;
use crate::linux::Linux;
use crate::quic::Quic;
use crate::sim::Sim;

impl EngineKind {
    /// Prepares the whole process for this engine. Call it before the process starts a second thread.
    ///
    /// # Errors
    ///
    /// The process lacks a privilege; the error says which, and how to get it.
    pub fn prepare(self) -> Result<(), EngineError> {
        if self == EngineKind::Linux {
            ::linux::privilege::acquire()?;
        }
        Ok(())
    }

    /// The engine's limits; `None` if it can do everything that a scenario may ask for.
    pub(crate) const fn limits(self) -> Option<&'static Limits> {
        match self {
            EngineKind::Sim => None,
            EngineKind::Quic => Some(&crate::quic::LIMITS),
            EngineKind::Linux => Some(&crate::linux::LIMITS),
        }
    }

    /// Creates the engine.
    pub fn engine(self) -> Box<dyn Engine + Send + Sync> {
        match self {
            EngineKind::Sim => Box::new(Sim::new()),
            EngineKind::Quic => Box::new(Quic::new()),
            EngineKind::Linux => Box::new(Linux::new()),
        }
    }
}
