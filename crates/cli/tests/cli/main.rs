//! The `fullpipe` command as its users meet it: arguments in; output, files and exit codes out.

mod emulate;
mod help;
mod race;
mod run;
mod support;
mod sweep;
mod transfer;
