//! `fullpipe kernel`: manages Fullpipe's controllers in the kernel's own TCP.

mod load;
#[cfg_attr(not(feature = "kernel"), path = "unbuilt.rs")]
mod programs;
#[cfg(feature = "kernel")]
mod status;

use clap::{Args, Subcommand};
use kernel::{Algorithm, Error};
use program::failure::Failure;
use program::output;

/// Load Fullpipe's controllers into the kernel's TCP
#[derive(Debug, Args)]
#[command(after_help = "\
A controller is a BPF program: no kernel is rebuilt, no machine restarted. What is loaded stays after the command, until it is \
unloaded or the machine restarts. Every program can ask for it by its name, fullpipe_bbr1 or fullpipe_bbr3, with the socket option \
TCP_CONGESTION; the default of a network namespace is what programs get that do not ask.

It takes root, Linux 6.1 or newer with BTF, and a fullpipe that was built with --features kernel. docs/kernel.md says more.

Examples:
  fullpipe kernel check
  fullpipe kernel load bbr1 --set bbr1.cwnd-gain=1.8
  fullpipe kernel default bbr1")]
pub struct Options {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Print what this machine lacks to load a controller; change nothing
    Check,
    Load(load::Options),
    /// Remove controllers; connections that have one keep it until they end
    Unload {
        /// The controllers to remove [default: all that are loaded]
        #[arg(value_name = "CONTROLLER")]
        controllers: Vec<Algorithm>,
    },
    /// Print which controllers are loaded, since when, with which parameters, and who uses them
    Status {
        /// Print the status as JSON
        #[arg(long)]
        json: bool,
    },
    /// Make a controller the default of this network namespace: bbr1, bbr3, or another one by the kernel's name
    Default {
        /// Its name; without a name, print the present default
        #[arg(value_name = "CONTROLLER")]
        name: Option<String>,
    },
}

pub fn run(options: &Options) -> Result<(), Failure> {
    match &options.action {
        Action::Check => check(),
        Action::Load(options) => programs::load(options),
        Action::Unload { controllers } => programs::unload(controllers),
        Action::Status { json } => programs::status(*json),
        Action::Default { name: None } => {
            output::result(kernel::default().map_err(Failure::failed)?)
        }
        Action::Default { name: Some(name) } => set_default(name),
    }
}

fn check() -> Result<(), Failure> {
    let required = kernel::check().into_iter();
    let mut found: Vec<(&str, Option<String>)> = required
        .map(|requirement| (requirement.what, requirement.lack))
        .collect();
    if found.iter().all(|(_, lack)| lack.is_none()) {
        found.extend(programs::check());
    }
    let mut lacks = 0;
    for (what, lack) in found {
        match lack {
            None => output::result(format_args!("ok       {what}"))?,
            Some(lack) => {
                lacks += 1;
                output::result(format_args!("lacking  {what}: {lack}"))?;
            }
        }
    }
    if let Some(pacing) = kernel::pacing() {
        output::result(format_args!("note     pacing: {pacing}"))?;
    }
    match lacks {
        0 => Ok(()),
        1 => Err(Failure::failed(
            "a controller cannot be loaded: one requirement is not met",
        )),
        more => Err(Failure::failed(format_args!(
            "a controller cannot be loaded: {more} requirements are not met"
        ))),
    }
}

fn set_default(name: &str) -> Result<(), Failure> {
    let ours = Algorithm::ALL.iter().find(|ours| ours.name() == name);
    let name = ours.map_or(name, |ours| ours.kernel_name());
    if name.is_empty() {
        return Err(Failure::usage("a controller's name is expected"));
    }
    kernel::set_default(name).map_err(|error| match (error, ours) {
        (Error::Linux(linux::Error::UnknownController { .. }), Some(ours)) => Failure::failed(
            format_args!("{name} is not loaded; `fullpipe kernel load {ours}` comes first"),
        ),
        (error, _) => refused(error),
    })
}

fn refused(error: Error) -> Failure {
    match error {
        Error::Linux(linux::Error::UnknownController { .. }) => Failure::usage(error),
        _ => Failure::failed(error),
    }
}
