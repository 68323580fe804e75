//! Assigns arms by routes, for machines without BPF: each client network gets a route with its arm's controller.
//!
//! The routes are in a routing table of their own. Policy rules just before the table `main` lead the machine's own TCP
//! connections with the plan's ports to this table. Its routes are copies of `main`'s routes to these networks, with a
//! controller added, and follow `main`'s changes. So where our table has no route, a connection uses the route that it
//! would have without the study. When the rules are gone, all connections do.

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

use document::DocumentError;
use experiment::{Members, Plan};
use kernel::{SteeredConnection, SteeringCounts};
use linux::command::Init;
use linux::routing::Routing;
use units::Duration;

use super::assigner::{Assigner, Events};
use super::directory::StudyDirectory;
use super::holder::Holder;
use super::lock::{Claim, Held, Refused};
use super::row::{Maker, Now, Row};
use keeper::Keeper;
use sockets::{Drawing, Sockets};
use table::{Arms, Table};

/// The number of tries while a process still removes what an earlier study has left, and the pause between two tries.
const MAX_TRIES: u32 = 50;
const RETRY_PAUSE: StdDuration = StdDuration::from_millis(100);

/// The time after which the kernel removes the rules and routes if the study's process does not synchronise them with
/// the table `main`, because it is stopped, waits for a disk, or cannot read `main`.
pub const LEASE: StdDuration = StdDuration::from_secs(60);

/// A reason why arms cannot be assigned by routes.
#[derive(Debug, thiserror::Error)]
pub enum RouteError {
    /// The plan's networks are not suitable.
    #[error(transparent)]
    Networks(#[from] DocumentError),
    /// The kernel refused.
    #[error(transparent)]
    Linux(#[from] linux::Error),
    /// Another study uses the routes of this network namespace.
    #[error("the routes of this network namespace are in use by {0}; end that one first")]
    InUse(Holder),
    /// The lock cannot be taken.
    #[error("cannot lock {}: {error}{}", path.display(), takes_root(error))]
    Lock {
        /// The file to be locked.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// The process that is to undo the changes cannot be started.
    #[error("cannot start the process that removes rules and routes at the end: {0}")]
    Keeper(io::Error),
}

/// The advice for a process without permission.
fn takes_root(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::PermissionDenied => "; this takes root",
        _ => "",
    }
}

/// The routes of a running study.
pub(super) struct Routed {
    table: Table,
    sockets: Sockets,
    undo: Init,
    keeper: Option<Keeper>,
    held: Held,
    /// Problems of the beginning that have not been reported yet.
    begun: Vec<String>,
}

/// Checks that this machine and this process can have routes for the plan.
pub(super) fn check(plan: &Plan) -> Result<(), RouteError> {
    Members::of(plan).networks(plan.unit)?;
    hold().map(drop)?;
    let mut routing = Routing::open_here()?;
    routing.main()?;
    Ok(routing.check()?)
}

/// Removes the rules and routes of a study that was killed together with its keeper. Returns their number.
///
/// # Errors
///
/// A study is running, or the rules and routes cannot be removed.
pub fn stop_routes() -> Result<usize, RouteError> {
    let _held = hold()?;
    Ok(Routing::open_here()?.clear()?)
}

/// Locks the routes of the calling thread's network namespace.
fn hold() -> Result<Held, RouteError> {
    let path = PathBuf::from("/proc/thread-self/ns/net");
    let namespace = match fs::metadata(&path) {
        Ok(about) => about.ino(),
        Err(error) => return Err(RouteError::Lock { path, error }),
    };
    let mut left = MAX_TRIES;
    loop {
        match Claim::Alone.lay_routes(namespace) {
            Ok(held) => return Ok(held),
            Err(Refused::Held(holder)) if holder.is_gone() && left > 0 => {
                thread::sleep(RETRY_PAUSE)
            }
            Err(Refused::Held(holder)) => return Err(RouteError::InUse(holder)),
            Err(Refused::System(path, error)) => return Err(RouteError::Lock { path, error }),
        }
        left -= 1;
    }
}

impl Routed {
    /// Gives the plan's networks their routes.
    pub fn begin(place: &StudyDirectory, now: Duration, undo: &Init) -> Result<Routed, RouteError> {
        let plan = &place.plan;
        let drawing = Drawing::of(place);
        let networks = drawing.members.networks(plan.unit)?.into_iter();
        let arms = Arms {
            names: plan.controllers().into_iter().map(str::to_owned).collect(),
            networks: networks.map(|one| (one, drawing.draw(one).1)).collect(),
            members: drawing.members.clone(),
        };
        let held = hold()?;
        // From here on, the keeper undoes everything, however this process ends.
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
    /// Follows changes of the table `main`, and returns the connections that have ended.
    fn tend(&mut self, maker: &Maker, now: Now) -> Events {
        let mut troubles = std::mem::take(&mut self.begun);
        if !self.keeper.as_mut().is_some_and(Keeper::is_there) {
            let again = keeper(&self.undo, &self.held);
            troubles.push(match &again {
                Ok(_) => "somebody has ended the process that removes rules and routes at the end; there is another one".to_owned(),
                Err(error) => error.to_string(),
            });
            self.keeper = again.ok();
        }
        if self.table.tend(now.boot, &mut troubles)
            && let Some(keeper) = &mut self.keeper
        {
            keeper.renew();
        }
        let ended = self.sockets.ended(maker, now, &mut troubles);
        Events {
            ended,
            troubles,
            ..Events::default()
        }
    }

    /// The open connections.
    fn look(
        &mut self,
        maker: &Maker,
        now: Now,
        troubles: &mut Vec<String>,
    ) -> Vec<(SteeredConnection, Row)> {
        self.sockets.open(maker, now, troubles)
    }

    /// The number of connections that got an arm.
    fn counts(&self) -> SteeringCounts {
        SteeringCounts {
            assigned: self.sockets.count,
            ..SteeringCounts::default()
        }
    }

    /// Removes the rules and routes.
    fn end(&mut self, maker: &Maker, now: Now) -> Events {
        let mut troubles = Vec::new();
        let ended = self.sockets.ended(maker, now, &mut troubles);
        // If this fails, the keeper process tries it again.
        let removed = self.table.remove();
        troubles.extend(removed.err().map(|error| error.to_string()));
        self.keeper = None;
        Events {
            ended,
            troubles,
            ..Events::default()
        }
    }
}

fn keeper(undo: &Init, held: &Held) -> Result<Keeper, RouteError> {
    let started = held.again().and_then(|lock| Keeper::start(undo, lock));
    started.map_err(RouteError::Keeper)
}
