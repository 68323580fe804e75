//! A controller's state, as observers see it.

use core::fmt;

/// A state of a controller. Those that there are stand beside their controllers: [`bbr1::states`](crate::bbr1::states),
/// [`loss_based::states`](crate::loss_based::states).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct State {
    /// The name that it has in records.
    pub name: &'static str,
    /// The purpose.
    pub phase: Phase,
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name)
    }
}

/// The purpose of a state. Several states may share one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Phase {
    /// Searching for the bandwidth, with a model of the path.
    Startup,
    /// Searching for the bandwidth, with a window and no model.
    SlowStart,
    /// Emptying the queue of the search.
    Drain,
    /// At the bandwidth that was found, and probing for more.
    ProbeBw,
    /// Growing the window slowly, until there is congestion.
    Avoidance,
    /// Measuring the round-trip propagation time with little in flight.
    ProbeRtt,
    /// Repairing losses, or answering marks.
    Recovery,
}

impl Phase {
    /// Whether it searches for the bandwidth.
    pub const fn is_searching(self) -> bool {
        matches!(self, Phase::Startup | Phase::SlowStart)
    }

    /// The class of its colour in pages.
    pub const fn colour(self) -> &'static str {
        match self {
            Phase::Startup => "startup",
            Phase::SlowStart => "slow-start",
            Phase::Drain => "drain",
            Phase::ProbeBw => "probe-bw",
            Phase::Avoidance => "avoidance",
            Phase::ProbeRtt => "probe-rtt",
            Phase::Recovery => "recovery",
        }
    }
}

/// Declares a controller's states, each with its name and purpose.
macro_rules! states {
    ($($(#[$about:meta])* $state:ident: $name:literal for $phase:ident,)*) => {
        $(
            $(#[$about])*
            pub const $state: $crate::state::State = $crate::state::State {
                name: $name,
                phase: $crate::state::Phase::$phase,
            };
        )*

        /// All states.
        pub const ALL: &[$crate::state::State] = &[$($state,)*];
    };
}
pub(crate) use states;
