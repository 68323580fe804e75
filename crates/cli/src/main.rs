//! The `fullpipe` command: arguments in, exit code out.

mod address;
mod bars;
mod command_line;
mod controllers;
mod emulate;
mod failure;
mod files;
mod human;
mod input;
mod interrupt;
mod lanes;
mod output;
mod override_option;
mod path_options;
mod progress;
mod race;
mod recv;
mod report_file;
mod run;
mod run_bar;
mod send;
mod sweep;
mod sweep_bar;
mod usage;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use failure::Failure;

/// BBR congestion control that can be run, measured and trusted
#[derive(Debug, Parser)]
#[command(
    name = "fullpipe",
    version,
    subcommand_required = true,
    arg_required_else_help = false
)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Run(run::Options),
    Sweep(sweep::Options),
    Race(race::Options),
    Send(send::Options),
    Recv(recv::Options),
    Emulate(emulate::Options),
}

impl Command {
    fn run(&self) -> Result<(), Failure> {
        match self {
            Command::Run(options) => run::run(options),
            Command::Sweep(options) => sweep::run(options),
            Command::Race(options) => race::run(options),
            Command::Send(options) => send::run(options),
            Command::Recv(options) => recv::run(options),
            Command::Emulate(options) => emulate::run(options),
        }
    }
}

fn main() -> ExitCode {
    let outcome = match Arguments::try_parse() {
        Ok(arguments) => arguments.command.run(),
        Err(error) => usage::answer(&error),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
