//! The engines by name.

use std::fmt;
use std::str::FromStr;

use super::{Engine, EngineError, Linux, Quic, Sim};

/// The engines that there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Kind {
    /// Packets in virtual time.
    #[default]
    Sim,
    /// Real UDP packets, in real time.
    Quic,
    /// The kernel's own TCP, in real time.
    Linux,
}

impl Kind {
    /// Every engine.
    pub const ALL: &'static [Kind] = &[Kind::Sim, Kind::Quic, Kind::Linux];

    /// The name that it has everywhere: on the command line, in records.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Sim => "sim",
            Kind::Quic => "quic",
            Kind::Linux => "linux",
        }
    }

    /// Whether a run takes as long as it says, and shares the machine with others that run at the same time.
    pub const fn is_real_time(self) -> bool {
        match self {
            Kind::Sim => false,
            Kind::Quic | Kind::Linux => true,
        }
    }

    /// Sees to what the engine needs of the system, for the whole process. To be called before the process has a second
    /// thread.
    ///
    /// # Errors
    ///
    /// What this process may not do, and what would allow it.
    pub fn prepare(self) -> Result<(), EngineError> {
        match self {
            Kind::Sim | Kind::Quic => Ok(()),
            Kind::Linux => Ok(linux::privilege::acquire()?),
        }
    }

    /// The engine.
    pub fn engine(self) -> Box<dyn Engine + Send + Sync> {
        match self {
            Kind::Sim => Box::new(Sim::new()),
            Kind::Quic => Box::new(Quic::new()),
            Kind::Linux => Box::new(Linux::new()),
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Kind {
    type Err = UnknownKind;
    fn from_str(name: &str) -> Result<Kind, UnknownKind> {
        let named = |kind: &&Kind| kind.name() == name;
        Kind::ALL.iter().find(named).copied().ok_or(UnknownKind)
    }
}

/// No engine has this name. Displays the names that there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnknownKind;

impl fmt::Display for UnknownKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = Kind::ALL.iter().map(|kind| kind.name()).collect();
        write!(f, "unknown engine; known: {}", names.join(", "))
    }
}

impl std::error::Error for UnknownKind {}
