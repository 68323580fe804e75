//! The outcome of tending the program on a control group.

#[cfg(any(test, feature = "load"))]
use kernel::SteeringCounts;
use kernel::{EndedConnection, Error, ReportedObject};

use super::group::GroupError;
use super::missing::Missing;

/// A reason why the program cannot be attached.
#[derive(Debug, thiserror::Error)]
pub enum HoldError {
    /// The kernel refused.
    #[error(transparent)]
    Kernel(#[from] Error),
    /// The control group cannot be used.
    #[error(transparent)]
    Group(#[from] GroupError),
}

/// The result of tending.
#[derive(Debug, Default)]
pub(crate) struct Tended {
    /// The connections that have ended.
    pub ended: Vec<EndedConnection>,
    /// The objects that are complete, or were cut short.
    pub objects: Vec<ReportedObject>,
    /// The connections and objects that could not be read.
    pub missing: Missing,
    /// True if the program was attached again.
    pub is_anew: bool,
    /// True if the control group is there again, after a time without it.
    pub is_back: bool,
    /// True if another process has the control group now. Then nothing is left to tend.
    pub is_superseded: bool,
    /// Present and past problems.
    pub troubles: Vec<String>,
}

#[cfg(any(test, feature = "load"))]
impl Tended {
    /// Notes what the program has counted since the last look.
    pub fn note(&mut self, before: SteeringCounts, now: SteeringCounts) {
        let more = |of: fn(SteeringCounts) -> u64| of(now).saturating_sub(of(before));
        self.missing.unread_connections = more(|of| of.untold);
        self.missing.unread_objects = more(|of| of.untold_objects);
        let troubles = [
            (
                more(|of| of.refused),
                "the kernel refuses a controller for a connection: the connection keeps the default; was the controller unloaded?",
            ),
            (
                more(|of| of.unremembered),
                "the kernel has no memory for what is stored with a connection: the connection keeps the default; is the sysctl \
                 net.core.optmem_max too small?",
            ),
            (
                self.missing.unread_connections,
                "connections ended faster than they could be read: some are missing",
            ),
            (
                self.missing.unread_objects,
                "objects were over faster than they could be read: some are missing",
            ),
        ];
        let troubles = troubles.into_iter().filter(|(count, _)| *count > 0);
        self.troubles
            .extend(troubles.map(|(_, text)| text.to_owned()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_that_the_program_counts_is_told_once() {
        let before = SteeringCounts {
            assigned: 1,
            refused: 2,
            unremembered: 3,
            untold: 4,
            untold_objects: 5,
        };
        let now = SteeringCounts {
            unremembered: 4,
            untold: 6,
            ..before
        };
        let mut tended = Tended::default();
        tended.note(before, now);
        assert_eq!(tended.troubles.len(), 2, "{:?}", tended.troubles);
        assert!(tended.troubles[0].contains("net.core.optmem_max"));
        assert_eq!(tended.missing.unread_connections, 2);
        let mut tended = Tended::default();
        tended.note(now, now);
        assert!(tended.troubles.is_empty());
        assert_eq!(tended.missing, Missing::default());
    }
}
