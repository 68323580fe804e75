//! The interface of what assigns arms to connections, and reports what became of the connections.

use kernel::{SteeredConnection, SteeringCounts};

use super::missing::Missing;
use super::object::ObjectRow;
use super::row::{Maker, Now, Row};

/// A [program](super::program::Program) on a control group, or [routes](super::route::Routed) to client networks.
pub(super) trait Assigner {
    /// Maintains the assignment. Call it about once a second.
    fn tend(&mut self, maker: &Maker, now: Now) -> Events;

    /// The open connections.
    fn look(
        &mut self,
        maker: &Maker,
        now: Now,
        troubles: &mut Vec<String>,
    ) -> Vec<(SteeredConnection, Row)>;

    /// The numbers of connections by their outcome.
    fn counts(&self) -> SteeringCounts;

    /// Ends the assignment, and returns the last report. From then on, new connections have the default controller.
    fn end(&mut self, maker: &Maker, now: Now) -> Events;
}

/// The events since the last call.
#[derive(Default)]
pub(super) struct Events {
    /// The connections that have ended.
    pub ended: Vec<(SteeredConnection, Row)>,
    /// The objects that are complete, or were cut short.
    pub objects: Vec<(SteeredConnection, ObjectRow)>,
    /// The connections and objects that could not be read.
    pub missing: Missing,
    /// True if the control group is there again, after a time without it.
    pub is_back: bool,
    /// Present and past problems.
    pub troubles: Vec<String>,
}
