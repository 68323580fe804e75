//! Checks that an arm was in force: that its connections had its controller.
//!
//! The kernel refuses a controller that is not loaded, and any for a connection whose route is locked to one (`congctl
//! lock` of ip-route(8)). A program may also choose a controller for its connections itself. Such connections still
//! count in their arm, because only the draw may decide. So an arm that is not in force looks like the first one.

use serde::{Deserialize, Serialize};

/// The minimum number of connections to find that an arm was never in force.
const MIN_CONNECTIONS: u64 = 20;

/// The minimum number of connections in a row to find that an arm is no longer in force. One client, whose route is
/// locked, may have many in a row.
const MIN_OTHERS_IN_A_ROW: u64 = 1000;

/// The connections of an arm whose controller is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct InForce {
    /// The number of connections with a known controller.
    pub known: u64,
    /// The number of these that had another controller than their arm's.
    pub others: u64,
    /// The latest of them in a row.
    #[serde(skip)]
    in_a_row: u64,
}

impl InForce {
    /// Counts a connection, in the order of time.
    pub fn note(&mut self, is_in_force: bool) {
        self.known = self.known.saturating_add(1);
        if is_in_force {
            self.in_a_row = 0;
        } else {
            self.others = self.others.saturating_add(1);
            self.in_a_row += 1;
        }
    }

    /// Updates a counted connection that has its arm's controller again, or has lost it. It is then the latest one.
    pub fn change(&mut self, is_in_force: bool) {
        self.known = self.known.saturating_sub(1);
        self.others = self.others.saturating_sub(u64::from(is_in_force));
        self.note(is_in_force);
    }

    /// True if the arm was not in force for at least half of its connections, so that no result is about it.
    pub fn is_lacking(&self) -> bool {
        self.known >= MIN_CONNECTIONS && self.others >= self.known - self.others.min(self.known)
    }

    /// True if the arm is not in force now, so that the study has to stop.
    pub fn is_broken(&self) -> bool {
        self.in_a_row >= MIN_OTHERS_IN_A_ROW
            || self.in_a_row >= MIN_CONNECTIONS && self.is_lacking()
    }

    /// The problem in words. `None` if all connections had their arm's controller.
    pub fn words(&self, arm: &str) -> Option<String> {
        (self.others > 0).then(|| {
            format!(
                "{} of {} connections of {arm} had another controller",
                self.others, self.known
            )
        })
    }
}

/// The possible causes.
pub const CAUSES: &str = "Possible causes: the controller was unloaded, the route to the clients is locked to another one (congctl lock), or \
                          the program chooses a controller itself.";

#[cfg(test)]
mod tests {
    use super::*;

    fn of(all: impl IntoIterator<Item = bool>) -> InForce {
        let mut force = InForce::default();
        all.into_iter().for_each(|one| force.note(one));
        force
    }

    #[test]
    fn an_arm_that_was_never_in_force_is_found_soon_and_one_that_went_later() {
        let never = |count| of(std::iter::repeat_n(false, count));
        assert!(!never(19).is_broken() && never(20).is_broken() && never(20).is_lacking());
        let later =
            |count| of(std::iter::repeat_n(true, 5000).chain(std::iter::repeat_n(false, count)));
        assert!(!later(999).is_broken() && later(1000).is_broken());
        assert!(!later(1000).is_lacking());
    }

    #[test]
    fn a_connection_that_changes_its_controller_still_counts_once() {
        let mut force = of([true; 30]);
        for _ in 0..20 {
            force.change(false);
        }
        assert_eq!((force.known, force.others), (30, 20));
        assert!(force.is_broken());
        force.change(true);
        assert_eq!((force.known, force.others), (30, 19));
        assert!(!force.is_broken());
    }

    #[test]
    fn a_few_that_are_refused_are_told_and_stop_nothing() {
        let force = of((0..10_000).map(|number| number % 10 > 0));
        assert!(!force.is_broken() && !force.is_lacking());
        let words = force.words("bbr").expect("some");
        assert_eq!(
            words,
            "1000 of 10000 connections of bbr had another controller"
        );
        assert_eq!(of([true; 30]).words("bbr"), None);
        let mut most = InForce {
            known: u64::MAX,
            others: u64::MAX,
            in_a_row: 0,
        };
        most.note(false);
        assert!(most.is_lacking());
    }
}
