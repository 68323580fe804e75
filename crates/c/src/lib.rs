//! Fullpipe's congestion controllers for C; `include/fullpipe.h` is made of this crate, and `docs/embedding.md` explains it.
//!
//! - **Memory** is the caller's: [`fullpipe_flow_size`] and [`fullpipe_flow_align`] say how much. Nothing is allocated, and
//!   nothing has to be freed.
//! - **Threads**: a flow may be handed from thread to thread, and is used by one at a time. There is no global state.
//! - **Versions**: structs that may grow begin with their size, which the caller sets to `sizeof`. A library with a longer one takes
//!   what an older program does not know for zero, and leaves it out of what it tells. One with a shorter one refuses what it does not
//!   know and is not zero. [`Packet`] does not grow while the name in the shared library (its SONAME) stays the same.
//! - **Panics** do not cross the border. There are none known; one would become [`Status::Panicked`], as would every later call with the same flow.
//! - **Pointers** that are null, of the wrong alignment or not to an initialised flow are answered with
//!   [`Status::Invalid`]. What a pointer that is none of these points to is the caller's duty, as ever in C.

#![expect(
    unsafe_code,
    reason = "the border to C: symbols without mangling, and pointers that the caller vouches for"
)]

mod border;
mod config;
mod flow;
mod snapshot;

pub use border::Status;
pub use config::{Config, Kind};
pub use flow::*;
pub use snapshot::{Snapshot, fullpipe_snapshot_of};
