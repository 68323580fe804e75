//! Programs in the kernel, loaded with libbpf.

mod bpffs;
mod features;
mod keep;
mod load;
mod log;
mod memory;
mod registered;
mod signals;
mod steer;

pub use keep::{Keeping, keep};
pub use load::{Loaded, check_controller, load};
pub use memory::Memory;
pub use registered::{Registered, flows, unload};
pub use steer::{Attached, attach, attach_with, in_force, is_kept, memory, release, sweep};

use libbpf_rs::Error as BpfError;

use crate::Error;
pub(crate) use features::requirements;
pub(crate) use steer::requirements as steering_requirements;

/// Data that the loader passes to a program, or reads from it later: `struct load` in `bpf/kernel/program.h`.
const LOAD: &str = ".rodata.load";

/// The settings: `struct config`.
const CONFIG: &str = ".rodata.config";

/// The length of a version in `struct load`, which follows one word.
const VERSION: std::ops::Range<usize> = 8..40;

/// The word of `cwnd_event_tx_start` in `struct tcp_congestion_ops` of `bpf/kernel/types.h`.
const TX_START: std::ops::Range<usize> = 24..32;

fn failed(what: impl Into<String>) -> impl FnOnce(BpfError) -> Error {
    let what = what.into();
    |error| {
        // The alternate form has the whole chain of libbpf's operations.
        Error::system(what, std::io::Error::other(format!("{error:#}")))
    }
}
