//! The program `fullpipe-proof`, which measures again what Fullpipe says about BBR and about itself. Its commands judge claims,
//! draw figures, compare engines, evaluate the built-in controllers, and study a small CDN and the intervals of experiments.

mod commands;
mod files;
mod options;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use linux::command::init_main;
use program::failure::Failure;

use commands::{calibrate, cdn, claims, evaluate, figures, intervals, population, variants};

/// Measure again what Fullpipe says about BBR and about itself
#[derive(Debug, Parser)]
#[command(
    name = "fullpipe-proof",
    version,
    arg_required_else_help = true,
    after_help = "\
'fullpipe-proof COMMAND --help' explains a command.
The other program, fullpipe, runs and compares controllers."
)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Claims(claims::Options),
    Figures(figures::Options),
    Calibrate(calibrate::Options),
    Cdn(cdn::Options),
    Intervals(intervals::Options),
    Population(population::Options),
    Evaluate(evaluate::Options),
    Variants(variants::Options),
}

impl Command {
    fn run(&self) -> Result<(), Failure> {
        match self {
            Command::Claims(options) => claims::run(options),
            Command::Figures(options) => figures::run(options),
            Command::Calibrate(options) => calibrate::run(options),
            Command::Cdn(options) => cdn::run(options),
            Command::Intervals(options) => intervals::run(options),
            Command::Population(options) => population::run(options),
            Command::Evaluate(options) => evaluate::run(options),
            Command::Variants(options) => variants::run(options),
        }
    }
}

fn main() -> ExitCode {
    let init: program::Own = (cdn::INIT, |arguments| ExitCode::from(init_main(arguments)));
    program::main(
        &[init],
        |_, _| None,
        |Arguments { command }| command.run().map(|()| ExitCode::SUCCESS),
    )
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;
    use program::other_program;

    use super::*;

    #[test]
    fn the_other_program_knows_the_commands() {
        let command = Arguments::command();
        let all: Vec<&str> = command
            .get_subcommands()
            .map(clap::Command::get_name)
            .collect();
        assert_eq!((command.get_name(), &*all), other_program::PROOF);
    }
}
