//! The commands. Each parses its arguments, calls the library, and prints the results.

pub mod advise;
pub mod diagnose;
pub mod doctor;
pub mod emulate;
pub mod evaluate;
pub mod kernel;
mod live_controllers;
pub mod play;
pub mod probe;
pub mod race;
pub mod rates;
pub mod recv;
pub mod run;
pub mod send;
pub mod shell;
pub mod steer;
pub mod study;
pub mod sweep;
pub mod trace;
pub mod watch;
