//! Where a study keeps its plan and its data.

use std::fs::{self, DirBuilder};
use std::io::{self, Read};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use experiment::Plan;
use report::{PART, beside, count};
use scenario::others;
use serde::{Deserialize, Serialize};

use super::holder::Holder;
use super::lock::{Claim, Held, Refused};
use crate::files::create;

/// The file that says what the directory is.
const FILE: &str = "study.json";

/// The file that who runs the study has locked.
const LOCK: &str = "lock";

/// Why a directory is no place for, or of, a study.
#[derive(Debug, thiserror::Error)]
pub enum PlaceError {
    /// It cannot be read or written.
    #[error("{}: {error}", path.display())]
    System {
        /// Which file.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// It is none.
    #[error("{}: there is no study here: {why}", path.display())]
    None {
        /// Which directory.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// Somebody else could change what is recorded.
    #[error("{}: {why}, who could change or remove what the study records; give a directory that does not exist yet", path.display())]
    Others {
        /// Which directory.
        path: PathBuf,
        /// Who else may write there.
        why: String,
    },
    /// A study runs there.
    #[error("{}: {holder} runs this study", path.display())]
    InUse {
        /// Which directory.
        path: PathBuf,
        /// Who runs it.
        holder: Holder,
    },
    /// Its seed is gone: the draws would be others.
    #[error("{}: study.json has no seed any more, and the study cannot go on; give another directory", path.display())]
    NoSeed {
        /// Which directory.
        path: PathBuf,
    },
    /// It has another study's data.
    #[error(
        "{} has the data of another plan; give another directory, or the plan that it had: {}/plan.toml",
        path.display(), path.display()
    )]
    Other {
        /// Which directory.
        path: PathBuf,
    },
}

/// What is known of a study beside its data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct About {
    /// Whose it is.
    pub version: String,
    /// What makes its draws, and the hashes of addresses: with it, clients could choose their arm. Empty where somebody has taken it
    /// away, so that nobody can tell whose hash is whose.
    #[serde(default)]
    pub seed: String,
    /// When it began, in seconds since 1970.
    pub began_unix_s: f64,
    /// How often it was begun: the kernel's numbers of sockets are another's after a restart of the machine.
    pub sittings: u64,
    /// For how long it ran, in all sittings, in seconds.
    pub ran_s: f64,
    /// Why it has ended; nothing as long as it has not.
    pub ended: Option<String>,
    /// What is not there of its data.
    #[serde(default)]
    pub missing: Missing,
}

/// Rows that are not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Missing {
    /// Rows of connections that went with the oldest files, so that no more than is to be kept is there.
    pub dropped_connections: u64,
    /// And of objects.
    pub dropped_objects: u64,
    /// Rows of both that could not be written.
    pub unwritten: u64,
}

impl Missing {
    /// What is missing besides, of another machine or another sitting.
    pub fn and(self, other: Missing) -> Missing {
        Missing {
            dropped_connections: self
                .dropped_connections
                .saturating_add(other.dropped_connections),
            dropped_objects: self.dropped_objects.saturating_add(other.dropped_objects),
            unwritten: self.unwritten.saturating_add(other.unwritten),
        }
    }

    /// In words; nothing if nothing is.
    pub fn words(self) -> Option<String> {
        if self == Missing::default() {
            return None;
        }
        let Missing {
            dropped_connections: connections,
            dropped_objects: objects,
            unwritten,
        } = self;
        let mut parts = Vec::new();
        if connections > 0 || objects > 0 {
            parts.push(format!(
                "the oldest {} of connections and {} of objects had to go, as --keep says",
                count(connections, "row"),
                count(objects, "row")
            ));
        }
        if unwritten > 0 {
            parts.push(format!("{} could not be written", count(unwritten, "row")));
        }
        Some(format!(
            "Data is missing: {}. All of this is of the rest.",
            parts.join(", and ")
        ))
    }
}

/// A study's directory.
#[derive(Debug, Clone)]
pub struct Place {
    directory: PathBuf,
    /// What is known of it.
    pub about: About,
    /// Its plan.
    pub plan: Plan,
    /// The plan's text.
    pub(super) text: String,
}

impl Place {
    /// Whether the study's time is over, and so nothing that was seen meanwhile has ended it.
    pub fn is_over(&self) -> bool {
        self.about.ran_s >= self.plan.duration.as_secs_f64()
    }

    /// A directory for a plan, with that text: made anew, or the one of an earlier sitting.
    ///
    /// # Errors
    ///
    /// It cannot be written, or has another study's data.
    pub fn make(
        directory: &Path,
        text: &str,
        plan: &Plan,
        unix_s: f64,
    ) -> Result<Place, PlaceError> {
        // What is recorded of clients is nobody else's; a directory that is there keeps its mode.
        let made = DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(directory);
        made.map_err(|error| system(directory, error))?;
        is_own(directory)?;
        if directory.join(FILE).exists() {
            let earlier = Place::find(directory)?;
            if earlier.text == text && earlier.about.seed.is_empty() {
                return Err(PlaceError::NoSeed {
                    path: directory.to_owned(),
                });
            }
            if earlier.text == text {
                // With the networks of its file.
                let plan = plan.clone();
                return Ok(Place { plan, ..earlier });
            }
            return Err(PlaceError::Other {
                path: directory.to_owned(),
            });
        }
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
            missing: Missing::default(),
        };
        let place = Place {
            directory: directory.to_owned(),
            about,
            plan: plan.clone(),
            text: text.to_owned(),
        };
        write(&directory.join("plan.toml"), text.as_bytes())?;
        // Without this one the directory is nobody's.
        place.save()?;
        Ok(place)
    }

    /// The study that is in a directory.
    ///
    /// # Errors
    ///
    /// There is none.
    pub fn find(directory: &Path) -> Result<Place, PlaceError> {
        let none = |why: String| PlaceError::None {
            path: directory.to_owned(),
            why,
        };
        let text = |name: &str| {
            let read = scenario::regular::open(&directory.join(name)).and_then(io::read_to_string);
            read.map_err(|error| none(format!("{name}: {error}")))
        };
        let about =
            serde_json::from_str(&text(FILE)?).map_err(|error| none(format!("{FILE}: {error}")))?;
        let text = text("plan.toml")?;
        let plan = Plan::parse(&text).map_err(|error| none(format!("plan.toml: {error}")))?;
        Ok(Place {
            directory: directory.to_owned(),
            about,
            plan,
            text,
        })
    }

    /// The directory.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Holds it for as long as the result lives, however the process ends.
    ///
    /// # Errors
    ///
    /// Another process holds it.
    pub(super) fn hold(&self) -> Result<Held, PlaceError> {
        // Whoever can open a file can lock it, and others may be able to open the directory.
        let held = Claim::Alone.lay_at(self.directory.join(LOCK));
        held.map_err(|refused| match refused {
            Refused::Held(holder) => PlaceError::InUse {
                path: self.directory.clone(),
                holder,
            },
            Refused::System(path, error) => PlaceError::System { path, error },
        })
    }

    /// Its key.
    pub fn key(&self) -> experiment::Key {
        experiment::Key::of_seed(&self.about.seed)
    }

    /// Writes what is known of it.
    ///
    /// # Errors
    ///
    /// It cannot be written.
    pub fn save(&self) -> Result<(), PlaceError> {
        let text = serde_json::to_vec_pretty(&self.about).unwrap_or_default();
        write(&self.directory.join(FILE), &text)
    }
}

/// Whether nobody else may write there.
fn is_own(directory: &Path) -> Result<(), PlaceError> {
    let about = fs::metadata(directory).map_err(|error| system(directory, error))?;
    match others::may_write(&about) {
        Some(why) => Err(PlaceError::Others {
            path: directory.to_owned(),
            why,
        }),
        None => Ok(()),
    }
}

fn system(path: &Path, error: io::Error) -> PlaceError {
    PlaceError::System {
        path: path.to_owned(),
        error,
    }
}

/// A file that is whole, or not there; for its owner alone.
fn write(path: &Path, contents: &[u8]) -> Result<(), PlaceError> {
    let part = beside(path, PART);
    let written = || {
        let mut file = create(&part)?;
        io::Write::write_all(&mut file, contents)?;
        file.sync_data()?;
        fs::rename(&part, path)
    };
    written().map_err(|error| {
        // If there is nothing to remove, nothing was left behind.
        let _ = fs::remove_file(&part);
        system(path, error)
    })
}

/// A seed that nobody can guess.
fn chance() -> io::Result<String> {
    let mut bytes = [0; 16];
    fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(format!("{:032x}", u128::from_ne_bytes(bytes)))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};

    use super::*;

    const PLAN: &str = "name = \"a\"\ncgroup = \"a\"\nunit = \"connection\"\nduration = \"1h\"\nconnections = { listen = [80] }\n\
        arm = [{ controller = \"cubic\", share = \"50%\" }, { controller = \"reno\", share = \"50%\" }]\n";

    #[test]
    fn a_place_is_found_again_and_is_of_one_plan() {
        let directory = tempfile::tempdir().unwrap();
        let plan = Plan::parse(PLAN).unwrap();
        let make = |text: &str| Place::make(&directory.path().join("a/b"), text, &plan, 7.0);
        let place = make(PLAN).unwrap();
        assert_eq!(place.about.seed.len(), 32);
        let mode = fs::metadata(place.directory())
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o700);
        assert_eq!(make(PLAN).unwrap().about, place.about);
        assert_eq!(Place::find(place.directory()).unwrap().about, place.about);
        // What others can open they can hold.
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
        let other = PLAN.replace("1h", "2h");
        assert!(matches!(make(&other), Err(PlaceError::Other { .. })));
    }

    #[test]
    fn what_is_missing_has_no_end() {
        let most = Missing {
            dropped_connections: u64::MAX,
            dropped_objects: u64::MAX,
            unwritten: u64::MAX,
        };
        assert_eq!(most.and(most), most);
        assert!(most.words().is_some());
    }

    #[test]
    fn a_directory_that_others_can_change_is_no_place() {
        let directory = tempfile::tempdir().unwrap();
        let plan = Plan::parse(PLAN).unwrap();
        let refused = |part: &str| {
            let error = Place::make(directory.path(), PLAN, &plan, 7.0).unwrap_err();
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
            eprintln!("SKIPPED: a directory of another user: this takes root");
        }
        Place::make(directory.path(), PLAN, &plan, 7.0).unwrap();
    }

    #[test]
    fn what_is_no_study_is_told() {
        let directory = tempfile::tempdir().unwrap();
        let error = Place::find(directory.path()).unwrap_err().to_string();
        assert!(
            error.contains("no study here") && error.contains(FILE),
            "{error}"
        );
        fs::write(directory.path().join(FILE), "{").unwrap();
        let error = Place::find(directory.path()).unwrap_err().to_string();
        assert!(error.contains(FILE), "{error}");
    }
}
