//! The `fullpipe` command: arguments in, exit code out.

mod commands;
mod failure;
mod files;
mod options;
mod terminal;

use std::process::ExitCode;
use std::sync::Arc;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use signal_hook::consts::SIGXFSZ;

use commands::{
    advise, calibrate, claims, diagnose, doctor, emulate, figures, kernel, probe, race, rates,
    recv, run, send, shell, steer, study, sweep, trace, watch,
};
use failure::Failure;
use options::usage;
use terminal::output;

/// BBR congestion control that can be run, measured and trusted
#[derive(Debug, Parser)]
#[command(name = "fullpipe", version, arg_required_else_help = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Run(run::Options),
    Sweep(sweep::Options),
    Calibrate(calibrate::Options),
    Figures(figures::Options),
    Claims(claims::Options),
    Race(race::Options),
    Advise(advise::Options),
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
            Command::Calibrate(options) => calibrate::run(options),
            Command::Figures(options) => figures::run(options),
            Command::Claims(options) => claims::run(options),
            Command::Race(options) => race::run(options),
            Command::Advise(options) => advise::run(options),
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

impl Arguments {
    /// The arguments of this process. Values may be negative numbers everywhere, so `--seed -1` is refused as a wrong
    /// seed and not as an unknown option.
    fn read() -> Result<Arguments, clap::Error> {
        let mut command = usage::with_negative_values(Arguments::command());
        let matches = command.try_get_matches_from_mut(std::env::args_os())?;
        Arguments::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
    }
}

fn main() -> ExitCode {
    // A file that outgrows the limit (`ulimit -f`) then gives an error, which is told, and does not end the process.
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::default());
    // This argument is not a subcommand. It is for this program alone, and is neither listed nor suggested.
    let mut arguments = std::env::args_os().skip(1);
    match arguments.next() {
        Some(first) if first == shell::INIT => return shell::init(arguments),
        Some(first) if first == study::UNDO => return study::undo(),
        _ => {}
    }
    let outcome = match Arguments::read() {
        Ok(arguments) => arguments.command.run(),
        Err(error) => usage::answer(&error).map(|()| ExitCode::SUCCESS),
    };
    match outcome {
        Ok(code) => code,
        Err(failure) => {
            output::note(format_args!("fullpipe: {failure}"));
            failure.code()
        }
    }
}
