//! The `fullpipe` command: arguments in; output, files and exit codes out.

mod advise;
#[path = "../../../report/tests/browser/mod.rs"]
mod browser;
mod caseless;
mod diagnose;
mod doctor;
mod emulate;
mod ends;
mod evaluate;
mod help;
mod kernel;
mod laboratory;
mod pages;
mod play;
mod probe;
mod race;
mod rates;
mod rollback;
mod run;
mod shell;
mod signals;
mod steer;
mod study;
mod support;
mod sweep;
mod trace;
mod transfer;
mod typed;
mod watch;

/// The program.
const PROGRAM: &str = env!("CARGO_BIN_EXE_fullpipe");
