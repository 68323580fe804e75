//! Randomised experiments on the connections of a control group, or on the connections to client networks.
//!
//! [`Study`] runs an experiment. A BPF program or a route gives each connection its arm when the connection is set up.
//! The study writes rows about the connections to Parquet files in its [`Place`]. [`read`] reads these files for the
//! evaluation.

mod assigner;
mod calendar;
mod columns;
mod data;
mod error;
mod given;
mod group;
mod groups;
#[cfg_attr(not(feature = "load"), path = "unbuilt.rs")]
mod hold;
mod holder;
mod join;
mod lock;
pub mod log;
mod lookup;
mod noted;
mod object;
mod place;
mod program;
pub mod report;
mod route;
mod row;
mod running;
mod tended;
mod told;

pub(crate) use calendar::Calendar;
pub use data::{DataError, LeftOut, Log, Read, read};
pub use error::StudyError;
pub use given::{Given, Recording, observations};
pub use group::{ControlGroup, GroupError};
pub(crate) use hold::{Hold, in_force, release, sweep};
pub use holder::{Holder, Steerer};
pub use join::Joined;
pub(crate) use lock::Claim;
pub use lookup::Lookup;
pub use object::ObjectRow;
pub use place::{Missing, Place, PlaceError, own_directory};
pub(crate) use program::drawn_unit;
pub use route::{LEASE, RouteError, stop_routes};
pub use row::Row;
pub(crate) use running::booted;
pub use running::{Finished, Step, Study};
pub use tended::HoldError;
pub(crate) use told::Told;
