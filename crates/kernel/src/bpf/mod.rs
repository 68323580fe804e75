//! Programs in the kernel, by libbpf.

mod bpffs;
mod features;
mod keep;
mod load;
mod log;
mod registered;
mod signals;
mod steer;

pub use keep::keep;
pub use load::{Loaded, load};
pub(crate) use registered::find;
pub use registered::{flows, unload};
pub use steer::{Attached, attach, in_force, is_kept, release, sweep};

use libbpf_rs::Error as BpfError;

use crate::Error;
pub(crate) use features::requirements;
pub(crate) use keep::keeping;
pub(crate) use load::accepted;
pub(crate) use steer::requirements as steering_requirements;

/// What the loader tells a program, or knows of it later: `struct load` in `bpf/kernel/program.h`.
const LOAD: &str = ".rodata.load";

/// The settings: `struct config`.
const CONFIG: &str = ".rodata.config";

/// The bytes of a version in `struct load`, behind one word.
const VERSION: std::ops::Range<usize> = 8..40;

/// The word of `cwnd_event_tx_start` in `struct tcp_congestion_ops` of `bpf/kernel/types.h`.
const TX_START: std::ops::Range<usize> = 24..32;

fn failed(what: impl Into<String>) -> impl FnOnce(BpfError) -> Error {
    let what = what.into();
    |error| {
        // The error's own text has the chain of what libbpf was doing.
        Error::system(what, std::io::Error::other(error.to_string()))
    }
}
