//! `fullpipe steer`: a policy in force.

mod learn;
mod run;
mod stop;
mod why;

use std::io;
use std::path::Path;

use clap::{Args, Subcommand};
use experiment::policy::Policy;
use fleet::Systems;
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

It takes root and a fullpipe that was built with --features kernel; `why` and `learn` take neither. docs/steer.md says more.

Examples:
  fullpipe steer policy.toml --dry-run
  fullpipe steer learn clients > policy.toml
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
    Learn(learn::Options),
    Why(why::Options),
    Stop(stop::Options),
}

/// Does it.
pub fn run(options: &Options) -> Result<(), Failure> {
    match &options.action {
        None => run::run(&options.run),
        Some(Action::Learn(options)) => learn::run(options),
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

/// Reads a policy, and the networks of the autonomous systems that it names.
fn read_with(path: &Path, systems: Option<&Path>) -> Result<Policy, Failure> {
    let mut policy = read(path)?;
    let numbers = policy.systems();
    if numbers.is_empty() {
        return Ok(policy);
    }
    let Some(file) = systems else {
        return Err(Failure::usage(format_args!(
            "{}: names autonomous systems; give the file that tells their networks: --as FILE",
            path.display()
        )));
    };
    let networks = regular::open(file)
        .map_err(Into::into)
        .and_then(Systems::read)
        .and_then(|systems| systems.networks(&numbers))
        .map_err(|error| Failure::usage(format_args!("--as {}: {error}", file.display())))?;
    policy
        .place_systems(&networks)
        .map_err(|error| Failure::usage(format_args!("{}: {error}", path.display())))?;
    Ok(policy)
}
