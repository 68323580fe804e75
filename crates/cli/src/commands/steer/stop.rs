//! `fullpipe steer stop`.

use std::path::PathBuf;

use clap::Args;
use program::failure::Failure;
use program::output;

use super::super::live_controllers::kernel_is_able;
use super::read;
use rollout::steer::Stopped;

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
    kernel_is_able()?;
    match rollout::steer::stop(&policy).map_err(Failure::failed)? {
        Stopped::Taken => {
            output::note("the policy was removed; new connections have the default controller")
        }
        Stopped::TakenFromProcess => {
            return Err(Failure::failed(
                "the policy was removed, but its process is running and puts it in force again: end that process",
            ));
        }
        Stopped::Gone => output::note(
            "the control group does not exist any more; policies of removed groups were removed",
        ),
        Stopped::Nothing => output::note("there is no policy to remove"),
    }
    Ok(())
}
