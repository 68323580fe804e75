//! `fullpipe steer`: puts a policy in force.

mod learn;
mod pace;
mod rollback;
mod run;
mod stop;
mod why;

use std::fmt::Display;
use std::path::{Path, absolute};

use clap::{Args, Subcommand};
use experiment::MAX_NETWORKS;
use experiment::policy::Policy;
use files::regular;
use fleet::Systems;
use program::failure::Failure;
use program::output;

use crate::options::other_file;
use crate::options::plan_file::{networks, read_text};

/// Set the controllers of a server's connections by a policy
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_help = "\
A policy has rules in order, by client network, its retransmissions, port, interface and round-trip time. The first rule that matches a connection counts, and a connection that no rule matches keeps its \
controller. SIGHUP reads the policy again and puts all of it in force at once; if it is invalid, the old policy stays. When the command \
ends, new connections have the default. When it is killed, the policy stays in force until its lease is over.

It takes root and a fullpipe that was built with --features kernel; `learn` takes neither, and without them `why` says what the file \
says. docs/steer.md says more.

Examples:
  fullpipe steer policy.toml --dry-run
  fullpipe steer learn clients > policy.toml
  fullpipe steer policy.toml --journal steer.jsonl
  fullpipe steer why 192.0.2.7 policy.toml --rtt 120ms
  fullpipe steer rollback policy.toml --journal steer.jsonl"
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
    Rollback(rollback::Options),
    Stop(stop::Options),
}

pub fn run(options: &Options) -> Result<(), Failure> {
    match &options.action {
        None => run::run(&options.run),
        Some(Action::Learn(options)) => learn::run(options),
        Some(Action::Why(options)) => why::run(options),
        Some(Action::Rollback(options)) => rollback::run(options),
        Some(Action::Stop(options)) => stop::run(options),
    }
}

/// Warns about a policy that should explore but cannot.
fn tell_of_explorers(policy: &Policy) {
    let mut rules = policy.rules.iter().filter_map(|rule| rule.explore);
    let is_asked = policy.explore.numerator() > 0 || rules.any(|share| share.numerator() > 0);
    if is_asked && !policy.has_explorers() {
        output::note(
            "all rules have the same controller or do not explore, so nothing is explored and stale rules are not found",
        );
    }
}

/// Reads a policy.
fn read(path: &Path) -> Result<Policy, Failure> {
    let wrong = |error: &dyn Display| Failure::usage(format_args!("{}: {error}", path.display()));
    let text = read_text(path).map_err(|error| wrong(&error))?;
    let policy = Policy::parse(&text).map_err(|error| {
        match other_file::kind_and_command(&text, "steer") {
            Some(other) => wrong(&other),
            None => wrong(&error),
        }
    })?;
    Ok(Policy {
        file: absolute(path).ok(),
        ..policy
    })
}

/// Reads a policy, and the networks of the files and autonomous systems that it names. Paths of files are relative to
/// the policy.
fn read_with(path: &Path, systems: Option<&Path>) -> Result<Policy, Failure> {
    with_networks(read(path)?, path, systems)
}

/// A policy that was read from this file, with its networks.
fn with_networks(
    mut policy: Policy,
    path: &Path,
    systems: Option<&Path>,
) -> Result<Policy, Failure> {
    policy
        .place_lists(|list| networks(path, list))
        .map_err(|error| Failure::usage(format_args!("{}: {error}", path.display())))?;
    let numbers = policy.systems();
    if numbers.is_empty() {
        return Ok(policy);
    }
    let Some(file) = systems else {
        return Err(Failure::usage(format_args!(
            "{}: names autonomous systems; give a file with their networks: --as FILE",
            path.display()
        )));
    };
    let networks = regular::open(file)
        .map_err(Into::into)
        .and_then(Systems::read)
        .and_then(|systems| systems.networks(&numbers, MAX_NETWORKS))
        .map_err(|error| Failure::usage(format_args!("--as {}: {error}", file.display())))?;
    policy
        .place_systems(&networks)
        .map_err(|error| Failure::usage(format_args!("{}: {error}", path.display())))?;
    Ok(policy)
}
