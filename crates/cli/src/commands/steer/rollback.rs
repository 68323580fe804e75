//! `fullpipe steer rollback`.

use std::fmt::Display;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use clap::Args;
use experiment::policy::Policy;
use files::others;
use program::failure::Failure;
use program::output;
use program::whole;
use rollout::steer;

use crate::options::plan_file::{check_length, read_bytes};

/// Put the previous policy in force again, as recorded in the journal
#[derive(Debug, Args)]
#[command(after_help = "\
The file gets that policy, and the process that has a policy in force reads it. After that \
process has read it, a second rollback undoes the first.

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

pub fn run(options: &Options) -> Result<(), Failure> {
    let (file, journal) = (options.policy.as_path(), options.journal.as_path());
    let wrong =
        |why: &dyn Display| Failure::usage(format_args!("--journal {}: {why}", journal.display()));
    let history = steer::history(journal).map_err(|error| wrong(&error))?;
    let before = history
        .before
        .ok_or_else(|| wrong(&"has no policy before the present one"))?;
    check_length(before.as_bytes())
        .map_err(|error| wrong(&format_args!("the previous policy {error}")))?;
    let parse = |which, text| {
        Policy::parse(text).map_err(|error| wrong(&format_args!("the {which} policy: {error}")))
    };
    let policy = parse("previous", &before)?;
    let last = parse("last", &history.last)?;
    if policy.cgroup != last.cgroup {
        return Err(wrong(&"the previous policy was for another control group"));
    }
    replace(file, &policy, &history.last, history.file.as_deref())?;
    tell(file, &policy)
}

/// Writes the policy into the file. If the journal does not have the file's present content, a copy of that content is
/// kept. `named` is the journal's own file, if the journal names one.
fn replace(file: &Path, policy: &Policy, last: &str, named: Option<&Path>) -> Result<(), Failure> {
    let wrong = |why: &dyn Display| Failure::usage(format_args!("{}: {why}", file.display()));
    others::own_place(file).map_err(|error| wrong(&error))?;
    whole::check(file).map_err(|error| wrong(&error))?;
    let is_own = named.is_some_and(|named| is_same(file, named));
    // If the journal's own file is gone, the policy may have been moved.
    if let Some(named) = named.filter(|named| !is_own && named.exists()) {
        return Err(wrong(&format_args!(
            "the journal belongs to the policy in {}; give that file",
            named.display()
        )));
    }
    match read_bytes(file) {
        Ok(bytes) if [last, &policy.text].map(str::as_bytes).contains(&&*bytes) => {}
        Ok(bytes) => {
            if !is_own {
                check_group(&bytes, policy).map_err(|why| wrong(&why))?;
            }
            let kept = whole::keep_beside(file, &bytes)?;
            output::note(format_args!(
                "{} was changed after it was put in force; a copy of it is in {}",
                file.display(),
                kept.display()
            ));
        }
        Err(error) if error.kind() == ErrorKind::NotFound && is_own => {
            // Only its owner can read a journal that `steer` made. The same holds for a policy from the journal.
            return whole::write_own(file, policy.text.as_bytes());
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Err(wrong(
                &"does not exist; give the file of the policy in force",
            ));
        }
        Err(error) => return Err(wrong(&format_args!("{error}; it was not changed"))),
    }
    whole::write(file, policy.text.as_bytes())
}

/// Checks that a text is a policy for the same control group.
fn check_group(text: &[u8], policy: &Policy) -> Result<(), &'static str> {
    match str::from_utf8(text).ok().and_then(Policy::group_in) {
        Some(group) if group == policy.cgroup => Ok(()),
        Some(_) => {
            Err("is for another control group than the journal's policies; it was not changed")
        }
        None => Err("is not a policy; it was not changed"),
    }
}

/// True if two paths lead to the same file, which may not exist.
fn is_same(one: &Path, other: &Path) -> bool {
    let ends = [one, other].map(others::real);
    matches!(ends, [Ok(one), Ok(other)] if one == other)
}

/// Makes every process that has a policy in force for the file's control group read the file.
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
