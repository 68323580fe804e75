//! The owners of sockets: the process and the control group.

mod cgroups;
mod processes;

pub use cgroups::{Cgroups, root};
pub use processes::{Process, Processes};
