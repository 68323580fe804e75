//! `fullpipe study stop`.

use clap::Args;
use program::failure::Failure;
use program::output;
use rollout::study::stop_routes;

/// Remove the rules and routes of a study by route if both its process and the process that should remove them were
/// killed
#[derive(Debug, Args)]
pub struct Options {}

/// Removes the rules and routes.
pub fn run(_options: &Options) -> Result<(), Failure> {
    match stop_routes().map_err(Failure::failed)? {
        0 => output::note("there is nothing to remove"),
        _ => output::note(
            "the study's rules and routes were removed; new connections have the default controller",
        ),
    }
    Ok(())
}
