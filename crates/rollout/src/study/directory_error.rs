//! The reasons why a directory cannot be used for a study.

use std::io;
use std::path::{Path, PathBuf};

use super::holder::Holder;

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

pub(super) fn system(path: &Path, error: io::Error) -> StudyDirectoryError {
    StudyDirectoryError::System {
        path: path.to_owned(),
        error,
    }
}
