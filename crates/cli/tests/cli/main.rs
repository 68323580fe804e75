//! The `fullpipe` command as its users meet it: arguments in; output, files and exit codes out.

mod advise;
#[path = "../../../report/tests/browser/mod.rs"]
mod browser;
mod calibrate;
mod caseless;
mod claims;
mod diagnose;
mod doctor;
mod emulate;
mod figures;
mod help;
mod kernel;
mod kills;
mod laboratory;
mod pages;
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
