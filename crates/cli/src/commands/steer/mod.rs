//! `fullpipe steer`: a policy in force.

mod run;
mod stop;
mod why;

use std::io;
use std::path::Path;

use clap::{Args, Subcommand};
use experiment::policy::Policy;
use scenario::regular;

use crate::failure::Failure;

/// Give the connections of a server the controllers that a policy says, by client network, port and round-trip time
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_help = "\
A policy has rules in order; the first that holds counts, and what none holds for is left alone. SIGHUP reads it again: all of it is \
put in force at once, or, if it makes no sense, none. When the command ends, new connections have the default. When it is killed, \
the policy stays in force until its lease is over.

It takes root and a fullpipe that was built with --features kernel; `why` takes neither. docs/steer.md says more.

Examples:
  fullpipe steer policy.toml --dry-run
  fullpipe steer policy.toml --journal steer.jsonl
  fullpipe steer why 192.0.2.7 policy.toml --rtt 120ms"
)]
pub struct Options {
    #[command(subcommand)]
    action: Option<Action>,
    #[command(flatten)]
    run: run::Options,
}

#[derive(Debug, Subcommand)]
enum Action {
    Why(why::Options),
    Stop(stop::Options),
}

/// Does it.
pub fn run(options: &Options) -> Result<(), Failure> {
    match &options.action {
        None => run::run(&options.run),
        Some(Action::Why(options)) => why::run(options),
        Some(Action::Stop(options)) => stop::run(options),
    }
}

/// Reads a policy.
fn read(path: &Path) -> Result<Policy, Failure> {
    let wrong =
        |error: &dyn std::fmt::Display| Failure::usage(format_args!("{}: {error}", path.display()));
    let text = regular::open(path)
        .and_then(io::read_to_string)
        .map_err(|error| wrong(&error))?;
    Policy::parse(&text).map_err(|error| wrong(&error))
}
