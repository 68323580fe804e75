//! The data in flight: captured when sent, and not yet acknowledged.

use crate::ranges::Ranges;
use crate::scoreboard::Scoreboard;
use crate::unseen::Unseen;

/// The data in flight.
#[derive(Debug, Clone, Default)]
pub struct Outstanding {
    /// The pieces of data.
    pub scoreboard: Scoreboard,
    /// Data that SACK blocks acknowledge.
    pub sacked: Ranges,
    /// Their bytes.
    pub sacked_bytes: u64,
    /// Retransmitted bytes in flight below the highest acknowledged byte.
    pub repeats_out: u64,
    /// Data that were acknowledged and not captured.
    pub unseen: Unseen,
}

impl Outstanding {
    /// The end of the highest acknowledged byte, if everything before `una` is acknowledged.
    #[inline]
    pub fn highest(&self, una: u64) -> u64 {
        self.sacked.end().unwrap_or(0).max(una)
    }

    /// The number of bytes that it holds.
    #[inline]
    pub fn held(&self) -> usize {
        self.scoreboard.held() + self.sacked.held() + self.unseen.held()
    }

    /// Merges SACKed ranges, so that few are left.
    pub fn thin_sacked(&mut self) {
        self.sacked_bytes += self.sacked.thin();
    }

    /// Frees memory.
    pub fn thin(&mut self) {
        self.scoreboard.shrink();
        self.thin_sacked();
        self.unseen = Unseen::default();
    }

    /// Forgets all pieces of data.
    pub fn rest(&mut self) {
        *self = Outstanding {
            repeats_out: self.repeats_out,
            ..Outstanding::default()
        };
    }
}
