//! A study while it runs.

use std::sync::Arc;
use std::time::{Instant, SystemTime};

use experiment::{Measured, Observation, Plan, Scope, guard};
use kernel::{SteeringCounts, since_boot};
use linux::command::Init;
use units::{Bytes, Duration};

use super::assigner::{self, Assigner, Heard};
use super::calendar::Calendar;
use super::data::seen;
use super::group::{ControlGroup, GroupError};
use super::hold::HoldError;
use super::lock::{Claim, Held};
use super::object::{ObjectRow, write_objects};
use super::place::{Missing, Place, PlaceError};
use super::route::{self, RouteError};
use super::row::{self, Maker, Now, Row, write_rows};
use super::told::Told;
use crate::connection::Moment;
use crate::files::{Files, RecordError};
use crate::steer::offered;
use crate::systems::{System, Systems};

/// So often connections that go on are looked at.
const LOOK: Duration = Duration::from_secs(30);

/// So often guards are.
const GUARD: Duration = Duration::from_secs(10);

/// What names of files of connections begin with.
pub(super) const START: &str = "study-";

/// And those of objects.
pub(super) const OBJECTS: &str = "objects-";

/// Why a study does not run.
#[derive(Debug, thiserror::Error)]
pub enum StudyError {
    /// The kernel.
    #[error(transparent)]
    Kernel(#[from] kernel::Error),
    /// The program on the control group.
    #[error(transparent)]
    Hold(#[from] HoldError),
    /// Its sockets.
    #[error(transparent)]
    Linux(#[from] linux::Error),
    /// The control group.
    #[error(transparent)]
    Group(#[from] GroupError),
    /// The routes.
    #[error(transparent)]
    Route(#[from] RouteError),
    /// The directory.
    #[error(transparent)]
    Place(#[from] PlaceError),
    /// The files.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// It is too little.
    #[error("expected at least 64 MB: half of it is for connections, half for their objects")]
    Little,
    /// An arm's controller.
    #[error("arm[{place}].controller: {why}")]
    Controller {
        /// Which arm.
        place: usize,
        /// Why it will not do.
        why: String,
    },
}

/// What a step came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// The study goes on.
    On,
    /// It is over, and why.
    Over(String),
}

/// A study that runs. Its connections have arms as long as this lives and takes its steps.
pub struct Study {
    place: Place,
    /// That nobody else runs it.
    _held: Held,
    assigner: Box<dyn Assigner>,
    files: Files<Row>,
    objects: Files<ObjectRow>,
    maker: Maker,
    systems: Option<Systems>,
    measured: Measured,
    /// When the machine was started, since 1970: what slots are counted by, in this sitting, however the clock is set.
    boot: Duration,
    last: Duration,
    looked: Duration,
    guarded: Duration,
    saved: Duration,
    told: Told,
    /// What was wrong when it began, and has not been told.
    begun: Vec<String>,
    /// What was missing of its data before.
    missing: Missing,
    calendar: Calendar,
}

impl std::fmt::Debug for Study {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Study")
            .field("place", &self.place)
            .finish_non_exhaustive()
    }
}

/// When the machine was started, since 1970, by the clock as it is set now.
pub(crate) fn booted(now: Duration) -> Duration {
    let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let since_1970 = since_1970.map_or(Duration::ZERO, |since| {
        Duration::from_nanos(u64::try_from(since.as_nanos()).unwrap_or(u64::MAX))
    });
    since_1970.saturating_sub(now)
}

impl Study {
    /// Whether this machine and this process can run the plan. Changes nothing but that the kernel may load modules of controllers.
    ///
    /// # Errors
    ///
    /// What is lacking.
    pub fn check(plan: &Plan) -> Result<(), StudyError> {
        for (place, arm) in plan.names().into_iter().enumerate() {
            offered(arm).map_err(|why| StudyError::Controller { place, why })?;
        }
        match &plan.cgroup {
            Some(group) => drop(ControlGroup::at(group)?.claim(Claim::Alone)?),
            None => route::check(plan)?,
        }
        Ok(())
    }

    /// Begins the study of a place, or goes on with it; no more than `keep` of rows is kept. For a study by route, `undo` is how a
    /// process is started that calls [`undo_at_end`](linux::routing::undo_at_end).
    ///
    /// # Errors
    ///
    /// What the machine lacks.
    pub fn begin(
        mut place: Place,
        keep: Bytes,
        systems: Option<Systems>,
        undo: &Init,
    ) -> Result<Study, StudyError> {
        Study::check(&place.plan)?;
        let held = place.hold()?;
        place.about.sittings = place.about.sittings.saturating_add(1);
        let (files, objects) = files_of(&place, keep)?;
        place.save()?;
        let mut left_out = Vec::new();
        let measured = seen(&place, &mut left_out);
        let maker = Maker::of(&place);
        let now = since_boot()?;
        let boot = booted(now);
        Ok(Study {
            _held: held,
            measured,
            assigner: assigner::begin(&place, boot, now, undo)?,
            files,
            objects,
            maker,
            systems,
            boot,
            last: now,
            looked: now,
            // What was seen before may be enough.
            guarded: Duration::ZERO,
            saved: now,
            told: Told::default(),
            begun: left_out.iter().map(ToString::to_string).collect(),
            missing: place.about.missing,
            calendar: Calendar::default(),
            place,
        })
    }

    /// What is known of it.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// How many connections got what.
    pub fn counts(&self) -> SteeringCounts {
        self.assigner.counts()
    }

    /// How many rows are lost, as they could not be written.
    pub fn lost(&self) -> u64 {
        self.files.lost() + self.objects.lost()
    }

    /// To be called about once a second: renews the lease, takes in what has ended, looks at what goes on, and says when all is
    /// over. `trouble` is told what is wrong, once each; the study goes on.
    pub fn step(&mut self, unix_s: f64, mut trouble: impl FnMut(&str)) -> Step {
        let mut troubles = std::mem::take(&mut self.begun);
        let step = self.try_step(unix_s, &mut troubles);
        for text in self.told.news(troubles, Instant::now()) {
            trouble(&text);
        }
        step
    }

    fn try_step(&mut self, unix_s: f64, troubles: &mut Vec<String>) -> Step {
        let boot = match since_boot() {
            Ok(boot) => boot,
            Err(error) => return Step::Over(error.to_string()),
        };
        let now = Now { boot, unix_s };
        troubles.extend(self.calendar.news(unix_s, boot));
        self.place.about.ran_s += boot.saturating_sub(self.last).as_secs_f64();
        self.last = boot;
        let mut rows = Vec::new();
        let heard = self.assigner.tend(&self.maker, now);
        let objects = self.take(heard, &mut rows, troubles);
        if boot.saturating_sub(self.looked) >= LOOK {
            self.looked = boot;
            self.look(now, &mut rows, troubles);
        }
        let when = Moment { at: boot, unix_s };
        let added = self.files.add(when, rows);
        if let Err(error) = added.and(self.objects.add(when, objects)) {
            troubles.push(format!("{error}; the study goes on, and it is tried again"));
        }
        if self.lost() > 0 {
            troubles.push("more rows could not be written than are held: some are lost".to_owned());
        }
        if self.files.dropped() + self.objects.dropped() > 0 {
            troubles.push(
                "the oldest data has to go, as --keep says: the report says how much".to_owned(),
            );
        }
        let missing = self.missing.and(missing_of(&self.files, &self.objects));
        if boot.saturating_sub(self.saved) >= LOOK || missing != self.place.about.missing {
            self.saved = boot;
            self.place.about.missing = missing;
            if let Err(error) = self.place.save() {
                troubles.push(error.to_string());
            }
        }
        if self.place.is_over() {
            return Step::Over("its time is over".to_owned());
        }
        if boot.saturating_sub(self.guarded) >= GUARD {
            self.guarded = boot;
            if let Some(broken) = guard::broken(&self.place.plan, &self.measured) {
                return Step::Over(broken);
            }
        }
        Step::On
    }

    /// Takes in what has ended: connections, and the objects that are the result.
    fn take(
        &mut self,
        heard: Heard,
        rows: &mut Vec<Row>,
        troubles: &mut Vec<String>,
    ) -> Vec<ObjectRow> {
        if heard.is_back {
            self.told.over();
        }
        troubles.extend(heard.troubles);
        for (of, mut row) in heard.ended {
            (row.is_evaluated, row.system) = self.beside(of.client, of.set_up);
            if row.is_evaluated {
                self.measured.add(&observation(&row, Vec::new()));
            }
            rows.push(row);
        }
        let mut objects = Vec::new();
        for (of, mut row) in heard.objects {
            (row.is_evaluated, row.system) = self.beside(of.client, of.set_up);
            if row.is_evaluated {
                self.measured.add(&observation_of_object(&row, Vec::new()));
            }
            objects.push(row);
        }
        objects
    }

    /// Looks at the connections that go on.
    fn look(&mut self, now: Now, rows: &mut Vec<Row>, troubles: &mut Vec<String>) {
        for (of, mut row) in self.assigner.look(&self.maker, now, troubles) {
            (row.is_evaluated, row.system) = self.beside(of.client, of.set_up);
            rows.push(row);
        }
    }

    /// Whether a connection is evaluated, and the network of its client.
    fn beside(
        &mut self,
        client: std::net::IpAddr,
        set_up: Duration,
    ) -> (bool, Option<Arc<System>>) {
        let systems = self.systems.as_mut();
        (
            self.place.plan.is_evaluated(self.boot + set_up),
            systems.and_then(|systems| systems.of_address(client)),
        )
    }

    /// Ends it: from now on, new connections have the default. Writes what is held, and why it ended if it is over.
    ///
    /// # Errors
    ///
    /// The last rows cannot be written.
    pub fn finish(mut self, unix_s: f64, over: Option<String>) -> Result<(), StudyError> {
        let now = Now {
            boot: since_boot()?,
            unix_s,
        };
        let (mut rows, mut troubles) = (Vec::new(), Vec::new());
        self.look(now, &mut rows, &mut troubles);
        let heard = self.assigner.end(&self.maker, now);
        let objects = self.take(heard, &mut rows, &mut troubles);
        self.place.about.ended = over;
        let when = Moment {
            at: now.boot,
            unix_s,
        };
        let added = self.files.add(when, rows);
        let added = added.and(self.objects.add(when, objects));
        let written = self.files.save().and(self.objects.save());
        self.place.about.missing = self.missing.and(missing_of(&self.files, &self.objects));
        // Why it ended is known also where its data has no room.
        self.place.save()?;
        Ok(added.and(written)?)
    }
}

/// What connections and their objects go to.
pub(super) fn files_of(
    place: &Place,
    keep: Bytes,
) -> Result<(Files<Row>, Files<ObjectRow>), StudyError> {
    let half = Bytes::new(keep.get() / 2);
    let directory = place.directory();
    let files = Files::new(directory, START, half, write_rows).map_err(little)?;
    let objects = Files::new(directory, OBJECTS, half, write_objects).map_err(little)?;
    Ok((files, objects))
}

/// What is missing of what went to these.
pub(super) fn missing_of(files: &Files<Row>, objects: &Files<ObjectRow>) -> Missing {
    Missing {
        dropped_connections: files.dropped(),
        dropped_objects: objects.dropped(),
        unwritten: files.lost() + objects.lost(),
    }
}

fn little(error: RecordError) -> StudyError {
    match error {
        RecordError::Little => StudyError::Little,
        error => error.into(),
    }
}

/// A row as it is evaluated. Where objects are told, they have the sizes and times.
pub(super) fn observation(row: &Row, groups: Vec<String>) -> Observation {
    let has_objects = row.objects.is_some_and(|count| count > 0);
    Observation {
        scope: if has_objects {
            Scope::Carrier
        } else {
            Scope::Connection
        },
        unit: row.unit,
        arm: row.arm,
        acknowledged: row.acknowledged,
        busy: row.busy,
        packets: row.packets,
        resent: row.resent,
        rtt: row.median_rtt.or(row.rtt),
        groups,
    }
}

/// An object as it is evaluated.
pub(super) fn observation_of_object(row: &ObjectRow, groups: Vec<String>) -> Observation {
    Observation {
        scope: if row.is_whole {
            Scope::Object
        } else {
            Scope::Part
        },
        unit: row.unit,
        arm: row.arm,
        acknowledged: row.bytes,
        busy: row.busy,
        packets: row.packets,
        resent: row.resent,
        rtt: None,
        groups,
    }
}

/// The groups of a row that names its client.
pub(super) fn groups(client: Option<&str>, system: Option<u64>) -> Vec<String> {
    let mut groups = Vec::new();
    if let Some(client) = client {
        match client.parse() {
            Ok(address) => groups.push(row::network(address).to_string()),
            // A prefix already; a pseudonym is nobody's network.
            Err(_) if client.contains('/') => groups.push(client.to_owned()),
            Err(_) => {}
        }
    }
    groups.extend(system.map(|number| format!("AS{number}")));
    groups
}
