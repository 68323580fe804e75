//! Programs in the kernel, by libbpf.

mod bpffs;
mod features;
mod keep;
mod load;
mod log;
mod registered;
mod steer;

pub use keep::keep;
pub use load::{Loaded, load};
pub use registered::flows;
pub(crate) use registered::{find, unload};
pub use steer::{Attached, attach, is_kept, release};

use libbpf_rs::Error as BpfError;

use crate::Error;
pub(crate) use features::requirements;
pub(crate) use keep::keeping;
pub(crate) use steer::requirements as steering_requirements;

/// What the loader tells a program, or knows of it later: `struct load` in `bpf/kernel/program.h`.
const LOAD: &str = ".rodata.load";

/// The settings: `struct config`.
const CONFIG: &str = ".rodata.config";

/// The bytes of a version in `struct load`, behind one word.
const VERSION: std::ops::Range<usize> = 8..40;

fn failed(what: impl Into<String>) -> impl FnOnce(BpfError) -> Error {
    let what = what.into();
    |error| {
        // The error's own text has the chain of what libbpf was doing.
        Error::system(what, std::io::Error::other(error.to_string()))
    }
}
