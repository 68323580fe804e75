//! The common parts of Fullpipe's command-line programs.
//!
//! [`main`] reads the arguments and ends the process: each failure is one line and an [exit code](failure::Failure),
//! and [Ctrl-C](interrupt) ends every command. Results go to stdout and everything else to stderr ([`output`]), with
//! [bars](work_bar) while work goes on. Files are written [completely or not at all](whole), and not in [each other's
//! places](apart); a [directory] without results is removed. Results name the [command](command_line) that made them.

pub mod apart;
pub mod awake_option;
pub mod bars;
mod build;
pub mod command_line;
pub mod directory;
pub mod failure;
pub mod human;
pub mod interrupt;
pub mod other_program;
pub mod output;
mod process;
pub mod results_directory;
pub mod usage;
pub mod whole;
pub mod work_bar;

pub use build::build;
pub use process::{Own, main};
