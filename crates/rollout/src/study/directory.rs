//! The directory of a study, with its plan and its data.

use std::fmt::Display;
use std::fs::{File, TryLockError};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use ::text::TextError;
use document::de;
use experiment::{InForce, Plan};
use files::{Readers, regular};
use fleet::files::files;

use super::about::About;
use super::directory_error::{StudyDirectoryError, system};
use super::lock::{Claim, Held, Refused};
use super::missing::Missing;
use super::own_directory::{is_own, own_directory, way};

/// The beginning of the names of connection files.
pub(super) const START: &str = "study-";

/// The beginning of the names of object files.
pub(super) const OBJECTS: &str = "objects-";

/// The file with the state of the study.
const FILE: &str = "study.json";

/// The file that the process that runs the study has locked.
const LOCK: &str = "lock";

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
            let read = regular::text(&directory.join(name), de::MAX_FILE_BYTES);
            read.map_err(|error| match error {
                TextError::Read(error) if error.kind() == io::ErrorKind::NotFound => {
                    StudyDirectoryError::None {
                        path: directory.to_owned(),
                        why: format!("{name}: {error}"),
                    }
                }
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

/// Writes a file as a whole. Only its owner can read it.
fn write(path: &Path, contents: &[u8]) -> Result<(), StudyDirectoryError> {
    let written = files::write(path, contents, Readers::Owner);
    written.map_err(|error| system(path, error.source))
}

/// A random seed.
fn chance() -> io::Result<String> {
    let mut bytes = [0; 16];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(format!("{:032x}", u128::from_ne_bytes(bytes)))
}

#[cfg(test)]
mod tests;
