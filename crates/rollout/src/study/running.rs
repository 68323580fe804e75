//! A running study.

use std::path::Path;
use std::sync::Arc;
use std::time::{Instant, SystemTime};

use document::DocumentError;
use experiment::force::{CAUSES, InForce};
use experiment::{Measured, Plan, guard};
use kernel::{SteeringCounts, since_boot};
use linux::command::Init;
use units::{Bytes, Duration};

use super::arm_checks::ArmChecks;
use super::assigner::{Assigner, Events};
use super::calendar::Calendar;
use super::columns::{Recorded, write};
use super::data::seen;
use super::directory::StudyDirectory;
use super::error::StudyError;
use super::group::ControlGroup;
use super::lock::{Claim, Held};
use super::lookup::Lookup;
use super::missing::Missing;
use super::object::ObjectRow;
use super::problems::Problems;
use super::program::Program;
use super::route::{self, Routed};
use super::row::{Maker, Now, Row};
use crate::controllers::offered;
use crate::interfaces;
use fleet::Moment;
use fleet::files::{Files, MAX_DELAY, MIN_KEEP, RecordError};

/// The interval between looks at the open connections.
const LOOK_INTERVAL: Duration = Duration::from_secs(30);

/// The interval between checks of the guards.
const GUARD_INTERVAL: Duration = Duration::from_secs(10);

/// The result of a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// The study goes on.
    On,
    /// The study is over, for this reason.
    Over(String),
    /// The study has to stop, because its data are worthless or it cannot go on, for this reason.
    Failed(String),
}

/// The end of a sitting.
#[derive(Debug)]
pub struct Finished {
    /// The number of connections that got an arm.
    pub assigned: u64,
    /// The number of rows that could not be written and are lost.
    pub lost: u64,
    /// The error of writing the last rows or the reason for the end, if they could not be written.
    pub saved: Result<(), StudyError>,
}

/// A running study. Its connections get arms as long as this lives and `step` is called.
pub struct Study {
    place: StudyDirectory,
    /// The lock against a second process that runs the study.
    _held: Held,
    assigner: Box<dyn Assigner>,
    files: Files<Row>,
    objects: Files<ObjectRow>,
    maker: Maker,
    lookup: Lookup,
    measured: Measured,
    /// The machine's boot time since 1970, from which this sitting counts slots, even if the clock is set.
    boot: Duration,
    last: Duration,
    looked: Duration,
    guarded: Duration,
    saved: Duration,
    told: Problems,
    /// Problems of the beginning that have not been reported yet.
    begun: Vec<String>,
    /// The data that was missing before this sitting, or could not be read in it.
    missing: Missing,
    calendar: Calendar,
    noted: ArmChecks,
}

impl std::fmt::Debug for Study {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Study")
            .field("place", &self.place)
            .finish_non_exhaustive()
    }
}

/// The machine's boot time since 1970, by the present setting of the clock.
pub(crate) fn booted(now: Duration) -> Duration {
    let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let since_1970 = since_1970.map_or(Duration::ZERO, |since| {
        Duration::from_nanos(u64::try_from(since.as_nanos()).unwrap_or(u64::MAX))
    });
    since_1970.saturating_sub(now)
}

impl Study {
    /// Checks whether this machine and this process can run the plan, and keep this much data. Changes nothing, except
    /// that the kernel may load modules of controllers.
    ///
    /// # Errors
    ///
    /// The machine or the process lacks something.
    pub fn check(plan: &Plan, keep: Bytes) -> Result<(), StudyError> {
        if keep.get() / 2 < MIN_KEEP.get() {
            return Err(StudyError::Little);
        }
        match &plan.cgroup {
            Some(group) => {
                let group = ControlGroup::at(group)?;
                let named = plan.connections.interface.iter().copied().enumerate();
                interfaces::check(named, group.path()).map_err(|(place, reason)| {
                    let field = format!("connections.interface[{place}]");
                    StudyError::Interface(DocumentError::new(field, reason))
                })?;
                group.claim(Claim::Alone)?;
                kernel::check_permission()?;
            }
            None => route::check(plan)?,
        }
        for (place, arm) in plan.controllers().into_iter().enumerate() {
            offered(arm).map_err(|why| StudyError::Controller { place, why })?;
        }
        Ok(())
    }

    /// Begins or continues the study of a place. Keeps at most `keep` of rows. For a study by route, `undo` starts a
    /// process that calls [`undo_at_end`](linux::routing::undo_at_end).
    ///
    /// # Errors
    ///
    /// The machine lacks something.
    pub fn begin(
        mut place: StudyDirectory,
        keep: Bytes,
        lookup: Lookup,
        undo: &Init,
    ) -> Result<Study, StudyError> {
        Study::check(&place.plan, keep)?;
        let held = place.hold()?;
        place.about.sittings = place.about.sittings.saturating_add(1);
        place
            .about
            .in_force
            .resize(place.plan.arms.len(), InForce::default());
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
            assigner: assign(&place, boot, now, undo)?,
            files,
            objects,
            maker,
            lookup,
            boot,
            last: now,
            looked: now,
            // The guards are checked at once: the data of earlier sittings may be enough for them.
            guarded: Duration::ZERO,
            saved: now,
            told: Problems::default(),
            begun: left_out.iter().map(ToString::to_string).collect(),
            missing: place.about.missing,
            calendar: Calendar::default(),
            noted: ArmChecks::default(),
            place,
        })
    }

    /// The study's directory, plan and state.
    pub fn place(&self) -> &StudyDirectory {
        &self.place
    }

    /// The counters of the assignment.
    pub fn counts(&self) -> SteeringCounts {
        self.assigner.counts()
    }

    /// The number of rows that were lost because they could not be written.
    pub fn lost(&self) -> u64 {
        self.files.lost() + self.objects.lost()
    }

    /// Maintains the assignment, records connections and objects that have ended, looks at open connections, and
    /// returns whether the study is over. Call it about once a second. `trouble` gets each problem once; the study
    /// continues.
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
            Err(error) => return Step::Failed(error.to_string()),
        };
        let now = Now { boot, unix_s };
        troubles.extend(self.calendar.news(unix_s, boot));
        self.place.about.ran_s += boot.saturating_sub(self.last).as_secs_f64();
        self.last = boot;
        let mut rows = Vec::new();
        let heard = self.assigner.tend(&self.maker, now);
        let objects = self.take(heard, &mut rows, troubles);
        if boot.saturating_sub(self.looked) >= LOOK_INTERVAL {
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
        if boot.saturating_sub(self.saved) >= MAX_DELAY || missing != self.place.about.missing {
            self.saved = boot;
            self.place.about.last_unix_s = Some(unix_s);
            self.place.about.missing = missing;
            if let Err(error) = self.place.save() {
                troubles.push(error.to_string());
            }
        }
        if self.place.is_over() {
            return Step::Over("its time is over".to_owned());
        }
        if let Some(why) = self.not_in_force() {
            return Step::Failed(why);
        }
        if boot.saturating_sub(self.guarded) >= GUARD_INTERVAL {
            self.guarded = boot;
            if let Some(broken) = guard::broken(&self.place.plan, &self.measured) {
                return Step::Over(broken);
            }
        }
        Step::On
    }

    /// Takes in connections that have ended, and returns the objects.
    fn take(
        &mut self,
        heard: Events,
        rows: &mut Vec<Row>,
        troubles: &mut Vec<String>,
    ) -> Vec<ObjectRow> {
        if heard.is_back {
            self.told.over();
        }
        self.missing = self.missing.and(heard.missing);
        troubles.extend(heard.troubles);
        for (of, mut row) in heard.ended {
            (row.is_evaluated, row.system, row.region) = self.beside(of.client, of.set_up);
            if row.is_evaluated {
                let groups = row.groups(self.place.plan.unit);
                self.measured.add(&row.observation(groups));
            }
            self.noted.ended(&row, &mut self.place.about.in_force);
            rows.push(row);
        }
        let mut objects = Vec::new();
        for (of, mut row) in heard.objects {
            (row.is_evaluated, row.system, row.region) = self.beside(of.client, of.set_up);
            if row.is_evaluated {
                let groups = row.known().groups(self.place.plan.unit);
                self.measured.add(&row.observation(groups));
            }
            objects.push(row);
        }
        objects
    }

    /// Looks at the open connections.
    fn look(&mut self, now: Now, rows: &mut Vec<Row>, troubles: &mut Vec<String>) {
        let first = rows.len();
        for (of, mut row) in self.assigner.look(&self.maker, now, troubles) {
            (row.is_evaluated, row.system, row.region) = self.beside(of.client, of.set_up);
            rows.push(row);
        }
        let open = rows[first..].iter();
        self.noted.open(open, &mut self.place.about.in_force);
    }

    /// The reason why the study cannot go on, if an arm is not in force.
    fn not_in_force(&self) -> Option<String> {
        let arms = self.place.plan.names().into_iter();
        let mut broken = arms
            .zip(&self.place.about.in_force)
            .filter(|(_, force)| force.is_broken());
        let (arm, force) = broken.next()?;
        let words = force.words(arm)?;
        Some(format!("arm {arm} is not in force: {words}. {CAUSES}"))
    }

    /// The system and the region of a connection's client, and whether the connection is evaluated.
    fn beside(
        &mut self,
        client: std::net::IpAddr,
        set_up: Duration,
    ) -> (bool, Option<u32>, Option<Arc<str>>) {
        let (system, region) = self.lookup.of(client);
        let is_evaluated = self.place.plan.is_evaluated(self.boot + set_up);
        (is_evaluated, system, region)
    }

    /// Ends the sitting: from now on, new connections have the default controller. Writes the rows in memory, and the
    /// reason if the study is over.
    pub fn finish(mut self, unix_s: f64, over: Option<String>) -> Finished {
        let saved = self.try_finish(unix_s, over);
        let lost = self.lost_at_end();
        let assigned = self.counts().assigned;
        Finished {
            assigned,
            lost,
            saved,
        }
    }

    /// The number of rows that are lost if those in memory are not written any more.
    fn lost_at_end(&self) -> u64 {
        self.lost() + self.files.unsaved() + self.objects.unsaved()
    }

    fn try_finish(&mut self, unix_s: f64, over: Option<String>) -> Result<(), StudyError> {
        let now = Now {
            boot: since_boot()?,
            unix_s,
        };
        let (mut rows, mut troubles) = (Vec::new(), Vec::new());
        self.look(now, &mut rows, &mut troubles);
        let heard = self.assigner.end(&self.maker, now);
        let objects = self.take(heard, &mut rows, &mut troubles);
        self.place.about.ended = over;
        self.place.about.last_unix_s = Some(unix_s);
        let when = Moment {
            at: now.boot,
            unix_s,
        };
        let added = self.files.add(when, rows);
        let added = added.and(self.objects.add(when, objects));
        let written = self.files.save().and(self.objects.save());
        self.place.about.missing = self.missing.and(Missing {
            unwritten: self.lost_at_end(),
            ..missing_of(&self.files, &self.objects)
        });
        // The reason is saved even if there is no room for the data.
        self.place.save()?;
        Ok(added.and(written)?)
    }
}

/// The files of connections and objects.
pub(super) fn files_of(
    place: &StudyDirectory,
    keep: Bytes,
) -> Result<(Files<Row>, Files<ObjectRow>), StudyError> {
    let half = Bytes::new(keep.get() / 2);
    let directory = place.directory();
    Ok((rows_in(directory, half)?, rows_in(directory, half)?))
}

/// The files of one kind of rows in a directory.
pub(super) fn rows_in<R: Recorded>(directory: &Path, keep: Bytes) -> Result<Files<R>, StudyError> {
    Files::new(directory, R::START, keep, write).map_err(little)
}

/// The rows that are missing in these files.
pub(super) fn missing_of(files: &Files<Row>, objects: &Files<ObjectRow>) -> Missing {
    Missing {
        dropped_connections: files.dropped(),
        dropped_objects: objects.dropped(),
        unwritten: files.lost() + objects.lost(),
        ..Missing::default()
    }
}

/// Begins to assign arms to new connections. `boot` is the machine's boot time, since 1970.
fn assign(
    place: &StudyDirectory,
    boot: Duration,
    now: Duration,
    undo: &Init,
) -> Result<Box<dyn Assigner>, StudyError> {
    Ok(match &place.plan.cgroup {
        Some(group) => Box::new(Program::begin(place, group, boot)?),
        None => Box::new(Routed::begin(place, now, undo)?),
    })
}

fn little(error: RecordError) -> StudyError {
    match error {
        RecordError::Little => StudyError::Little,
        error => error.into(),
    }
}
