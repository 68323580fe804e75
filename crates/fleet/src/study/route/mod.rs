//! Arms by routes, where there is no BPF: each client network has a route with the controller of its arm.
//!
//! The routes are in a table of their own, and rules lead there: the machine's own TCP connections with the plan's ports, just
//! before the table `main`. They are what `main` has for these networks, with a controller, and follow it. So whatever is missing in
//! our table is as it would be without it, and when the rules are gone, everything is.

mod keeper;
mod sockets;
mod table;
mod wanted;

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::thread;
use std::time::Duration as StdDuration;

use experiment::{Members, Plan};
use kernel::{SteeredConnection, SteeringCounts};
use linux::command::Init;
use linux::routing::Routing;
use scenario::ScenarioError;
use units::Duration;

use super::assigner::{Assigner, Heard};
use super::holder::Holder;
use super::lock::{Claim, Held, Refused};
use super::place::Place;
use super::row::{Maker, Now, Row};
use keeper::Keeper;
use sockets::{Drawing, Sockets};
use table::{Arms, Table};

/// For so long it is waited for a process that removes what an earlier study has left.
const WAIT: u32 = 50;
const WAITED: StdDuration = StdDuration::from_millis(100);

/// Why there are no arms by route.
#[derive(Debug, thiserror::Error)]
pub enum RouteError {
    /// The plan's networks.
    #[error(transparent)]
    Networks(#[from] ScenarioError),
    /// The kernel.
    #[error(transparent)]
    Linux(#[from] linux::Error),
    /// Another study has them.
    #[error("the routes of this network namespace are in use by {0}; end that one first")]
    InUse(Holder),
    /// It cannot be held.
    #[error("cannot lock {}: {error}", path.display())]
    Lock {
        /// The file that is to be locked.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// There is nobody to undo it.
    #[error("cannot start the process that removes rules and routes at the end: {0}")]
    Keeper(io::Error),
}

/// Routes that are looked after.
pub(super) struct Routed {
    table: Table,
    sockets: Sockets,
    undo: Init,
    keeper: Option<Keeper>,
    held: Held,
    /// What was wrong when it began, and has not been told.
    begun: Vec<String>,
}

/// Whether this machine and this process can have routes for the plan.
pub(super) fn check(plan: &Plan) -> Result<(), RouteError> {
    Members::of(plan).networks(plan.unit)?;
    hold().map(drop)?;
    Routing::open_here()?.main()?;
    Ok(())
}

/// Removes what a study has left that was killed together with the process that would have removed it: how many rules and routes.
///
/// # Errors
///
/// A study runs, or they cannot be removed.
pub fn stop_routes() -> Result<usize, RouteError> {
    let _held = hold()?;
    Ok(Routing::open_here()?.clear()?)
}

/// Holds the routes of the calling thread's network namespace.
fn hold() -> Result<Held, RouteError> {
    let path = PathBuf::from("/proc/thread-self/ns/net");
    let namespace = match fs::metadata(&path) {
        Ok(about) => about.ino(),
        Err(error) => return Err(RouteError::Lock { path, error }),
    };
    let mut left = WAIT;
    loop {
        match Claim::Alone.lay_routes(namespace) {
            Ok(held) => return Ok(held),
            Err(Refused::Held(holder)) if holder.is_gone() && left > 0 => thread::sleep(WAITED),
            Err(Refused::Held(holder)) => return Err(RouteError::InUse(holder)),
            Err(Refused::System(path, error)) => return Err(RouteError::Lock { path, error }),
        }
        left -= 1;
    }
}

impl Routed {
    /// Gives networks their routes.
    pub fn begin(place: &Place, now: Duration, undo: &Init) -> Result<Routed, RouteError> {
        let plan = &place.plan;
        let drawing = Drawing::of(place);
        let networks = drawing.members.networks(plan.unit)?.into_iter();
        let arms = Arms {
            names: plan.names().into_iter().map(str::to_owned).collect(),
            networks: networks.map(|one| (one, drawing.draw(one).1)).collect(),
            members: drawing.members.clone(),
        };
        let held = hold()?;
        // From now on everything is undone, however this ends.
        let keeper = keeper(undo, &held)?;
        let mut begun = Vec::new();
        let table = Table::make(arms, &plan.connections, now, &mut begun)?;
        Ok(Routed {
            sockets: Sockets::begin(drawing, now)?,
            table,
            undo: undo.clone(),
            keeper: Some(keeper),
            held,
            begun,
        })
    }
}

impl Assigner for Routed {
    /// Follows the routes that there are anyway, and takes in what has ended.
    fn tend(&mut self, maker: &Maker, now: Now) -> Heard {
        let mut troubles = std::mem::take(&mut self.begun);
        if !self.keeper.as_mut().is_some_and(Keeper::is_there) {
            let again = keeper(&self.undo, &self.held);
            troubles.push(match &again {
                Ok(_) => "somebody has ended the process that removes rules and routes at the end; there is another one".to_owned(),
                Err(error) => error.to_string(),
            });
            self.keeper = again.ok();
        }
        self.table.tend(now.boot, &mut troubles);
        let ended = self.sockets.ended(maker, now, &mut troubles);
        Heard {
            ended,
            troubles,
            ..Heard::default()
        }
    }

    /// The connections that go on.
    fn look(
        &mut self,
        maker: &Maker,
        now: Now,
        troubles: &mut Vec<String>,
    ) -> Vec<(SteeredConnection, Row)> {
        self.sockets.open(maker, now, troubles)
    }

    /// How many connections got an arm.
    fn counts(&self) -> SteeringCounts {
        SteeringCounts {
            assigned: self.sockets.count,
            ..SteeringCounts::default()
        }
    }

    /// Removes rules and routes.
    fn end(&mut self, maker: &Maker, now: Now) -> Heard {
        let mut troubles = Vec::new();
        let ended = self.sockets.ended(maker, now, &mut troubles);
        // If it fails, the other process tries it, too.
        let removed = self.table.remove();
        troubles.extend(removed.err().map(|error| error.to_string()));
        self.keeper = None;
        Heard {
            ended,
            troubles,
            ..Heard::default()
        }
    }
}

fn keeper(undo: &Init, held: &Held) -> Result<Keeper, RouteError> {
    let started = held.again().and_then(|lock| Keeper::start(undo, lock));
    started.map_err(RouteError::Keeper)
}
