//! What a study has recorded, read back.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use experiment::plan::Kept;
use experiment::{Gathered, Key, Observation, Scope};
use units::Duration;

use super::cells::{Cells, each_row};
use super::join::{Join, Joined, Life, Sent, timed};
use super::log::Format;
use super::place::{Place, PlaceError};
use super::running::{OBJECTS, START, groups};
use crate::files::files;

/// Why data cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum DataError {
    /// The directory is no study's.
    #[error(transparent)]
    Place(#[from] PlaceError),
    /// None was named.
    #[error("there is no study to read")]
    NoPlace,
    /// They are of several plans.
    #[error("{} and {} are of different plans; give the directories of one", one.display(), other.display())]
    Plans {
        /// One of them.
        one: PathBuf,
        /// Another one.
        other: PathBuf,
    },
    /// Nothing that was kept can be joined to a log.
    #[error(
        "no log can be joined: of clients, this study keeps address = \"{0}\" and no hash of address and port; begin a study with \
         join = true in its plan"
    )]
    NoEnds(Kept),
    /// The seed is gone, by which a client's hash is found.
    #[error("{}: no log can be joined: study.json has no seed any more", path.display())]
    NoSeed {
        /// Of which directory.
        path: PathBuf,
    },
}

/// A log's times are of whole milliseconds: of less it says nothing.
const LOGGED: Duration = Duration::from_millis(1);

/// An access log.
#[derive(Debug)]
pub struct Log {
    /// What people call it.
    pub name: String,
    /// The open file.
    pub file: File,
    /// How it is written.
    pub format: Format,
}

/// A study that was read.
#[derive(Debug)]
pub struct Read {
    /// What is known of it, by its first directory.
    pub place: Place,
    /// Its connections and objects.
    pub gathered: Gathered,
    /// What became of the requests of logs, if there were any.
    pub joined: Option<Joined>,
    /// What was left out, and why.
    pub left_out: Vec<LeftOut>,
}

/// What was not read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// A file, or a directory.
    pub path: PathBuf,
    /// Why.
    pub why: String,
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is left out: {}", self.path.display(), self.why)
    }
}

/// The latest that is known of a connection.
struct Latest {
    has_ended: bool,
    life: Life,
    /// The keyed hash of its other end.
    end: Option<u64>,
    observation: Observation,
}

impl Latest {
    fn progress(&self) -> (bool, u64) {
        (self.has_ended, self.observation.acknowledged)
    }
}

/// A connection: the place of its directory, the sitting, and the kernel's number of its socket.
type Connection = (usize, u64, u64);

/// The study in these directories, of as many machines, with its connections and objects: each connection as it was last seen.
/// Where logs have requests of a connection, these are its objects.
///
/// # Errors
///
/// There is none, they are of several plans, or nothing can be joined to logs.
pub fn read(directories: &[impl AsRef<Path>], logs: Vec<Log>) -> Result<Read, DataError> {
    let mut left_out = Vec::new();
    let places = find(directories, &mut left_out)?;
    let Some(place) = places.first().cloned() else {
        return Err(DataError::NoPlace);
    };
    let plan = &place.plan;
    let mut gathered = Gathered::new(&plan.names(), &plan.shares().shares());
    // A guard's end is one that the data has chosen.
    if !places.iter().all(Place::is_over) {
        gathered.goes_on();
    }
    let joined = each(&places, logs, &mut left_out, |of| gathered.add(of))?;
    Ok(Read {
        place,
        gathered,
        joined,
        left_out,
    })
}

/// The connections and objects of the study in a directory, as `read` has them, for whoever gathers them otherwise.
///
/// # Errors
///
/// There is none.
pub fn each_observation(directory: &Path, take: impl FnMut(&Observation)) -> Result<(), DataError> {
    each(
        &[Place::find(directory)?],
        Vec::new(),
        &mut Vec::new(),
        take,
    )
    .map(drop)
}

/// Gives `take` all connections and objects of a study; what became of the requests of logs, if there were any.
fn each(
    places: &[Place],
    logs: Vec<Log>,
    left_out: &mut Vec<LeftOut>,
    mut take: impl FnMut(&Observation),
) -> Result<Option<Joined>, DataError> {
    let mut connections: HashMap<Connection, Latest> = HashMap::new();
    for (number, one) in places.iter().enumerate() {
        each_file(one, START, left_out, |cells| {
            connection(cells, number, &mut connections)
        });
    }
    let has_logs = !logs.is_empty();
    let mut join = joined(places, &connections, logs)?;
    let mut sent: HashMap<Connection, Vec<Sent>> = HashMap::new();
    for (number, one) in places.iter().enumerate() {
        each_file(one, OBJECTS, left_out, |cells| {
            let (connection, observation) = object(cells, number)?;
            if cells.whole("evaluated")? == 0 {
                return Some(());
            }
            // Its connection's sizes and times are those of its objects, also while it goes on.
            if let Some(carrier) = connections.get_mut(&connection) {
                carrier.observation.scope = Scope::Carrier;
            }
            if join.answers.contains_key(&connection) {
                sent.entry(connection).or_default().push(Sent {
                    begun: cells.real("begun_unix_s")?,
                    busy: observation.busy,
                    bytes: observation.acknowledged,
                    is_whole: observation.scope == Scope::Object,
                });
            } else {
                take(&observation);
            }
            Some(())
        });
    }
    // In the same order each time: sums of fractions depend on it.
    let mut all: Vec<_> = connections.into_iter().collect();
    all.sort_by_key(|(connection, _)| *connection);
    for (connection, latest) in all {
        let mut observation = latest.observation;
        if let Some(answers) = join.answers.get(&connection) {
            let sent = sent.get(&connection).map_or(&[][..], Vec::as_slice);
            for timed in timed(answers, sent) {
                join.joined.timed_by_kernel += u64::from(timed.is_by_kernel);
                let least = if timed.is_by_kernel {
                    Duration::ZERO
                } else {
                    LOGGED
                };
                take(&Observation {
                    scope: timed.scope,
                    acknowledged: timed.bytes,
                    busy: timed.busy.max(least),
                    rtt: None,
                    groups: observation.groups.clone(),
                    ..observation
                });
            }
            observation.scope = Scope::Carrier;
        }
        take(&observation);
    }
    Ok(has_logs.then_some(join.joined))
}

/// The requests of logs, with their connections.
fn joined(
    places: &[Place],
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
    // Without a seed in the plan, each machine has drawn its own.
    let mut keys: Vec<Key> = Vec::new();
    for key in places.iter().map(Place::key) {
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
        join.joined.logs.push((log.name, counts));
    }
    Ok(join)
}

/// The places of one study, each once.
fn find(
    directories: &[impl AsRef<Path>],
    left_out: &mut Vec<LeftOut>,
) -> Result<Vec<Place>, DataError> {
    let mut places: Vec<Place> = Vec::new();
    let mut known = HashSet::new();
    for directory in directories {
        let path = directory.as_ref();
        let place = Place::find(path)?;
        let own = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        if !known.insert(own) {
            left_out.push(LeftOut {
                path: path.to_owned(),
                why: "it is given twice, and counts once".to_owned(),
            });
            continue;
        }
        if let Some(first) = places.first()
            && first.text != place.text
        {
            return Err(DataError::Plans {
                one: first.directory().to_owned(),
                other: place.directory().to_owned(),
            });
        }
        places.push(place);
    }
    Ok(places)
}

/// Gives `take` each row of a place's files of one kind, the oldest first.
fn each_file(
    place: &Place,
    start: &str,
    left_out: &mut Vec<LeftOut>,
    mut take: impl FnMut(&Cells<'_>) -> Option<()>,
) {
    for (path, _) in files(place.directory(), start) {
        if let Err(error) = each_row(&path, &mut take) {
            let why = format!("it is damaged: {error}");
            left_out.push(LeftOut { path, why });
        }
    }
}

/// Takes a connection's row in; nothing if it is none.
fn connection(
    cells: &Cells<'_>,
    number: usize,
    connections: &mut HashMap<Connection, Latest>,
) -> Option<()> {
    if cells.whole("evaluated")? == 0 {
        return Some(());
    }
    let has_objects = cells.whole("objects").is_some_and(|count| count > 0);
    let has_ended = cells.whole("ended")? != 0;
    let latest = Latest {
        has_ended,
        life: Life {
            set_up: cells.real("set_up_unix_s")?,
            last: cells.real("unix_s")?,
            has_ended,
        },
        end: cells.word("client_end"),
        observation: Observation {
            scope: if has_objects {
                Scope::Carrier
            } else {
                Scope::Connection
            },
            unit: cells.word("unit")?,
            arm: usize::try_from(cells.whole("arm")?).ok()?,
            acknowledged: cells.whole("acknowledged_bytes")?,
            busy: cells.seconds("busy_s")?,
            packets: cells.whole("sent_packets")?,
            resent: cells.whole("retransmitted_packets")?,
            rtt: cells
                .millis("median_rtt_ms")
                .or_else(|| cells.millis("srtt_ms")),
            groups: groups(cells.text("client"), cells.whole("as_number")),
        },
    };
    let connection = (number, cells.whole("sitting")?, cells.whole("connection")?);
    // What is acknowledged only grows; the calendar may be set back.
    let known = connections.get(&connection).map(Latest::progress);
    if known.is_none_or(|known| known <= latest.progress()) {
        connections.insert(connection, latest);
    }
    Some(())
}

/// An object's row; nothing if it is none.
fn object(cells: &Cells<'_>, number: usize) -> Option<(Connection, Observation)> {
    let is_whole = cells.whole("whole")? != 0;
    let observation = Observation {
        scope: if is_whole { Scope::Object } else { Scope::Part },
        unit: cells.word("unit")?,
        arm: usize::try_from(cells.whole("arm")?).ok()?,
        acknowledged: cells.whole("bytes")?,
        busy: cells.seconds("busy_s")?,
        packets: cells.whole("sent_packets")?,
        resent: cells.whole("retransmitted_packets")?,
        rtt: None,
        groups: groups(cells.text("client"), cells.whole("as_number")),
    };
    let connection = (number, cells.whole("sitting")?, cells.whole("connection")?);
    Some((connection, observation))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use experiment::Measure;
    use experiment::simulated::{Model, Units};
    use units::{Bytes, Duration};

    use super::super::object::{ObjectRow, write_objects};
    use super::super::row::{Row as Written, write_rows};
    use super::super::running::observation;
    use super::*;
    use crate::connection::Moment;
    use crate::files::Files;

    const PLAN: &str = "name = \"a\"\ncgroup = \"a\"\nunit = \"prefix\"\nduration = \"1h\"\nconnections = { listen = [80] }\n\
        arm = [{ controller = \"cubic\", share = \"50%\" }, { controller = \"reno\", share = \"50%\" }]\n";

    fn row(connection: u64, of: &Observation) -> Written {
        Written {
            sitting: 1,
            connection,
            unit: of.unit,
            arm: of.arm,
            assigned: Arc::from("cubic"),
            is_evaluated: true,
            has_ended: true,
            set_up_unix_s: 1.0,
            unix_s: 2.0,
            port: 80,
            client: Some("192.0.2.7".to_owned()),
            end: None,
            system: None,
            controller: None,
            acknowledged: of.acknowledged,
            packets: of.packets,
            resent: of.resent,
            lost: None,
            rtt: of.rtt,
            min_rtt: None,
            median_rtt: None,
            objects: None,
            delivery_rate: None,
            busy: of.busy,
            rwnd_limited: Duration::ZERO,
            sndbuf_limited: Duration::ZERO,
        }
    }

    fn write(directory: &Path, rows: Vec<Written>) {
        let plan = experiment::Plan::parse(PLAN).unwrap();
        Place::make(directory, PLAN, &plan, 0.0).unwrap();
        let keep = Bytes::new(100_000_000);
        let mut files = Files::new(directory, START, keep, write_rows).unwrap();
        files.add(Moment::default(), rows).unwrap();
        files.save().unwrap();
    }

    /// An object of a connection.
    fn object(connection: u64, number: u64, of: &Observation) -> ObjectRow {
        ObjectRow {
            sitting: 1,
            connection,
            object: number,
            unit: of.unit,
            arm: of.arm,
            assigned: Arc::from("cubic"),
            is_evaluated: true,
            port: 80,
            client: None,
            system: None,
            begun_unix_s: 1.0,
            busy: of.busy,
            bytes: of.acknowledged,
            packets: of.packets,
            resent: of.resent,
            is_whole: true,
        }
    }

    fn write_rows_of_objects(directory: &Path, rows: Vec<ObjectRow>) {
        let keep = Bytes::new(100_000_000);
        let mut files = Files::new(directory, OBJECTS, keep, write_objects).unwrap();
        files.add(Moment::default(), rows).unwrap();
        files.save().unwrap();
    }

    #[test]
    fn where_objects_are_known_they_have_the_sizes_and_times() {
        let directory = tempfile::tempdir().unwrap();
        let study = model();
        // Each connection carried two of the model's: as a whole it is none of them.
        let pairs: Vec<&[Observation]> = study.chunks_exact(2).collect();
        let (mut rows, mut objects) = (Vec::new(), Vec::new());
        let mut expected = Gathered::new(&["cubic", "reno"], &[0.5, 0.5]);
        for (number, pair) in (0..).zip(&pairs) {
            let (one, other) = (&pair[0], &pair[1]);
            let both = Observation {
                acknowledged: one.acknowledged + other.acknowledged,
                busy: one.busy + other.busy,
                ..one.clone()
            };
            let ended = Written {
                objects: Some(2),
                client: None,
                ..row(number, &both)
            };
            // One that goes on does not say how many it has.
            let open = Written {
                has_ended: false,
                objects: None,
                ..ended.clone()
            };
            rows.push(if number % 2 == 0 { ended } else { open });
            for (place, of) in (1..).zip(*pair) {
                let of = Observation {
                    unit: one.unit,
                    arm: one.arm,
                    scope: Scope::Object,
                    ..of.clone()
                };
                objects.push(object(number, place, &of));
                expected.add(&of);
            }
        }
        let (whole, washout) = (objects.len() as u64, objects[0].clone());
        objects.push(ObjectRow {
            is_evaluated: false,
            ..washout.clone()
        });
        write(directory.path(), rows);
        write_rows_of_objects(directory.path(), objects);
        let gathered = read(&[directory.path()], Vec::new()).unwrap().gathered;
        let findings = gathered.findings();
        assert_eq!(
            (findings.observed.objects, findings.observed.connections),
            (whole, 0)
        );
        let connections: u64 = findings.arms.iter().map(|arm| arm.connections).sum();
        assert_eq!(connections, pairs.len() as u64);
        let mut compared = 0;
        let of_connections = [Measure::Resent, Measure::Rtt];
        let of_sizes = Measure::ALL
            .iter()
            .filter(|one| !of_connections.contains(one));
        for &measure in of_sizes {
            let (read, truth) = (gathered.effect(1, measure), expected.effect(1, measure));
            assert_eq!(read.is_some(), truth.is_some(), "{measure}");
            let (Some(read), Some(truth)) = (read, truth) else {
                continue;
            };
            compared += 1;
            assert!((read.change - truth.change).abs() < 1e-6, "{measure}");
            assert_eq!(read.connections, truth.connections, "{measure}");
        }
        assert!(compared >= 3, "{compared}");
        assert!(
            findings.verdict.contains("objects over 3 MB"),
            "{}",
            findings.verdict
        );
    }

    fn model() -> Vec<Observation> {
        let units = Units::Prefixes(200);
        Model::new(units, 0.08).study(3)
    }

    #[test]
    fn what_was_written_is_evaluated_as_if_it_had_never_been_on_a_disk() {
        let directory = tempfile::tempdir().unwrap();
        let study = model();
        let rows: Vec<Written> = (0..)
            .zip(&study)
            .map(|(number, of)| row(number, of))
            .collect();
        let mut gathered = Gathered::new(&["cubic", "reno"], &[0.5, 0.5]);
        let group = || vec!["192.0.2.0/24".to_owned()];
        rows.iter()
            .for_each(|row| gathered.add(&observation(row, group())));
        write(directory.path(), rows);
        let read = read(&[directory.path()], Vec::new()).unwrap();
        assert_eq!((read.place.plan.name.as_str(), read.joined), ("a", None));
        let (read, gathered) = (read.gathered.findings(), gathered.findings());
        assert_eq!(read.arms, gathered.arms);
        let (read, gathered) = (&read.comparisons[0], &gathered.comparisons[0]);
        assert_eq!(read.groups.len(), 1);
        let mut compared = 0;
        for (read, gathered) in read.measures.iter().zip(&gathered.measures) {
            assert_eq!(read.effect.is_some(), gathered.effect.is_some());
            // The model has no connections of some classes of size.
            let (Some(read), Some(gathered)) = (read.effect, gathered.effect) else {
                continue;
            };
            compared += 1;
            // Times are written in seconds and milliseconds.
            assert!(
                (read.change - gathered.change).abs() < 1e-6,
                "{read:?}, {gathered:?}"
            );
        }
        assert!(compared >= 3, "{compared}");
    }

    fn log(directory: &Path, lines: &str) -> Log {
        let path = directory.join("access.log");
        std::fs::write(&path, lines).unwrap();
        Log {
            name: "access.log".to_owned(),
            file: File::open(path).unwrap(),
            format: "nginx".parse().unwrap(),
        }
    }

    #[test]
    fn a_log_gives_connections_their_objects() {
        let directory = tempfile::tempdir().unwrap();
        let of = &model()[0];
        write(directory.path(), Vec::new());
        let key = Place::find(directory.path()).unwrap().key();
        let end = |port| Some(key.end("192.0.2.7".parse().unwrap(), port));
        let at = |number, from: f64, to: f64, end| Written {
            set_up_unix_s: from,
            unix_s: to,
            end,
            ..row(number, of)
        };
        // The second has no line in the log.
        let rows = vec![at(1, 100.0, 200.0, end(1)), at(2, 100.0, 200.0, end(2))];
        write(directory.path(), rows);
        let seen = |connection, number, begun_unix_s, bytes| ObjectRow {
            begun_unix_s,
            bytes,
            busy: Duration::from_secs(1),
            ..object(connection, number, of)
        };
        write_rows_of_objects(
            directory.path(),
            vec![
                seen(1, 1, 119.5, 3_010_000),
                seen(1, 2, 150.0, 9_000_000),
                seen(2, 1, 120.0, 50_000),
            ],
        );
        // One whose time the kernel has, two within one object, one of another client, and nonsense.
        let lines = "192.0.2.7 1 120.0 3000000 0.600\n192.0.2.7 1 151.0 4000000 1.000\n\
            192.0.2.7 1 151.0 4000000 2.000\n192.0.2.8 1 120.0 1 0.1\nnonsense\n";
        let read = read(&[directory.path()], vec![log(directory.path(), lines)]).unwrap();
        let joined = read.joined.unwrap();
        assert_eq!(
            (joined.joined, joined.timed_by_kernel, joined.of_others),
            (3, 1, 1)
        );
        assert_eq!(joined.logs[0].1.damaged, 1);
        let findings = read.gathered.findings();
        assert_eq!(findings.observed.objects, 4);
        let connections: u64 = findings.arms.iter().map(|arm| arm.connections).sum();
        assert_eq!(connections, 2);
    }

    #[test]
    fn what_keeps_no_end_of_clients_cannot_be_joined_and_says_how_it_could() {
        let directory = tempfile::tempdir().unwrap();
        write(directory.path(), vec![row(1, &model()[0])]);
        let error = read(&[directory.path()], vec![log(directory.path(), "")]).unwrap_err();
        let error = error.to_string();
        assert!(
            error.contains("\"prefix\"") && error.contains("join = true"),
            "{error}"
        );
    }

    #[test]
    fn the_latest_row_of_a_connection_counts_and_washouts_do_not() {
        let directory = tempfile::tempdir().unwrap();
        let of = &model()[0];
        let open = Written {
            has_ended: false,
            unix_s: 1.0,
            acknowledged: 7,
            ..row(1, of)
        };
        let other_sitting = Written {
            sitting: 2,
            ..row(1, of)
        };
        let washout = Written {
            is_evaluated: false,
            ..row(2, of)
        };
        write(
            directory.path(),
            vec![row(1, of), open, other_sitting, washout],
        );
        let gathered = read(&[directory.path()], Vec::new()).unwrap().gathered;
        let connections: u64 = gathered
            .findings()
            .arms
            .iter()
            .map(|arm| arm.connections)
            .sum();
        assert_eq!(connections, 2);
        // Given twice, it counts once, and is named; so by a link.
        let (both, other) = (directory.path().join("."), tempfile::tempdir().unwrap());
        let link = other.path().join("link");
        std::os::unix::fs::symlink(directory.path(), &link).unwrap();
        let given = [directory.path(), &both, &link];
        let twice = read(&given, Vec::new()).unwrap();
        let all: u64 = twice
            .gathered
            .findings()
            .arms
            .iter()
            .map(|arm| arm.connections)
            .sum();
        assert_eq!(all, connections);
        let left_out: Vec<&Path> = twice.left_out.iter().map(|of| of.path.as_path()).collect();
        assert_eq!(left_out, given[1..]);
        assert_eq!(gathered.effect(1, Measure::Throughput), None);
    }

    #[test]
    fn what_is_damaged_is_named_and_left_out() {
        let directory = tempfile::tempdir().unwrap();
        let of = &model()[0];
        write(directory.path(), vec![row(1, of)]);
        let whole = files(directory.path(), START).remove(0).0;
        let bytes = std::fs::read(&whole).unwrap();
        let damaged = [
            ("study-1700000000000.parquet", b"PAR1".to_vec()),
            (
                "study-1700000000001.parquet",
                bytes[..bytes.len() / 2].to_vec(),
            ),
            ("objects-1700000000000.parquet", bytes),
        ];
        for (name, bytes) in &damaged {
            std::fs::write(directory.path().join(name), bytes).unwrap();
        }
        let read = read(&[directory.path()], Vec::new()).unwrap();
        let named: Vec<String> = read.left_out.iter().map(ToString::to_string).collect();
        assert_eq!(named.len(), damaged.len(), "{named:?}");
        for ((name, _), told) in damaged.iter().zip(&named) {
            assert!(told.contains(name) && told.contains("damaged"), "{told}");
        }
        let arms = read.gathered.findings().arms;
        assert_eq!(arms.iter().map(|arm| arm.connections).sum::<u64>(), 1);
    }

    #[test]
    fn without_its_seed_a_study_can_be_read_and_not_joined() {
        let directory = tempfile::tempdir().unwrap();
        let ended = Written {
            end: Some(7),
            ..row(1, &model()[0])
        };
        write(directory.path(), vec![ended]);
        let mut place = Place::find(directory.path()).unwrap();
        place.about.seed.clear();
        place.save().unwrap();
        read(&[directory.path()], Vec::new()).unwrap();
        let error = read(&[directory.path()], vec![log(directory.path(), "")]).unwrap_err();
        assert!(matches!(error, DataError::NoSeed { .. }), "{error}");
        let plan = experiment::Plan::parse(PLAN).unwrap();
        let again = Place::make(directory.path(), PLAN, &plan, 0.0).unwrap_err();
        assert!(again.to_string().contains("seed"), "{again}");
    }
}
