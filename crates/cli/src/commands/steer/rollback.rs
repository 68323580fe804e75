//! `fullpipe steer rollback`.

use std::path::{Path, PathBuf};

use clap::Args;
use experiment::policy::Policy;
use fleet::steer;
use rustix::process::{Pid, Signal, kill_process};

use super::read_text;
use crate::failure::Failure;
use crate::files::whole;
use crate::terminal::output;

/// Put the policy in force again that was before the last one, as the journal has it
#[derive(Debug, Args)]
#[command(after_help = "\
The file gets that policy, and the process that has a policy in force reads it. Twice is back again: then the last policy is the one \
before.

Example:
  fullpipe steer rollback policy.toml --journal steer.jsonl")]
pub struct Options {
    /// The policy's file
    #[arg(value_name = "POLICY.toml")]
    policy: PathBuf,
    /// The journal of the process that has it in force
    #[arg(long, value_name = "FILE")]
    journal: PathBuf,
}

/// Does it.
pub fn run(options: &Options) -> Result<(), Failure> {
    let (file, journal) = (options.policy.as_path(), options.journal.as_path());
    let wrong = |why: &dyn std::fmt::Display| {
        Failure::usage(format_args!("--journal {}: {why}", journal.display()))
    };
    let history = steer::history(journal).map_err(|error| wrong(&error))?;
    let before = history
        .before
        .ok_or_else(|| wrong(&"has no policy before the last one"))?;
    let policy = Policy::parse(&before).map_err(|error| wrong(&error))?;
    let last = Policy::parse(&history.last).map_err(|error| wrong(&error))?;
    if policy.cgroup != last.cgroup {
        return Err(wrong(&"the policy before was for another control group"));
    }
    keep(file, &history.last)?;
    whole::write(file, before.as_bytes())?;
    let Some(process) = steer::steers(&policy) else {
        output::note(format_args!(
            "{0} has the policy before again; nobody has one in force: `fullpipe steer {0}` does",
            file.display()
        ));
        return Ok(());
    };
    let pid = Pid::from_raw(process.cast_signed());
    let told = pid.map(|pid| kill_process(pid, Signal::HUP));
    if let Some(Err(error)) = told {
        return Err(Failure::failed(format_args!(
            "{} has the policy before again, but process {process} cannot be told to read it: {error}",
            file.display()
        )));
    }
    output::note(format_args!(
        "{} has the policy before again; process {process} reads it, and its journal says what came of it",
        file.display()
    ));
    Ok(())
}

/// What the file has is nowhere else if it was never in force.
fn keep(file: &Path, last: &str) -> Result<(), Failure> {
    let Ok(text) = read_text(file) else {
        return Ok(());
    };
    if text != last {
        let kept = whole::write_beside(file, text.as_bytes())?;
        output::note(format_args!(
            "{} was changed since it was in force; what it said is in {}",
            file.display(),
            kept.display()
        ));
    }
    Ok(())
}
