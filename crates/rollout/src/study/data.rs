//! Reads what a study has recorded.

use std::collections::HashMap;
use std::fmt;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use experiment::carryover::{Carryover, When};
use experiment::plan::KeptAddress;
use experiment::verdict::Reach;
use experiment::{Gathered, Group, Key, Measured, Observation, Scope, Timeline, Unit};
use units::Duration;

use super::columns::{Recorded, read_file};
use super::directory::StudyDirectory;
use super::directory_error::StudyDirectoryError;
use super::groups::FirstHandshakes;
use super::join::{Join, Joined, Life, Sent, timed};
use super::log::Format;
use super::lookup::Lookup;
use super::missing::Missing;
use super::object::ObjectRow;
use super::row::Row;
use fleet::files::files;
use tables::parquet::ReadError;

/// A reason why data cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum DataError {
    /// The directory has no study.
    #[error(transparent)]
    Directory(#[from] StudyDirectoryError),
    /// No directory was named.
    #[error("there is no study to read")]
    NoPlace,
    /// The directories have different plans.
    #[error("{} and {} are of different plans; give the directories of one", one.display(), other.display())]
    Plans {
        /// One of the directories.
        one: PathBuf,
        /// Another one.
        other: PathBuf,
    },
    /// No column that was kept can be joined to a log.
    #[error(
        "no log can be joined: of clients, this study keeps address = \"{0}\" and no hash of address and port; begin a study with \
         join = true in its plan"
    )]
    NoEnds(KeptAddress),
    /// No column that was kept has a network.
    #[error(
        "no client has a network: of clients, this study keeps address = \"{0}\"; give --as and --region to `fullpipe study` itself, \
         which knows the addresses"
    )]
    NoClients(KeptAddress),
    /// The seed was removed. A client's hash cannot be computed without it.
    #[error("{}: no log can be joined: study.json has no seed any more", path.display())]
    NoSeed {
        /// The directory.
        path: PathBuf,
    },
}

/// A log's times are in whole milliseconds, so a shorter time cannot be known from the log.
const LOG_RESOLUTION: Duration = Duration::from_millis(1);

/// An access log.
#[derive(Debug)]
pub struct Log {
    /// The log's name for people.
    pub name: String,
    /// The open file.
    pub file: File,
    /// The log's format.
    pub format: Format,
}

/// A study that was read.
#[derive(Debug)]
pub struct Read {
    /// The plan and the state of the study, from its first directory.
    pub place: StudyDirectory,
    /// Its connections and objects.
    pub gathered: Gathered,
    /// The same over calendar time.
    pub timeline: Timeline,
    /// The same over the time since a switch, if the unit is a slot.
    pub carryover: Option<Carryover>,
    /// The number of connections in a region, if regions were given.
    pub in_regions: Option<u64>,
    /// The outcome of the requests in the logs, if logs were given.
    pub joined: Option<Joined>,
    /// The files and directories that were left out.
    pub left_out: Vec<LeftOut>,
}

impl Read {
    /// The progress of the study.
    pub fn reach(&self) -> Reach {
        self.gathered.reach()
    }
}

/// A file or directory that was not read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// A file, or a directory.
    pub path: PathBuf,
    /// The reason.
    pub why: String,
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is left out: {}", self.path.display(), self.why)
    }
}

/// The latest state of a connection.
struct Latest {
    is_evaluated: bool,
    has_ended: bool,
    life: Life,
    /// The keyed hash of the client's address and port.
    end: Option<u64>,
    /// True if it had its arm's controller, if that is known.
    is_in_force: Option<bool>,
    handshake: Option<Duration>,
    observation: Observation,
}

impl Latest {
    /// The state in a row of a study with units of this kind.
    fn of(row: &Row, unit: Unit) -> Latest {
        Latest {
            is_evaluated: row.is_evaluated,
            has_ended: row.has_ended,
            life: Life {
                set_up: row.set_up_unix_s,
                last: row.unix_s,
                has_ended: row.has_ended,
            },
            end: row.end,
            is_in_force: row.is_in_force(),
            handshake: row.handshake_rtt,
            observation: row.observation(row.known().groups(unit)),
        }
    }

    fn progress(&self) -> (bool, u64) {
        (self.has_ended, self.observation.acknowledged)
    }

    fn is_in_region(&self) -> bool {
        let mut groups = self.observation.groups.iter();
        groups.any(|group| matches!(Group::parse(group), Some(Group::Region(_))))
    }
}

/// A connection: the index of its directory, the sitting, and the kernel's socket cookie.
type Connection = (usize, u64, u64);

/// Reads the study in these directories, one for each machine, with its connections and objects. Each connection is in
/// its latest state. If logs have requests of a connection, these requests are the connection's objects. Systems and
/// regions of `lookup` replace those that were recorded.
///
/// # Errors
///
/// There is no study, the directories have different plans, or nothing can be joined to the logs or the regions.
pub fn read(
    directories: &[impl AsRef<Path>],
    logs: Vec<Log>,
    lookup: &mut Lookup,
) -> Result<Read, DataError> {
    let mut left_out = Vec::new();
    let places = find(directories, &mut left_out)?;
    let Some(place) = places.first().cloned() else {
        return Err(DataError::NoPlace);
    };
    let plan = &place.plan;
    if !lookup.is_empty() && matches!(plan.address, KeptAddress::Hashed | KeptAddress::None) {
        return Err(DataError::NoClients(plan.address));
    }
    let mut gathered = Gathered::new(&plan.names(), &plan.shares().shares());
    // A guard ends a study because of the data, so the end of the study depends on the data.
    gathered.reached(reach(&places));
    let missing = places.iter().map(|place| place.about.missing);
    if let Some(words) = missing.reduce(Missing::and).and_then(Missing::words) {
        gathered.lacks(words);
    }
    let connections = connections(&places, lookup, &mut left_out);
    let in_regions = lookup.regions.as_ref().map(|_| {
        let all = connections.values();
        all.filter(|latest| latest.is_evaluated && latest.is_in_region())
            .count() as u64
    });
    for latest in connections.values() {
        if let Some(is_in_force) = latest.is_in_force {
            gathered.note(latest.observation.arm, is_in_force);
        }
    }
    let mut timeline = Timeline::new(plan.arms.len());
    let mut carryover = Carryover::new(plan);
    if let Some(carryover) = &mut carryover {
        for ((machine, ..), latest) in &connections {
            carryover.note(*machine, latest.life.set_up, latest.observation.arm);
        }
    }
    let take = |of: &Observation, when: &When| {
        if when.is_evaluated {
            gathered.add(of);
            timeline.add(of, when.begun);
        }
        if let Some(carryover) = &mut carryover {
            carryover.add(of, when);
        }
    };
    let joined = each(&places, connections, logs, lookup, &mut left_out, take)?;
    Ok(Read {
        place,
        gathered,
        timeline,
        carryover,
        in_regions,
        joined,
        left_out,
    })
}

/// The progress of the study on all machines together.
fn reach(places: &[StudyDirectory]) -> Reach {
    if places.iter().all(StudyDirectory::is_over) {
        Reach::Over
    } else if places
        .iter()
        .all(|place| place.is_over() || place.about.ended.is_some())
    {
        Reach::EndedEarly
    } else if places.iter().any(StudyDirectory::is_running) {
        Reach::Running
    } else {
        Reach::Interrupted
    }
}

/// The guards' measures from the ended connections and the objects of earlier sittings. Uses bounded memory.
pub(super) fn seen(place: &StudyDirectory, left_out: &mut Vec<LeftOut>) -> Measured {
    let mut measured = Measured::new(place.plan.arms.len());
    if place.plan.guards.is_empty() {
        return measured;
    }
    let unit = place.plan.unit;
    each_row(place, left_out, |row: Row| {
        if row.is_evaluated && row.has_ended {
            measured.add(&row.observation(row.known().groups(unit)));
        }
    });
    each_row(place, left_out, |row: ObjectRow| {
        if row.is_evaluated {
            measured.add(&row.observation(row.known().groups(unit)));
        }
    });
    measured
}

/// The connections of a study, including those of washouts.
fn connections(
    places: &[StudyDirectory],
    lookup: &mut Lookup,
    left_out: &mut Vec<LeftOut>,
) -> HashMap<Connection, Latest> {
    let mut connections: HashMap<Connection, Latest> = HashMap::new();
    for (number, one) in places.iter().enumerate() {
        each_row(one, left_out, |mut row: Row| {
            lookup.replace(row.client.as_deref(), &mut row.system, &mut row.region);
            let connection = (number, row.sitting, row.connection);
            let mut latest = Latest::of(&row, one.plan.unit);
            // Rows are ordered by acknowledged bytes, which only grow. The calendar's time may be set back.
            let earlier = connections.get(&connection);
            // The end of a connection by route does not say its controller.
            latest.is_in_force = latest
                .is_in_force
                .or(earlier.and_then(|one| one.is_in_force));
            if earlier.is_none_or(|earlier| earlier.progress() <= latest.progress()) {
                connections.insert(connection, latest);
            }
        });
    }
    connections
}

/// Adds the class of the RTT of its unit's first handshake to the groups of each connection. Returns these handshakes.
fn classify(unit: Unit, connections: &mut HashMap<Connection, Latest>) -> FirstHandshakes {
    let mut first = FirstHandshakes::new(unit);
    for ((machine, ..), latest) in connections.iter() {
        let unit = (*machine, latest.observation.unit);
        first.note(unit, latest.life.set_up, latest.handshake);
    }
    for ((machine, ..), latest) in connections.iter_mut() {
        let of = &mut latest.observation;
        of.groups.extend(first.group((*machine, of.unit)));
    }
    first
}

/// Gives `take` all connections and objects of a study with their times. Returns the outcome of the requests in the
/// logs, if logs were given.
fn each(
    places: &[StudyDirectory],
    mut connections: HashMap<Connection, Latest>,
    logs: Vec<Log>,
    lookup: &mut Lookup,
    left_out: &mut Vec<LeftOut>,
    mut take: impl FnMut(&Observation, &When),
) -> Result<Option<Joined>, DataError> {
    let has_logs = !logs.is_empty();
    let unit = places
        .first()
        .map_or(Unit::Connection, |place| place.plan.unit);
    let first = classify(unit, &mut connections);
    let mut join = joined(places, &connections, logs)?;
    let mut sent: HashMap<Connection, Vec<Sent>> = HashMap::new();
    for (number, one) in places.iter().enumerate() {
        each_row(one, left_out, |mut row: ObjectRow| {
            lookup.replace(row.client.as_deref(), &mut row.system, &mut row.region);
            let connection = (number, row.sitting, row.connection);
            let mut groups = row.known().groups(unit);
            groups.extend(first.group((number, row.unit)));
            let observation = row.observation(groups);
            // The connection's sizes and times are those of its objects, even while the connection is open.
            let mut carrier = connections.get_mut(&connection);
            if let Some(carrier) = &mut carrier {
                carrier.observation.scope = Scope::Carrier;
            }
            let when = When {
                machine: number,
                set_up: carrier.map(|carrier| carrier.life.set_up),
                begun: row.begun_unix_s,
                is_evaluated: row.is_evaluated,
            };
            if join.answers.contains_key(&connection) {
                sent.entry(connection).or_default().push(Sent {
                    begun: when.begun,
                    busy: observation.busy,
                    bytes: observation.acknowledged,
                    is_whole: observation.scope == Scope::Object,
                });
            } else {
                take(&observation, &when);
            }
        });
    }
    // The order is always the same, because sums of fractions depend on it.
    let mut all: Vec<_> = connections.into_iter().collect();
    all.sort_by_key(|(connection, _)| *connection);
    for (connection, latest) in all {
        let mut observation = latest.observation;
        let when = When {
            machine: connection.0,
            set_up: Some(latest.life.set_up),
            begun: latest.life.set_up,
            is_evaluated: latest.is_evaluated,
        };
        if let Some(answers) = join.answers.get(&connection) {
            let sent = sent.get(&connection).map_or(&[][..], Vec::as_slice);
            for timed in timed(answers, sent) {
                join.joined.timed_by_kernel += u64::from(timed.is_by_kernel);
                let least = if timed.is_by_kernel {
                    Duration::ZERO
                } else {
                    LOG_RESOLUTION
                };
                let answer = Observation {
                    scope: timed.scope,
                    acknowledged: timed.bytes,
                    busy: timed.busy.max(least),
                    rtt: None,
                    groups: observation.groups.clone(),
                    ..observation
                };
                let begun = timed.begun;
                take(&answer, &When { begun, ..when });
            }
            observation.scope = Scope::Carrier;
        }
        take(&observation, &when);
    }
    Ok(has_logs.then_some(join.joined))
}

/// Joins the requests in the logs to their connections.
fn joined(
    places: &[StudyDirectory],
    connections: &HashMap<Connection, Latest>,
    logs: Vec<Log>,
) -> Result<Join<Connection>, DataError> {
    let ends = connections
        .iter()
        .filter_map(|(connection, latest)| Some((latest.end?, *connection, latest.life)));
    let mut join = Join::of(ends.filter(|_| !logs.is_empty()));
    if let Some(place) = places.first()
        && !logs.is_empty()
        && !connections.is_empty()
        && join.is_empty()
    {
        return Err(DataError::NoEnds(place.plan.address));
    }
    if let Some(place) = places.iter().find(|place| place.about.seed.is_empty())
        && !logs.is_empty()
    {
        return Err(DataError::NoSeed {
            path: place.directory().to_owned(),
        });
    }
    // If the plan has no seed, each machine has drawn its own.
    let mut keys: Vec<Key> = Vec::new();
    for key in places.iter().map(StudyDirectory::key) {
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    let mut hashes = Vec::new();
    for log in logs {
        let counts = log.format.read(log.file, |request| {
            hashes.clear();
            hashes.extend(keys.iter().map(|key| key.end(request.client, request.port)));
            join.add(&hashes, &request);
        });
        join.end_log();
        join.joined.logs.push((log.name, counts));
    }
    Ok(join)
}

/// The places of one study, each once. Of several copies, the latest has all data.
fn find(
    directories: &[impl AsRef<Path>],
    left_out: &mut Vec<LeftOut>,
) -> Result<Vec<StudyDirectory>, DataError> {
    let found = directories
        .iter()
        .map(|path| StudyDirectory::find(path.as_ref()));
    let found = found.collect::<Result<Vec<_>, _>>()?;
    if let Some(one) = found.first()
        && let Some(other) = found.iter().find(|other| other.text != one.text)
    {
        return Err(DataError::Plans {
            one: one.directory().to_owned(),
            other: other.directory().to_owned(),
        });
    }
    let mut places = Vec::new();
    for place in &found {
        let copies = found.iter().filter(|other| other.is_copy(place));
        // The first one, if they are equal.
        let latest = copies.min_by(|one, other| other.about.ran_s.total_cmp(&one.about.ran_s));
        let latest = latest.unwrap_or(place);
        if std::ptr::eq(latest, place) {
            places.push(place.clone());
            continue;
        }
        let path = place.directory().to_owned();
        let why = if is_same(&path, latest.directory()) {
            "it is given twice, and counts once".to_owned()
        } else {
            let latest = latest.directory().display();
            format!("it is a copy of {latest}, which counts")
        };
        left_out.push(LeftOut { path, why });
    }
    Ok(places)
}

/// True if two paths lead to the same directory.
fn is_same(one: &Path, other: &Path) -> bool {
    let ends = [one, other].map(fs::canonicalize);
    matches!(ends, [Ok(one), Ok(other)] if one == other)
}

/// Gives `take` each row of a directory's files of one kind, oldest file first. Damaged files are left out.
fn each_row<R: Recorded>(
    place: &StudyDirectory,
    left_out: &mut Vec<LeftOut>,
    mut take: impl FnMut(R),
) {
    for (path, _) in files(place.directory(), R::START) {
        if let Err(error) = read_file(&path, &mut take) {
            let why = match error {
                ReadError::System(_) => format!("it cannot be read: {error}"),
                ReadError::Format(_) | ReadError::Cell { .. } => format!("it is damaged: {error}"),
                // These words are about the file.
                error => format!("it {error}"),
            };
            left_out.push(LeftOut { path, why });
        }
    }
}

#[cfg(test)]
mod tests;
