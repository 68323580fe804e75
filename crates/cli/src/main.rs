//! The program `fullpipe`, which runs, measures and compares congestion controllers. Its commands try them in scenarios, study
//! and steer the connections of servers, move files, put emulated paths under traffic, and read captures.

mod commands;
mod files;
mod help;
mod options;
mod terminal;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use program::failure::Failure;

use commands::{
    advise, diagnose, doctor, emulate, evaluate, kernel, play, probe, race, rates, recv, run, send,
    shell, steer, study, sweep, trace, watch,
};
use options::option_meant::option_meant;

/// BBR congestion control that can be run, measured and trusted
#[derive(Debug, Parser)]
#[command(
    name = "fullpipe",
    version,
    arg_required_else_help = true,
    help_template = help::template(&Command::augment_subcommands(clap::Command::new("fullpipe")))
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
    Advise(advise::Options),
    Evaluate(evaluate::Options),
    Play(play::Options),
    Probe(probe::Options),
    Send(send::Options),
    Recv(recv::Options),
    Emulate(emulate::Options),
    Trace(trace::Options),
    Rates(rates::Options),
    Diagnose(diagnose::Options),
    Watch(watch::Options),
    Study(study::Options),
    Steer(steer::Options),
    Shell(shell::Options),
    Kernel(kernel::Options),
    Doctor(doctor::Options),
}

impl Command {
    fn run(&self) -> Result<ExitCode, Failure> {
        let outcome = match self {
            Command::Run(options) => run::run(options),
            Command::Sweep(options) => sweep::run(options),
            Command::Race(options) => race::run(options),
            Command::Advise(options) => advise::run(options),
            Command::Evaluate(options) => evaluate::run(options),
            Command::Play(options) => play::run(options),
            Command::Probe(options) => probe::run(options),
            Command::Send(options) => send::run(options),
            Command::Recv(options) => recv::run(options),
            Command::Emulate(options) => emulate::run(options),
            Command::Trace(options) => trace::run(options),
            Command::Rates(options) => rates::run(options),
            Command::Diagnose(options) => diagnose::run(options),
            Command::Watch(options) => watch::run(options),
            Command::Study(options) => study::run(options),
            Command::Steer(options) => steer::run(options),
            Command::Shell(options) => return shell::run(options),
            Command::Kernel(options) => kernel::run(options),
            Command::Doctor(options) => doctor::run(options),
        };
        outcome.map(|()| ExitCode::SUCCESS)
    }
}

fn main() -> ExitCode {
    let own: [program::Own; 2] = [(shell::INIT, shell::init), (study::UNDO, |_| study::undo())];
    program::main(&own, option_meant, |Arguments { command }| command.run())
}
