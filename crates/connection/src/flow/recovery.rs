//! The retransmissions of a flow and its losses.

use congestion::Time;

use crate::ecn::Reductions;
use crate::losses::Losses;
use crate::recoveries::Recoveries;
use crate::repeats::Repeats;

/// Retransmissions, losses, and reductions of the window.
#[derive(Debug, Clone)]
pub struct Recovery {
    /// The recoveries.
    pub recoveries: Recoveries,
    /// The retransmissions.
    pub repeats: Repeats,
    /// The losses.
    pub losses: Losses,
    /// The reductions of the window that ECN's flags tell.
    pub(super) reductions: Reductions,
    /// When a retransmission last filled a hole.
    pub(super) last_fill: Time,
}

impl Recovery {
    /// The connection was established at `at`.
    pub(super) fn new(at: Time) -> Recovery {
        Recovery {
            recoveries: Recoveries::default(),
            repeats: Repeats::default(),
            losses: Losses::default(),
            reductions: Reductions::default(),
            last_fill: at,
        }
    }

    /// The number of bytes that it holds.
    #[inline]
    pub(super) fn held(&self) -> usize {
        self.repeats.held() + self.losses.held() + self.recoveries.held()
    }

    /// Keeps fewer retransmissions and losses.
    pub(super) fn thin(&mut self) {
        self.repeats.thin();
        self.losses.thin();
    }
}
