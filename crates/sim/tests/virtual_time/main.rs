//! Whole networks in virtual time.

mod behaviour;
mod closed_forms;
mod config;
mod conservation;
mod determinism;
mod fast_open;
mod hostile_paths;
mod l4s;
mod marks;
mod networks;
mod no_sack;
mod pitfalls;
mod support;
