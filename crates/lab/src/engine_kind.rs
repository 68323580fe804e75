//! The engines by name.

use std::fmt;
use std::str::FromStr;

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
}

impl fmt::Display for EngineKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

units::as_text!(EngineKind);

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
