//! Errors of running a study.

use document::DocumentError;
use fleet::RecordError;

use super::directory_error::StudyDirectoryError;
use super::group::GroupError;
use super::route::RouteError;
use super::tended::HoldError;

/// A reason why a study does not run.
#[derive(Debug, thiserror::Error)]
pub enum StudyError {
    /// The kernel refused.
    #[error(transparent)]
    Kernel(#[from] kernel::Error),
    /// The program cannot be attached to the control group.
    #[error(transparent)]
    Hold(#[from] HoldError),
    /// The study's sockets cannot be observed.
    #[error(transparent)]
    Linux(#[from] linux::Error),
    /// The control group cannot be used.
    #[error(transparent)]
    Group(#[from] GroupError),
    /// The routes cannot be used.
    #[error(transparent)]
    Route(#[from] RouteError),
    /// The directory cannot be used.
    #[error(transparent)]
    Directory(#[from] StudyDirectoryError),
    /// An interface of the plan does not exist.
    #[error(transparent)]
    Interface(DocumentError),
    /// The files cannot be written.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// The limit for the data is too small.
    #[error("expected at least 64 MB: half of it is for connections, half for their objects")]
    Little,
    /// The controller of an arm cannot be used.
    #[error("arm[{place}].controller: {why}")]
    Controller {
        /// The index of the arm.
        place: usize,
        /// The reason.
        why: String,
    },
}
