//! Randomised experiments on the connections of a control group.
//!
//! [`Study`] runs one: a program in the kernel gives each connection its arm when it is set up, and tells what became of it; rows of
//! that go to Parquet files in the study's [`Place`]. [`read`] gives what is there back, to be evaluated.

mod calendar;
mod cells;
mod data;
mod given;
mod group;
mod hold;
mod holder;
mod join;
mod lock;
pub mod log;
mod object;
mod place;
pub mod report;
mod row;
mod running;
mod told;

pub(crate) use calendar::Calendar;
pub use data::{DataError, LeftOut, Log, Read, read};
pub use given::{Given, Recording, observations};
pub use group::{ControlGroup, GroupError};
pub(crate) use hold::Hold;
pub use hold::HoldError;
pub use holder::{Holder, Steerer};
pub use join::Joined;
pub(crate) use lock::Claim;
pub use object::ObjectRow;
pub use place::{Missing, Place, PlaceError};
pub use row::Row;
pub use running::{Step, Study, StudyError};
pub(crate) use running::{booted, drawn_unit};
pub(crate) use told::Told;
