//! Fullpipe's controllers inside a stock Linux kernel: congestion controllers as BPF programs (`struct_ops`).
//!
//! The directory `bpf` has each algorithm a second time, in C. Each of its files is the twin of a file of
//! `fullpipe-congestion`, and uses only integers and nothing of the kernel. The tests compile it for the host and pass
//! the same events to both twins. After each event, the observable states are equal to the last bit. `bpf/kernel` turns
//! the algorithm into a congestion controller of the kernel.
//!
//! [`check`] says what a kernel lacks. The rest takes the cargo feature `load`, with which the programs are compiled:
//!
//! - `keep` offers controllers to every program on the machine, and `load` does so while its caller runs. `Registered` is
//!   a controller that is kept.
//! - `attach` sets the controllers of a control group's connections by rules, which may give each controller a share. It
//!   works while its caller renews the lease. The program is in `bpf/steer`.

mod algorithm;
mod check;
mod clock;
mod default;
mod drawn_unit;
mod error;
mod model;
mod pacing;
mod parameters;
mod permission;
mod reports;
mod requirement;
mod resent;
mod settings;
mod snapshot;
mod steering;
mod users;
mod visible;

#[cfg(feature = "load")]
mod bpf;

pub use algorithm::Algorithm;
#[cfg(feature = "load")]
pub use bpf::{
    Attached, Keeping, Loaded, Memory, Registered, attach, attach_with, check_controller, flows,
    in_force, is_kept, keep, load, memory, release, sweep, unload,
};
pub use check::{check, check_steering};
pub use clock::since_boot;
pub use default::{default, set_default};
pub use drawn_unit::DrawnUnit;
pub use error::Error;
pub use model::{Model, state_of_window};
pub use pacing::pacing;
pub use parameters::{Parameter, Value};
pub use permission::check_permission;
pub use reports::{EndedConnection, ReportedObject, SteeredConnection};
pub use requirement::Requirement;
pub use resent::{KNOWN_PACKETS, MAX_REMEMBERED_NETWORKS, Resent, resent_with_data};
pub use settings::{ParameterError, Settings};
pub use snapshot::Snapshot;
pub use steering::{InForce, ProgramOwner, Steering, SteeringCounts, SteeringRule};
pub use users::{Users, users};
pub use visible::visible_flows;
