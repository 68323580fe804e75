//! The process: arguments in, exit code out.

use std::env::{ArgsOs, args_os};
use std::iter::Skip;
use std::process::ExitCode;
use std::sync::Arc;

use clap::{CommandFactory, FromArgMatches};
use signal_hook::consts::SIGXFSZ;

use crate::failure::Failure;
use crate::{output, usage};

/// A first argument with which the program starts itself, and the function that gets the other arguments. It is
/// neither listed nor suggested.
pub type Own = (&'static str, fn(Skip<ArgsOs>) -> ExitCode);

/// Reads the arguments, runs the command, and prints its failure as one line. `option_meant` is as in
/// [`usage::answer`].
pub fn main<A: CommandFactory + FromArgMatches>(
    own: &[Own],
    option_meant: impl Fn(&str, &str) -> Option<String>,
    run: impl FnOnce(A) -> Result<ExitCode, Failure>,
) -> ExitCode {
    // A file that outgrows the limit (`ulimit -f`) then gives an error, which is printed, and does not end the process.
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::default());
    if let Some(first) = args_os().nth(1)
        && let Some((_, run)) = own.iter().find(|(name, _)| first == *name)
    {
        return run(args_os().skip(2));
    }
    // Values may be negative numbers everywhere, so `--seed -1` is refused as a wrong seed and not as an unknown
    // option.
    let mut command = usage::with_negative_values(A::command());
    let name = command.get_name().to_owned();
    let arguments = command
        .try_get_matches_from_mut(args_os())
        .and_then(|matches| A::from_arg_matches(&matches))
        .map_err(|error| error.format(&mut command));
    let outcome = match arguments {
        Ok(arguments) => run(arguments),
        Err(error) => usage::answer(&error, option_meant).map(|()| ExitCode::SUCCESS),
    };
    outcome.unwrap_or_else(|failure| {
        output::note(format_args!("{name}: {failure}"));
        failure.code()
    })
}
