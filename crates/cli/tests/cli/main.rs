//! The `fullpipe` command as its users meet it: arguments in; output, files and exit codes out.

mod advise;
mod calibrate;
mod claims;
mod emulate;
mod figures;
mod help;
mod kernel;
mod laboratory;
mod probe;
mod race;
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
mod watch;
