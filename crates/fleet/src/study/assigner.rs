//! What gives connections their arms, and tells what became of them.

use kernel::{SteeredConnection, SteeringCounts};
use linux::command::Init;
use units::Duration;

use super::object::ObjectRow;
use super::place::Place;
use super::program::Program;
use super::route::Routed;
use super::row::{Maker, Now, Row};
use super::running::StudyError;

/// A [program](Program) on a control group, or [routes](Routed) to client networks.
pub(super) trait Assigner {
    /// Looks after it, about once a second.
    fn tend(&mut self, maker: &Maker, now: Now) -> Heard;

    /// The connections that go on.
    fn look(
        &mut self,
        maker: &Maker,
        now: Now,
        troubles: &mut Vec<String>,
    ) -> Vec<(SteeredConnection, Row)>;

    /// How many connections got what.
    fn counts(&self) -> SteeringCounts;

    /// The last that there is to tell. From now on, new connections have the default.
    fn end(&mut self, maker: &Maker, now: Now) -> Heard;
}

/// What there is to tell since it was asked.
#[derive(Default)]
pub(super) struct Heard {
    /// The connections that have ended.
    pub ended: Vec<(SteeredConnection, Row)>,
    /// The objects that are over.
    pub objects: Vec<(SteeredConnection, ObjectRow)>,
    /// Whether something is there again for which was waited.
    pub is_back: bool,
    /// What is wrong, or was.
    pub troubles: Vec<String>,
}

/// Gives new connections arms from now on. `boot` is when the machine was started, since 1970.
pub(super) fn begin(
    place: &Place,
    boot: Duration,
    now: Duration,
    undo: &Init,
) -> Result<Box<dyn Assigner>, StudyError> {
    Ok(match &place.plan.cgroup {
        Some(group) => Box::new(Program::begin(place, group, boot)?),
        None => Box::new(Routed::begin(place, now, undo)?),
    })
}
