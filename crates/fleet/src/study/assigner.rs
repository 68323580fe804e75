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

/// A program on a control group, or routes to client networks.
pub(super) enum Assigner {
    Program(Box<Program>),
    Routes(Box<Routed>),
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

impl Assigner {
    /// Gives new connections arms from now on. `boot` is when the machine was started, since 1970.
    pub fn begin(
        place: &Place,
        boot: Duration,
        now: Duration,
        undo: &Init,
    ) -> Result<Assigner, StudyError> {
        Ok(match &place.plan.cgroup {
            Some(group) => Assigner::Program(Box::new(Program::begin(place, group, boot)?)),
            None => Assigner::Routes(Box::new(Routed::begin(place, now, undo)?)),
        })
    }

    /// To be called about once a second.
    pub fn tend(&mut self, maker: &Maker, now: Now) -> Heard {
        match self {
            Assigner::Program(program) => program.tend(maker, now),
            Assigner::Routes(routes) => routes.tend(maker, now),
        }
    }

    /// The connections that go on.
    pub fn look(
        &mut self,
        maker: &Maker,
        now: Now,
        troubles: &mut Vec<String>,
    ) -> Vec<(SteeredConnection, Row)> {
        match self {
            Assigner::Program(program) => program.look(maker, now, troubles),
            Assigner::Routes(routes) => routes.look(maker, now, troubles),
        }
    }

    /// How many connections got what.
    pub fn counts(&self) -> SteeringCounts {
        match self {
            Assigner::Program(program) => program.counts(),
            Assigner::Routes(routes) => routes.counts(),
        }
    }

    /// The last that there is to tell. From now on, new connections have the default.
    pub fn end(&mut self, maker: &Maker, now: Now) -> Heard {
        match self {
            Assigner::Program(program) => program.end(maker, now),
            Assigner::Routes(routes) => routes.end(maker, now),
        }
    }
}
