//! `fullpipe steer rollback`.

use std::fmt::Display;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use clap::Args;
use experiment::policy::Policy;
use fleet::steer;
use scenario::others;

use super::{check_length, read_text};
use crate::failure::Failure;
use crate::files::whole;
use crate::terminal::output;

/// Put the previous policy in force again, as recorded in the journal
#[derive(Debug, Args)]
#[command(after_help = "\
The file gets that policy, and the process that has a policy in force reads it. A second rollback \
undoes the first.

Example:
  fullpipe steer rollback policy.toml --journal steer.jsonl")]
pub struct Options {
    /// File of the policy
    #[arg(value_name = "POLICY.toml")]
    policy: PathBuf,
    /// Journal of the process that has the policy in force
    #[arg(long, value_name = "FILE")]
    journal: PathBuf,
}

/// Runs the command.
pub fn run(options: &Options) -> Result<(), Failure> {
    let (file, journal) = (options.policy.as_path(), options.journal.as_path());
    let wrong =
        |why: &dyn Display| Failure::usage(format_args!("--journal {}: {why}", journal.display()));
    let history = steer::history(journal).map_err(|error| wrong(&error))?;
    let before = history
        .before
        .ok_or_else(|| wrong(&"has no policy before the present one"))?;
    check_length(&before).map_err(|error| wrong(&format_args!("the previous policy {error}")))?;
    let policy = Policy::parse(&before).map_err(|error| wrong(&error))?;
    let last = Policy::parse(&history.last).map_err(|error| wrong(&error))?;
    if policy.cgroup != last.cgroup {
        return Err(wrong(&"the previous policy was for another control group"));
    }
    replace(file, &policy, &history.last, history.file.as_deref())?;
    tell(file, &policy)
}

/// Writes the policy into the file. If the journal does not have the file's present content, a copy of that content is
/// kept. A file that is no policy of this control group, or is not the journal's own file, is left alone.
fn replace(file: &Path, policy: &Policy, last: &str, own: Option<&Path>) -> Result<(), Failure> {
    let wrong = |why: &dyn Display| Failure::usage(format_args!("{}: {why}", file.display()));
    whole::check(file).map_err(|error| wrong(&error))?;
    others::check_links(file).map_err(|error| wrong(&error))?;
    let text = read_text(file).map_err(|error| match error.kind() {
        ErrorKind::NotFound => wrong(&"does not exist; give the file of the policy in force"),
        _ => wrong(&format_args!("{error}; it was not changed")),
    })?;
    if let Some(own) = own
        && !is_same(file, own)
    {
        return Err(wrong(&format_args!(
            "the journal is of the policy in {}; give that file",
            own.display()
        )));
    }
    if text != last && text != policy.text {
        match Policy::group_in(&text) {
            Some(group) if group == policy.cgroup => {}
            Some(_) => {
                return Err(wrong(
                    &"is for another control group than the journal's policies; it was not changed",
                ));
            }
            None => return Err(wrong(&"is not a policy; it was not changed")),
        }
        let kept = whole::keep_beside(file, text.as_bytes())?;
        output::note(format_args!(
            "{} was changed after it was put in force; a copy of it is in {}",
            file.display(),
            kept.display()
        ));
    }
    whole::write(file, policy.text.as_bytes())
}

/// Whether two paths lead to the same file.
fn is_same(one: &Path, other: &Path) -> bool {
    let ends = [one, other].map(fs::canonicalize);
    matches!(ends, [Ok(one), Ok(other)] if one == other)
}

/// Lets every process that has a policy in force for the file's control group read the file.
fn tell(file: &Path, policy: &Policy) -> Result<(), Failure> {
    let file = file.display();
    let steerers = steer::steers(policy).map_err(|error| {
        Failure::failed(format_args!(
            "{file} has the previous policy again, but the processes that have a policy in force cannot be found: {error}"
        ))
    })?;
    if steerers.is_empty() {
        output::note(format_args!(
            "{file} has the previous policy again; no process has a policy in force: run `fullpipe steer {file}`"
        ));
    }
    let mut untold = None;
    for steerer in steerers {
        let process = steerer.process();
        match steerer.reload() {
            Ok(()) => output::note(format_args!(
                "{file} has the previous policy again; process {process} reads it, and its journal has the result"
            )),
            Err(error) => {
                untold = Some(Failure::failed(format_args!(
                    "{file} has the previous policy again, but process {process} cannot be asked to read it: {error}"
                )));
            }
        }
    }
    untold.map_or(Ok(()), Err)
}
