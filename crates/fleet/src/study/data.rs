//! What a study has recorded, read back.

use std::collections::HashMap;
use std::fs::File;
use std::path::{Path, PathBuf};

use experiment::{Gathered, Observation};
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Field, Row};
use units::Duration;

use super::place::{Place, PlaceError};
use super::running::{START, groups};
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
    /// A file is damaged.
    #[error("{}: {why}", path.display())]
    File {
        /// Which one.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
}

/// The latest that is known of a connection.
struct Latest {
    has_ended: bool,
    observation: Observation,
}

impl Latest {
    fn progress(&self) -> (bool, u64) {
        (self.has_ended, self.observation.acknowledged)
    }
}

/// A connection: the place of its directory, the sitting, and the kernel's number of its socket.
type Connection = (usize, u64, u64);

/// The study in these directories, of as many machines, and its connections: each as it was last seen. The first directory says what
/// is known of the study.
///
/// # Errors
///
/// There is none, they are of several plans, or data is damaged.
pub fn read(directories: &[impl AsRef<Path>]) -> Result<(Place, Gathered), DataError> {
    let mut places = Vec::new();
    for directory in directories {
        places.push(Place::find(directory.as_ref())?);
    }
    let Some(place) = places.first().cloned() else {
        return Err(DataError::NoPlace);
    };
    let mut connections: HashMap<Connection, Latest> = HashMap::new();
    for (number, one) in places.iter().enumerate() {
        if one.text != place.text {
            return Err(DataError::Plans {
                one: place.directory().to_owned(),
                other: one.directory().to_owned(),
            });
        }
        for (path, _) in files(one.directory(), START) {
            read_file(&path, number, &mut connections).map_err(|why| DataError::File {
                path,
                why: why.to_string(),
            })?;
        }
    }
    let plan = &place.plan;
    let mut gathered = Gathered::new(&plan.names(), &plan.shares().shares());
    // In the same order each time: sums of fractions depend on it.
    let mut all: Vec<_> = connections.into_iter().collect();
    all.sort_by_key(|(connection, _)| *connection);
    for (_, latest) in &all {
        gathered.add(&latest.observation);
    }
    Ok((place, gathered))
}

fn read_file(
    path: &Path,
    number: usize,
    connections: &mut HashMap<Connection, Latest>,
) -> Result<(), ParquetError> {
    let reader = SerializedFileReader::new(File::open(path)?)?;
    for row in reader.get_row_iter(None)? {
        take(&row?, number, connections)
            .ok_or_else(|| ParquetError::General("has other columns than a study's".to_owned()))?;
    }
    Ok(())
}

/// Takes a row in; nothing if it is no row of a study.
fn take(row: &Row, number: usize, connections: &mut HashMap<Connection, Latest>) -> Option<()> {
    let cells: HashMap<&str, &Field> = row
        .get_column_iter()
        .map(|(name, field)| (name.as_str(), field))
        .collect();
    let whole = |name: &str| match cells.get(name)? {
        Field::Long(value) => Some(value.cast_unsigned()),
        Field::ULong(value) => Some(*value),
        _ => None,
    };
    let real = |name: &str| match cells.get(name)? {
        Field::Double(value) => Some(*value),
        _ => None,
    };
    let text = |name: &str| match cells.get(name)? {
        Field::Str(value) => Some(value.as_str()),
        _ => None,
    };
    let span = |seconds: f64| {
        Duration::from(std::time::Duration::try_from_secs_f64(seconds).unwrap_or_default())
    };
    if whole("evaluated")? == 0 {
        return Some(());
    }
    let latest = Latest {
        has_ended: whole("ended")? != 0,
        observation: Observation {
            unit: u64::from_str_radix(text("unit")?, 16).ok()?,
            arm: usize::try_from(whole("arm")?).ok()?,
            acknowledged: whole("acknowledged_bytes")?,
            busy: span(real("busy_s")?),
            packets: whole("sent_packets")?,
            resent: whole("retransmitted_packets")?,
            rtt: real("srtt_ms").map(|millis| span(millis / 1000.0)),
            groups: groups(text("client"), whole("as_number")),
        },
    };
    let connection = (number, whole("sitting")?, whole("connection")?);
    // What is acknowledged only grows; the calendar may be set back.
    let known = connections.get(&connection).map(Latest::progress);
    if known.is_none_or(|known| known <= latest.progress()) {
        connections.insert(connection, latest);
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use experiment::Measure;
    use experiment::simulated::{Model, Units};
    use units::Bytes;

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
            system: None,
            controller: None,
            acknowledged: of.acknowledged,
            packets: of.packets,
            resent: of.resent,
            lost: None,
            rtt: of.rtt,
            min_rtt: None,
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

    fn model() -> Vec<Observation> {
        let units = Units::Prefixes(200);
        Model {
            units,
            effect: 0.08,
            spread: 0.0,
        }
        .study(3)
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
        let (place, read) = read(&[directory.path()]).unwrap();
        assert_eq!(place.plan.name, "a");
        let (read, gathered) = (read.findings(), gathered.findings());
        assert_eq!(read.arms, gathered.arms);
        let (read, gathered) = (&read.comparisons[0], &gathered.comparisons[0]);
        assert_eq!(read.groups.len(), 1);
        for (read, gathered) in read.measures.iter().zip(&gathered.measures) {
            let (Some(read), Some(gathered)) = (read.effect, gathered.effect) else {
                panic!("{read:?}, {gathered:?}");
            };
            // Times are written in seconds and milliseconds.
            assert!(
                (read.change - gathered.change).abs() < 1e-6,
                "{read:?}, {gathered:?}"
            );
        }
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
        let (_, gathered) = read(&[directory.path()]).unwrap();
        let connections: u64 = gathered
            .findings()
            .arms
            .iter()
            .map(|arm| arm.connections)
            .sum();
        assert_eq!(connections, 2);
        let twice = read(&[directory.path(), directory.path()]).unwrap().1;
        let connections: u64 = twice
            .findings()
            .arms
            .iter()
            .map(|arm| arm.connections)
            .sum();
        assert_eq!(connections, 4);
        assert_eq!(gathered.effect(1, Measure::Throughput), None);
    }

    #[test]
    fn damage_is_told() {
        let directory = tempfile::tempdir().unwrap();
        write(directory.path(), vec![row(1, &model()[0])]);
        std::fs::write(directory.path().join("study-1700000000000.parquet"), "PAR1").unwrap();
        let error = read(&[directory.path()]).unwrap_err().to_string();
        assert!(error.contains("study-1700000000000.parquet"), "{error}");
    }
}
