//! Fullpipe's controllers inside a stock Linux kernel: congestion controllers as BPF programs (`struct_ops`).
//!
//! The directory `bpf` has each algorithm a second time, in C: a file for each of `fullpipe-congestion`'s, its twin, with
//! integers only and nothing of the kernel's. The tests compile it for the host and drive both with the same events: after each
//! one, all that an observer sees is equal to the last bit. `bpf/kernel` makes a congestion controller of the kernel of it.
//!
//! [`check`] says what a kernel lacks, [`keep`] offers controllers to every program on the machine, [`load`] does so for as long as
//! its caller runs, and [`Registered`] is one that is kept. Without the cargo feature `load`, nothing is compiled for the kernel, and what needs it returns
//! [`Error::NotBuilt`].
//!
//! [`attach`] gives the connections of a control group controllers by rules, a share of them each, for as long as its caller renews
//! its lease; the program is in `bpf/steer`.
//!
//! ```no_run
//! use kernel::{Algorithm, Keeping, Registered, Settings};
//!
//! kernel::keep(&[Settings::new(Algorithm::Bbr1)], "1.0", Keeping::of_this_kernel()?)?;
//! // Now any connection may have it, by `TCP_CONGESTION` or `sysctl`.
//! let registered = Registered::find(Algorithm::Bbr1)?.expect("it was loaded");
//! println!("loaded {} s ago", registered.age.as_secs_f64());
//! kernel::unload(&[Algorithm::Bbr1])?;
//! # Ok::<(), kernel::Error>(())
//! ```

mod algorithm;
mod check;
mod clock;
mod default;
mod error;
mod keeping;
mod model;
mod pacing;
mod parameters;
mod registered;
mod snapshot;
mod steering;
mod told;
mod users;

#[cfg(feature = "load")]
mod bpf;
#[cfg(not(feature = "load"))]
#[path = "without/mod.rs"]
mod bpf;

pub use algorithm::Algorithm;
pub use bpf::{
    Attached, Loaded, attach, flows, in_force, is_kept, keep, load, release, sweep, unload,
};
pub use check::{Requirement, check, check_controller, check_steering};
pub use clock::since_boot;
pub use default::{default, set_default};
pub use error::Error;
pub use keeping::Keeping;
pub use model::{Model, state_of_window};
pub use pacing::pacing;
pub use parameters::{Parameter, ParameterError, Settings, Value};
pub use registered::Registered;
pub use snapshot::Snapshot;
pub use steering::{
    DrawnUnit, InForce, Kept, MOST_ARMS, MOST_PORTS, MOST_RULES, Steering, SteeringCounts,
    SteeringRule, mapped,
};
pub use told::{EndedConnection, SteeredConnection, ToldObject};
pub use users::{Users, users};
