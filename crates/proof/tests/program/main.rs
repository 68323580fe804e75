//! The `fullpipe-proof` command: arguments in; output, files and exit codes out.

#[path = "../../../report/tests/browser/mod.rs"]
mod browser;
mod calibrate;
mod cdn;
mod claims;
#[path = "../../../cli/tests/cli/ends.rs"]
mod ends;
mod evaluate;
mod figures;
mod help;
mod intervals;
mod kills;
mod pages;
mod population;
mod signals;
#[path = "../../../cli/tests/cli/support.rs"]
mod support;
mod variants;

/// The program.
const PROGRAM: &str = env!("CARGO_BIN_EXE_fullpipe-proof");
