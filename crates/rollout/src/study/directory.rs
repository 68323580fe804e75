//! The directory of a study, with its plan and its data.

use std::fmt::Display;
use std::fs::{self, File, TryLockError};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use experiment::{InForce, Plan};
use files::{Readers, others, regular};
use serde::{Deserialize, Serialize};
use tables::numbers::count;

use super::holder::Holder;
use super::lock::{Claim, Held, Refused};
use fleet::files::files;

/// The beginning of the names of connection files.
pub(super) const START: &str = "study-";

/// The beginning of the names of object files.
pub(super) const OBJECTS: &str = "objects-";

/// The file with the state of the study.
const FILE: &str = "study.json";

/// The file that the process that runs the study has locked.
const LOCK: &str = "lock";

/// A reason why a directory cannot be used for a study, or has none.
#[derive(Debug, thiserror::Error)]
pub enum StudyDirectoryError {
    /// A file cannot be read or written.
    #[error("{}: {error}", path.display())]
    System {
        /// The file.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// The directory has no study.
    #[error("{}: there is no study here: {why}", path.display())]
    None {
        /// The directory.
        path: PathBuf,
        /// The reason.
        why: String,
    },
    /// A file of the study cannot be read or understood.
    #[error("{} {why}", path.display())]
    Broken {
        /// The file.
        path: PathBuf,
        /// The problem.
        why: String,
    },
    /// Another user could replace this directory.
    #[error("{}: {error}", path.display())]
    Way {
        /// The directory.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// There is something else in the directory's place.
    #[error("{} is not a directory; give another name", .0.display())]
    Taken(PathBuf),
    /// Another user could change the recorded data.
    #[error("{}: {why}, who could change or remove what the study records; give a directory that does not exist yet", path.display())]
    Others {
        /// The directory.
        path: PathBuf,
        /// The users who may write there.
        why: String,
    },
    /// Another process runs the study.
    #[error("{}: {holder} runs this study", path.display())]
    InUse {
        /// The directory.
        path: PathBuf,
        /// The process that runs the study.
        holder: Holder,
    },
    /// The seed was removed, so the draws would differ from the earlier ones.
    #[error("{}: study.json has no seed any more, and the study cannot go on; give another directory", path.display())]
    NoSeed {
        /// The directory.
        path: PathBuf,
    },
    /// The directory has the data of another plan.
    #[error(
        "{} has the data of another plan; give another directory, or the plan that it had: {}/plan.toml",
        path.display(), path.display()
    )]
    Other {
        /// The directory.
        path: PathBuf,
    },
}

/// The state of a study apart from its data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct About {
    /// The version of the program that made it.
    pub version: String,
    /// The seed of its draws and of its hashes of addresses. A client who knew the seed could choose its arm. It is
    /// empty once a user has removed it, so that hashes can no longer be linked to addresses.
    #[serde(default)]
    pub seed: String,
    /// The time when it began, in seconds since 1970.
    pub began_unix_s: f64,
    /// The number of sittings. A connection is identified by its sitting and its socket cookie, because the kernel may
    /// use the same cookies again after a reboot.
    pub sittings: u64,
    /// The duration of all sittings together, in seconds.
    pub ran_s: f64,
    /// The reason for its end. `None` if it has not ended.
    pub ended: Option<String>,
    /// The last time it was known to run, in seconds since 1970.
    #[serde(default)]
    pub last_unix_s: Option<f64>,
    /// The number of connections of each arm that had its controller.
    #[serde(default)]
    pub in_force: Vec<InForce>,
    /// The missing data.
    #[serde(default)]
    pub missing: Missing,
}

/// The end of the year 9999, in seconds since 1970. No study ran at a later time, or for longer.
const LATEST_S: f64 = 253_402_300_799.0;

impl About {
    /// Checks the values. The error names one that a study does not write, if there is one.
    fn check(&self) -> Result<(), String> {
        let times = [
            ("began_unix_s", Some(self.began_unix_s)),
            ("ran_s", Some(self.ran_s)),
            ("last_unix_s", self.last_unix_s),
        ];
        let times = times
            .iter()
            .filter_map(|(name, time)| Some((name, (*time)?)));
        for (name, time) in times {
            if !(0.0..=LATEST_S).contains(&time) {
                return Err(format!(
                    "{name}: {time:e} is not from 0 to {LATEST_S} seconds"
                ));
            }
        }
        if let Some(of) = self.in_force.iter().find(|of| of.others > of.known) {
            let (others, known) = (of.others, of.known);
            return Err(format!(
                "in_force: others, {others}, is more than known, {known}"
            ));
        }
        Ok(())
    }
}

/// Rows that are missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Missing {
    /// Rows of connections in the oldest files, which were removed to stay within the limit.
    pub dropped_connections: u64,
    /// Rows of objects in the oldest files, which were removed to stay within the limit.
    pub dropped_objects: u64,
    /// Rows of connections and objects that could not be written.
    pub unwritten: u64,
    /// Connections that ended faster than their ends could be read.
    pub unread_connections: u64,
    /// Objects that were over faster than they could be read.
    pub unread_objects: u64,
}

impl Missing {
    /// Adds the missing rows of another machine or another sitting.
    pub fn and(self, other: Missing) -> Missing {
        Missing {
            dropped_connections: self
                .dropped_connections
                .saturating_add(other.dropped_connections),
            dropped_objects: self.dropped_objects.saturating_add(other.dropped_objects),
            unwritten: self.unwritten.saturating_add(other.unwritten),
            unread_connections: self
                .unread_connections
                .saturating_add(other.unread_connections),
            unread_objects: self.unread_objects.saturating_add(other.unread_objects),
        }
    }

    /// A sentence about the missing rows. `None` if there are none.
    pub fn words(self) -> Option<String> {
        if self == Missing::default() {
            return None;
        }
        let Missing {
            dropped_connections: connections,
            dropped_objects: objects,
            unwritten,
            unread_connections,
            unread_objects,
        } = self;
        let mut parts = Vec::new();
        if connections > 0 || objects > 0 {
            parts.push(format!(
                "the oldest {} of connections and {} of objects were removed, because --keep was too small",
                count(connections, "row"),
                count(objects, "row")
            ));
        }
        if unwritten > 0 {
            parts.push(format!("{} could not be written", count(unwritten, "row")));
        }
        if unread_connections > 0 || unread_objects > 0 {
            parts.push(format!(
                "{} and {} ended faster than they could be read",
                count(unread_connections, "connection"),
                count(unread_objects, "object")
            ));
        }
        Some(format!(
            "Data is missing: {}. The verdict uses the rest.",
            parts.join(", and ")
        ))
    }
}

/// A study's directory.
#[derive(Debug, Clone)]
pub struct StudyDirectory {
    directory: PathBuf,
    /// The state of the study.
    pub about: About,
    /// The study's plan.
    pub plan: Plan,
    /// The plan's text.
    pub(super) text: String,
}

impl StudyDirectory {
    /// True if the study has run for its planned duration, and so did not end because of its data.
    pub fn is_over(&self) -> bool {
        self.about.ran_s >= self.plan.duration.as_secs_f64()
    }

    /// True if a process runs the study in this directory now.
    pub fn is_running(&self) -> bool {
        match File::open(self.directory.join(LOCK)) {
            Ok(file) => matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)),
            // Another user's process has it.
            Err(error) => error.kind() == io::ErrorKind::PermissionDenied,
        }
    }

    /// True if two directories are of the same study on the same machine: machines do not begin at the same instant.
    pub(super) fn is_copy(&self, other: &StudyDirectory) -> bool {
        let about = |place: &StudyDirectory| (place.about.began_unix_s, place.about.seed.clone());
        self.text == other.text && about(self) == about(other)
    }

    /// The directory for a plan with this text: a new one, or the directory of an earlier sitting.
    ///
    /// # Errors
    ///
    /// The directory cannot be written, or has the data of another plan.
    pub fn make(
        directory: &Path,
        text: &str,
        plan: &Plan,
        unix_s: f64,
    ) -> Result<StudyDirectory, StudyDirectoryError> {
        if let Some(earlier) = StudyDirectory::earlier(directory, text, plan)? {
            return Ok(earlier);
        }
        let directory = own_directory(directory)?;
        let seed = match &plan.seed {
            Some(seed) => seed.clone(),
            None => chance().map_err(|error| system(Path::new("/dev/urandom"), error))?,
        };
        let about = About {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            seed,
            began_unix_s: unix_s,
            sittings: 0,
            ran_s: 0.0,
            ended: None,
            last_unix_s: None,
            in_force: vec![InForce::default(); plan.arms.len()],
            missing: Missing::default(),
        };
        let place = StudyDirectory {
            directory: directory.clone(),
            about,
            plan: plan.clone(),
            text: text.to_owned(),
        };
        // Another process may have just begun a study here.
        let _held = place.hold()?;
        if let Some(earlier) = StudyDirectory::earlier(&directory, text, plan)? {
            return Ok(earlier);
        }
        // The seed of a refused plan is not that of the corrected one.
        regular::remove(&directory.join(FILE)).map_err(|error| system(&directory, error))?;
        write(&directory.join("plan.toml"), text.as_bytes())?;
        // This file makes the directory a study's, so it is written last.
        place.save()?;
        Ok(place)
    }

    /// The earlier sitting of this plan. `None` if the directory has no data yet, or does not exist. Changes nothing.
    ///
    /// # Errors
    ///
    /// The directory cannot be used, or has the data of another plan.
    pub fn earlier(
        directory: &Path,
        text: &str,
        plan: &Plan,
    ) -> Result<Option<StudyDirectory>, StudyDirectoryError> {
        let path = way(directory)?;
        if !path.exists() {
            return Ok(None);
        }
        is_own(&path)?;
        if !path.join(FILE).exists() {
            return Ok(None);
        }
        let earlier = StudyDirectory::find(&path)?;
        if earlier.text != text {
            // A start that was refused has left no data.
            return if earlier.has_data() {
                Err(StudyDirectoryError::Other { path })
            } else {
                Ok(None)
            };
        }
        if earlier.about.seed.is_empty() {
            return Err(StudyDirectoryError::NoSeed { path });
        }
        // This plan has the networks of its file.
        let plan = plan.clone();
        Ok(Some(StudyDirectory { plan, ..earlier }))
    }

    /// The study in a directory.
    ///
    /// # Errors
    ///
    /// The directory has no study, or the study cannot be read.
    pub fn find(directory: &Path) -> Result<StudyDirectory, StudyDirectoryError> {
        let broken = |name: &str, why: String| StudyDirectoryError::Broken {
            path: directory.join(name),
            why,
        };
        let text = |name: &str| {
            let read = regular::open(&directory.join(name)).and_then(io::read_to_string);
            read.map_err(|error| match error.kind() {
                io::ErrorKind::NotFound => StudyDirectoryError::None {
                    path: directory.to_owned(),
                    why: format!("{name}: {error}"),
                },
                _ => broken(name, format!("cannot be read: {error}")),
            })
        };
        let damaged = |name, why: &dyn Display| broken(name, format!("is damaged: {why}"));
        let about: About =
            serde_json::from_str(&text(FILE)?).map_err(|error| damaged(FILE, &error))?;
        about.check().map_err(|why| damaged(FILE, &why))?;
        let text = text("plan.toml")?;
        let plan = Plan::parse(&text).map_err(|error| damaged("plan.toml", &error))?;
        Ok(StudyDirectory {
            directory: directory.to_owned(),
            about,
            plan,
            text,
        })
    }

    /// True if the study has ever run.
    fn has_data(&self) -> bool {
        let mut kinds = [START, OBJECTS].into_iter();
        self.about.ran_s > 0.0 || kinds.any(|kind| !files(&self.directory, kind).is_empty())
    }

    /// The directory.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Locks the directory for as long as the result lives. The lock also ends if the process is killed.
    ///
    /// # Errors
    ///
    /// Another process holds the lock.
    pub(super) fn hold(&self) -> Result<Held, StudyDirectoryError> {
        // Any process that can open a file can lock it, and others may open the directory. So a file in it is locked.
        let held = Claim::Alone.lay_at(self.directory.join(LOCK));
        held.map_err(|refused| match refused {
            Refused::Held(holder) => StudyDirectoryError::InUse {
                path: self.directory.clone(),
                holder,
            },
            Refused::System(path, error) => StudyDirectoryError::System { path, error },
        })
    }

    /// The key that the seed gives.
    pub fn key(&self) -> experiment::Key {
        experiment::Key::of_seed(&self.about.seed)
    }

    /// Writes the state of the study.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn save(&self) -> Result<(), StudyDirectoryError> {
        let text = serde_json::to_vec_pretty(&self.about).unwrap_or_default();
        write(&self.directory.join(FILE), &text)
    }
}

/// Makes a directory, if it does not exist, and checks that no other user may write to it or replace it. Returns its
/// path without symbolic links.
///
/// # Errors
///
/// It cannot be made, or another user may write to it or to a directory above it.
pub fn own_directory(directory: &Path) -> Result<PathBuf, StudyDirectoryError> {
    let real = way(directory)?;
    // The records of clients are private. An existing directory keeps its mode.
    files::make_directory(&real, 0o700).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists | io::ErrorKind::NotADirectory => {
            StudyDirectoryError::Taken(directory.to_owned())
        }
        _ => system(directory, error),
    })?;
    // Another process may have made one of the directories meanwhile.
    if way(&real)? != real {
        return Err(StudyDirectoryError::Taken(real));
    }
    is_own(&real)?;
    Ok(real)
}

/// The path of a directory without symbolic links, if no other user can replace it.
fn way(directory: &Path) -> Result<PathBuf, StudyDirectoryError> {
    let path = directory.to_owned();
    others::own_way(directory).map_err(|error| match error.kind() {
        io::ErrorKind::NotADirectory => StudyDirectoryError::Taken(path),
        _ => StudyDirectoryError::Way { path, error },
    })
}

/// Checks that no other user may write to the directory, whose path has no symbolic links.
fn is_own(directory: &Path) -> Result<(), StudyDirectoryError> {
    let about = fs::symlink_metadata(directory).map_err(|error| system(directory, error))?;
    if !about.is_dir() {
        return Err(StudyDirectoryError::Taken(directory.to_owned()));
    }
    match others::may_write(&about) {
        Some(why) => Err(StudyDirectoryError::Others {
            path: directory.to_owned(),
            why,
        }),
        None => Ok(()),
    }
}

fn system(path: &Path, error: io::Error) -> StudyDirectoryError {
    StudyDirectoryError::System {
        path: path.to_owned(),
        error,
    }
}

/// Writes a file as a whole. Only its owner can read it.
fn write(path: &Path, contents: &[u8]) -> Result<(), StudyDirectoryError> {
    let written = files::write(path, contents, Readers::Owner);
    written.map_err(|error| system(path, error.source))
}

/// A random seed.
fn chance() -> io::Result<String> {
    let mut bytes = [0; 16];
    fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(format!("{:032x}", u128::from_ne_bytes(bytes)))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};

    use serde_json::json;

    use super::*;

    const PLAN: &str = "name = \"a\"\ncgroup = \"a\"\nunit = \"connection\"\nduration = \"1h\"\nconnections = { listen = [80] }\n\
        arm = [{ controller = \"cubic\", share = \"50%\" }, { controller = \"reno\", share = \"50%\" }]\n";

    fn plan() -> Plan {
        Plan::parse(PLAN).unwrap()
    }

    #[test]
    fn a_place_is_found_again_and_is_of_one_plan() {
        let directory = tempfile::tempdir().unwrap();
        let plan = Plan::parse(PLAN).unwrap();
        let make =
            |text: &str| StudyDirectory::make(&directory.path().join("a/b"), text, &plan, 7.0);
        let place = make(PLAN).unwrap();
        assert_eq!(place.about.seed.len(), 32);
        let mode = fs::metadata(place.directory())
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o700);
        assert_eq!(make(PLAN).unwrap().about, place.about);
        assert_eq!(
            StudyDirectory::find(place.directory()).unwrap().about,
            place.about
        );
        // Others can lock a file that they can open. A lock on the directory does not matter here.
        let open = fs::File::open(place.directory()).unwrap();
        open.try_lock().unwrap();
        let held = place.hold().unwrap();
        let mode = fs::metadata(place.directory().join(LOCK)).unwrap().mode();
        assert_eq!(mode & 0o777, 0o600);
        let error = place.hold().unwrap_err().to_string();
        assert!(
            error.contains(&format!("process {} (", std::process::id())),
            "{error}"
        );
        drop(held);
        place.hold().unwrap();
        assert!(!place.directory().join(LOCK).exists());
        // As long as there are no data, the plan may be corrected, unless a process is about to run it.
        let other = PLAN.replace("1h", "2h");
        let held = place.hold().unwrap();
        assert!(matches!(
            make(&other),
            Err(StudyDirectoryError::InUse { .. })
        ));
        drop(held);
        assert_eq!(make(&other).unwrap().text, other);
        assert_eq!(StudyDirectory::find(place.directory()).unwrap().text, other);
        let data = place
            .directory()
            .join(format!("{START}1700000000000.parquet"));
        fs::write(&data, "").unwrap();
        assert!(matches!(make(PLAN), Err(StudyDirectoryError::Other { .. })));
        fs::remove_file(data).unwrap();
        let mut ran = make(&other).unwrap();
        ran.about.ran_s = 1.0;
        ran.save().unwrap();
        assert!(matches!(make(PLAN), Err(StudyDirectoryError::Other { .. })));
    }

    #[test]
    fn only_the_owner_can_read_what_takes_the_place_of_older_files() {
        let directory = tempfile::tempdir().unwrap();
        let older = directory.path().join("plan.toml");
        fs::write(&older, "").unwrap();
        fs::set_permissions(&older, fs::Permissions::from_mode(0o644)).unwrap();
        let place = StudyDirectory::make(directory.path(), PLAN, &plan(), 7.0).unwrap();
        assert_eq!(fs::metadata(&older).unwrap().mode() & 0o777, 0o600);
        let file = directory.path().join(FILE);
        fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
        place.save().unwrap();
        assert_eq!(fs::metadata(&file).unwrap().mode() & 0o777, 0o600);
    }

    #[test]
    fn what_is_missing_has_no_end() {
        let most = Missing {
            dropped_connections: u64::MAX,
            dropped_objects: u64::MAX,
            unwritten: u64::MAX,
            unread_connections: u64::MAX,
            unread_objects: u64::MAX,
        };
        assert_eq!(most.and(most), most);
        assert!(most.words().is_some());
    }

    #[test]
    fn what_was_not_read_is_missing_and_an_earlier_version_did_not_count_it() {
        let earlier = r#"{"dropped_connections":0,"dropped_objects":0,"unwritten":0}"#;
        let mut missing: Missing = serde_json::from_str(earlier).unwrap();
        assert_eq!(missing.words(), None);
        missing.unread_objects = 7;
        let words = missing.words().unwrap();
        assert!(
            words.contains("0 connections and 7 objects ended faster"),
            "{words}"
        );
    }

    #[test]
    fn a_directory_that_others_can_change_is_no_place() {
        let directory = tempfile::tempdir().unwrap();
        let plan = Plan::parse(PLAN).unwrap();
        let refused = |part: &str| {
            let error = StudyDirectory::make(directory.path(), PLAN, &plan, 7.0).unwrap_err();
            assert!(error.to_string().contains(part), "{error}");
        };
        fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o777)).unwrap();
        refused("is open to every user");
        fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o775)).unwrap();
        refused("is open to its group");
        fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o755)).unwrap();
        if chown(directory.path(), Some(65_534), None).is_ok() {
            refused("belongs to another user (65534)");
            chown(
                directory.path(),
                Some(rustix::process::geteuid().as_raw()),
                None,
            )
            .unwrap();
        } else {
            skipping::skip!("a directory of another user: this takes root");
        }
        StudyDirectory::make(directory.path(), PLAN, &plan, 7.0).unwrap();
    }

    #[test]
    fn a_link_of_others_leads_to_no_place() {
        let directory = tempfile::tempdir().unwrap();
        let plan = Plan::parse(PLAN).unwrap();
        let [open, own] = ["open", "own"].map(|name| directory.path().join(name));
        for path in [&open, &own] {
            fs::create_dir(path).unwrap();
        }
        fs::set_permissions(&open, fs::Permissions::from_mode(0o1777)).unwrap();
        std::os::unix::fs::symlink(&own, open.join("link")).unwrap();
        let error = StudyDirectory::make(&open.join("link"), PLAN, &plan, 7.0).unwrap_err();
        assert!(error.to_string().contains("is a symbolic link"), "{error}");
        assert_eq!(fs::read_dir(&own).unwrap().count(), 0);
    }

    #[test]
    fn what_is_no_study_is_told() {
        let directory = tempfile::tempdir().unwrap();
        let error = StudyDirectory::find(directory.path())
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("no study here") && error.contains(FILE),
            "{error}"
        );
        let file = directory.path().join(FILE);
        fs::write(&file, "{").unwrap();
        let error = StudyDirectory::find(directory.path())
            .unwrap_err()
            .to_string();
        assert!(error.contains("study.json is damaged: "), "{error}");
        let place = StudyDirectory::make(&directory.path().join("a"), PLAN, &plan(), 7.0).unwrap();
        let whole = serde_json::to_value(&place.about).unwrap();
        for (field, value, part) in [
            (
                "ran_s",
                json!(1e300),
                "ran_s: 1e300 is not from 0 to 253402300799 seconds",
            ),
            ("ran_s", json!(-1), "ran_s: -1e0 is not"),
            ("began_unix_s", json!(1e12), "began_unix_s: 1e12 is not"),
            ("last_unix_s", json!(-1e9), "last_unix_s: -1e9 is not"),
            (
                "in_force",
                json!([{ "known": 1, "others": 2 }]),
                "in_force: others, 2, is more",
            ),
        ] {
            let mut about = whole.clone();
            about[field] = value;
            fs::write(place.directory().join(FILE), about.to_string()).unwrap();
            let error = StudyDirectory::find(place.directory())
                .unwrap_err()
                .to_string();
            assert!(error.contains("study.json is damaged: "), "{error}");
            assert!(
                error.contains(part) && error.lines().count() == 1,
                "{error}"
            );
        }
        // Not readable for root either.
        fs::remove_file(&file).unwrap();
        fs::create_dir(&file).unwrap();
        let error = StudyDirectory::find(directory.path())
            .unwrap_err()
            .to_string();
        assert!(error.contains("study.json cannot be read: "), "{error}");
        let plan = plan();
        for taken in ["file", "file/within"] {
            let path = directory.path().join(taken);
            fs::write(directory.path().join("file"), "").unwrap();
            let error = StudyDirectory::earlier(&path, PLAN, &plan)
                .unwrap_err()
                .to_string();
            assert!(error.contains("is not a directory"), "{error}");
        }
    }
}
