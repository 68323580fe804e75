//! The two hosts.

use scenario::FlowSpec;

/// One of the two hosts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Near,
    Far,
}

impl Side {
    pub fn other(self) -> Side {
        match self {
            Side::Near => Side::Far,
            Side::Far => Side::Near,
        }
    }

    /// The side that sends a flow's data.
    pub fn that_sends(flow: &FlowSpec) -> Side {
        if flow.reverse { Side::Far } else { Side::Near }
    }
}
