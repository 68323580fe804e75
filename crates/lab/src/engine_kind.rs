//! The engines by name.

use std::fmt;
use std::str::FromStr;

use crate::engine::Engine;
use crate::error::EngineError;
use crate::linux::Linux;
use crate::quic::Quic;
use crate::sim::Sim;

/// The engines that there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum EngineKind {
    /// Packets in virtual time.
    #[default]
    Sim,
    /// Real UDP packets, in real time.
    Quic,
    /// The kernel's own TCP, in real time.
    Linux,
}

impl EngineKind {
    /// Every engine.
    pub const ALL: &'static [EngineKind] = &[EngineKind::Sim, EngineKind::Quic, EngineKind::Linux];

    /// The name that it has everywhere: on the command line, in records.
    pub const fn name(self) -> &'static str {
        match self {
            EngineKind::Sim => "sim",
            EngineKind::Quic => "quic",
            EngineKind::Linux => "linux",
        }
    }

    /// Whether a run takes as long as it says, and shares the machine with others that run at the same time.
    pub const fn is_real_time(self) -> bool {
        !matches!(self, EngineKind::Sim)
    }

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

    /// The engine.
    pub fn engine(self) -> Box<dyn Engine + Send + Sync> {
        match self {
            EngineKind::Sim => Box::new(Sim::new()),
            EngineKind::Quic => Box::new(Quic::new()),
            EngineKind::Linux => Box::new(Linux::new()),
        }
    }
}

impl fmt::Display for EngineKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for EngineKind {
    type Err = UnknownEngine;
    fn from_str(name: &str) -> Result<EngineKind, UnknownEngine> {
        let named = |kind: &&EngineKind| kind.name() == name;
        let known = EngineKind::ALL.iter().find(named);
        known.copied().ok_or(UnknownEngine)
    }
}

/// No engine has this name. Displays the names that there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnknownEngine;

impl fmt::Display for UnknownEngine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = EngineKind::ALL.iter().map(|kind| kind.name()).collect();
        write!(f, "unknown engine; known: {}", names.join(", "))
    }
}

impl std::error::Error for UnknownEngine {}
