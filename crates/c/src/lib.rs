//! Fullpipe's congestion controllers for C. `include/fullpipe.h` is generated from this crate; `docs/embedding.md`
//! explains it.
//!
//! - **Memory** is the caller's: [`fullpipe_flow_size`] and [`fullpipe_flow_align`] give its size and alignment.
//!   Nothing is allocated, and nothing has to be freed.
//! - **Threads**: a flow may move between threads, and is used by one at a time. There is no global state.
//! - **Versions**: structs that may grow begin with their size, which the caller sets to `sizeof`. A library with a
//!   longer struct takes fields that an older program lacks for zero, and does not write them. A library with a shorter
//!   struct refuses unknown fields that are not zero. [`Packet`] does not grow while the name in the shared library
//!   (its SONAME) stays the same.
//! - **Panics** do not cross the boundary. None are known; one would be returned as [`Status::Panicked`], as would
//!   every later call with the same flow.
//! - **Pointers** that are null, misaligned or not to an initialised flow are answered with [`Status::Invalid`].
//!   Otherwise the caller guarantees their validity, as usual in C.

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
