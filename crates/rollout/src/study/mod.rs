//! Randomised experiments on the connections of a control group, or on the connections to client networks.
//!
//! [`Study`] runs an experiment. A BPF program or a route gives each connection its arm when the connection is set up.
//! The study writes rows about the connections to Parquet files in its [`StudyDirectory`]. [`read`] evaluates them.

mod about;
mod arm_checks;
mod assigner;
mod calendar;
mod carried;
mod columns;
mod data;
mod directory;
mod directory_error;
mod error;
mod group;
mod groups;
#[cfg_attr(not(feature = "load"), path = "unbuilt.rs")]
mod hold;
mod holder;
mod join;
mod lock;
pub mod log;
mod lookup;
mod missing;
mod object;
mod own_directory;
mod problems;
mod program;
pub mod report;
mod route;
mod row;
mod running;
mod tended;

pub(crate) use calendar::Calendar;
pub use carried::{CarriedConnection, Recording, observations};
pub use data::{DataError, LeftOut, Log, Read, read};
pub use directory::StudyDirectory;
pub use directory_error::StudyDirectoryError;
pub use error::StudyError;
pub use group::{ControlGroup, GroupError};
pub(crate) use hold::{Hold, in_force, release, sweep};
pub use holder::{Holder, Steerer};
pub use join::Joined;
pub(crate) use lock::Claim;
pub use lookup::Lookup;
pub use missing::Missing;
pub use object::ObjectRow;
pub use own_directory::own_directory;
pub(crate) use problems::Problems;
pub(crate) use program::drawn_unit;
pub use route::{LEASE, RouteError, stop_routes};
pub use row::Row;
pub(crate) use running::booted;
pub use running::{Finished, Step, Study};
pub use tended::HoldError;
