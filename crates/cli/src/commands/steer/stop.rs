//! `fullpipe steer stop`.

use std::path::PathBuf;

use clap::Args;

use super::read;
use crate::failure::Failure;
use crate::terminal::output;

/// Take away at once what a killed `steer` has left in force until its lease is over
#[derive(Debug, Args)]
pub struct Options {
    /// Its policy: the control group is what counts
    #[arg(value_name = "POLICY.toml")]
    policy: PathBuf,
}

/// Takes it away.
pub fn run(options: &Options) -> Result<(), Failure> {
    let policy = read(&options.policy)?;
    let was_there = fleet::steer::stop(&policy).map_err(Failure::failed)?;
    output::note(if was_there {
        "it is taken away; new connections have the default"
    } else {
        "there is nothing to take away"
    });
    Ok(())
}
