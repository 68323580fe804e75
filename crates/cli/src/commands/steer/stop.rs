//! `fullpipe steer stop`.

use std::path::PathBuf;

use clap::Args;

use super::super::study;
use super::read;
use crate::failure::Failure;
use crate::terminal::output;
use fleet::steer::Stopped;

/// Remove a policy at once that a killed `steer` has left in force until the end of its lease
#[derive(Debug, Args)]
pub struct Options {
    /// File of the policy, for the name of the control group
    #[arg(value_name = "POLICY.toml")]
    policy: PathBuf,
}

/// Removes the policy.
pub fn run(options: &Options) -> Result<(), Failure> {
    let policy = read(&options.policy)?;
    // A process without permission would find nothing.
    study::kernel_is_able()?;
    match fleet::steer::stop(&policy).map_err(Failure::failed)? {
        Stopped::Taken => output::note("it is taken away; new connections have the default"),
        Stopped::TakenFromProcess => {
            return Err(Failure::failed(
                "it was taken away, but the process that has it in force runs, and puts it in force again: end that one",
            ));
        }
        Stopped::Gone => output::note(
            "there is no such control group any more; what was kept for removed ones is taken away",
        ),
        Stopped::Nothing => output::note("there is nothing to take away"),
    }
    Ok(())
}
