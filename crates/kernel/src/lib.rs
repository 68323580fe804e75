//! Fullpipe's controllers inside a stock Linux kernel.
//!
//! The directory `bpf` has each algorithm a second time, in C: a file for each of `fullpipe-congestion`'s, its twin, with
//! integers only and nothing of the kernel's. The tests compile it for the host and drive both with the same events: after each
//! one, all that an observer sees is equal to the last bit.

mod algorithm;
mod parameters;

pub use algorithm::Algorithm;
pub use parameters::{Parameter, ParameterError, Settings, Value};
