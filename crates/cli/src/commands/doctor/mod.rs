//! `fullpipe doctor`: checks the abilities of this machine, and names the fix for each missing one.

mod engines;
mod finding;
mod kernel;
mod network;
mod programs;

use clap::Args;
use program::failure::Failure;
use program::output;
use serde_json::json;

use finding::Finding;

/// Say what this machine can do, and how to mend what it cannot
#[derive(Debug, Args)]
#[command(after_help = "\
The command tries each part, and changes nothing on the machine. `ok` works here. `lacking` does not, and the line below says what \
to do. `note` works, but could be better.

The exit code is 0 if everything works that needs no privilege: the engines sim and quic, and watch. docs/doctor.md says more.")]
pub struct Options {
    /// Print only the findings on stdout, as JSON
    #[arg(long)]
    json: bool,
}

/// Checks each part, and prints the findings.
pub fn run(options: &Options) -> Result<(), Failure> {
    let mut findings = engines::plain();
    let place = findings.len();
    findings.extend(kernel::all());
    findings.extend(programs::all());
    findings.extend(network::all());
    // This check comes last, because it may move this process into a user namespace, in which root has no rights over
    // the machine.
    findings.insert(place, engines::linux());
    let broken: Vec<&str> = findings
        .iter()
        .filter(|one| one.is_broken())
        .map(|one| one.name)
        .collect();
    if options.json {
        output::json(&json!({
            "version": env!("CARGO_PKG_VERSION"),
            "works": broken.is_empty(),
            "findings": findings.iter().map(Finding::json).collect::<Vec<_>>(),
        }))?;
    } else {
        for finding in &findings {
            output::result(finding.text())?;
        }
    }
    if broken.is_empty() {
        return Ok(());
    }
    Err(Failure::failed(format_args!(
        "this needs no privilege, and does not work: {}",
        broken.join(", ")
    )))
}
