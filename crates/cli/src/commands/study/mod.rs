//! `fullpipe study`: randomised experiments on live connections.

mod given;
mod report;
mod run;
mod stop;

use std::process::ExitCode;

use clap::{Args, Subcommand};
use linux::routing::undo_at_end;
use program::failure::Failure;
use program::output;
use rollout::study::LEASE;

/// Find by a randomised experiment which controller suits a server
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_help = "\
A plan says which connections take part (the control group of a service, its ports, networks of clients), which controllers \
they get and in which shares, what is randomised, for how long, and what to stop at. The service is not touched. New connections \
have the default again when the command ends, however it ends.

It takes root and a fullpipe that was built with --features kernel; a study by route takes root alone, and `report` \
neither. docs/study.md leads from a server to a decision.

Examples:
  fullpipe study plan.toml --out /var/lib/fullpipe/clients
  fullpipe study --cgroup system.slice/nginx.service --listen 443 --arm cubic=90% --arm bbr=10% --unit prefix --duration 168h \
    --guard throughput=20% --out /var/lib/fullpipe/clients
  fullpipe study report /var/lib/fullpipe/clients"
)]
pub struct Options {
    #[command(subcommand)]
    action: Option<Action>,
    #[command(flatten)]
    run: run::Options,
}

#[derive(Debug, Subcommand)]
enum Action {
    Report(Box<report::Options>),
    Stop(stop::Options),
}

pub fn run(options: &Options) -> Result<(), Failure> {
    match &options.action {
        None => run::run(&options.run),
        Some(Action::Report(options)) => report::run(options),
        Some(Action::Stop(options)) => stop::run(options),
    }
}

/// The argument with which this program starts itself to undo a study by route after the study's process has gone.
pub const UNDO: &str = "undo-of-a-study";

/// The code of that process.
pub fn undo() -> ExitCode {
    let late = || {
        output::note(
            "fullpipe: the study's process has not followed the table main for a minute: its rules and routes are removed until it does",
        );
    };
    match undo_at_end(LEASE, late) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => {
            output::note(
                "fullpipe: the study's process is gone; its rules and routes were removed",
            );
            ExitCode::SUCCESS
        }
        Err(error) => {
            output::note(format_args!("fullpipe: {error}"));
            ExitCode::FAILURE
        }
    }
}
