//! `fullpipe steer learn DIR`.

use std::path::PathBuf;

use clap::Args;
use experiment::MAX_NETWORKS;
use experiment::learn::{self, Context, NoPolicy};
use experiment::policy::Policy;
use program::failure::Failure;
use program::output;
use rollout::study::read;
use rollout::study::report::tables::hints;

use crate::options::client_names::Names;

/// Write a policy from the results of a study, with the evidence beside each rule
#[derive(Debug, Args)]
#[command(after_help = "\
A group of clients gets a rule if another controller than that of the rest is significantly better there, after correction for all \
groups, and by 3 % or more. All groups that are better with the same controller have one rule. Read the policy before it is put in force.

Examples:
  fullpipe steer learn clients > policy.toml
  fullpipe steer learn clients --as asn.csv --region regions.txt > policy.toml
  fullpipe steer learn clients --earlier policy.toml > next.toml")]
pub struct Options {
    /// Directory of the study; for a study on several machines, the directory of each
    #[arg(value_name = "DIR", required = true)]
    directories: Vec<PathBuf>,
    #[command(flatten)]
    names: Names,
    /// Keep the rules of this policy that the study does not contradict
    #[arg(long, value_name = "POLICY.toml")]
    earlier: Option<PathBuf>,
}

/// Writes the policy.
pub fn run(options: &Options) -> Result<(), Failure> {
    let earlier = options.earlier.as_deref().map(super::read).transpose()?;
    let mut lookup = options.names.lookup()?;
    let read = read(&options.directories, Vec::new(), &mut lookup).map_err(Failure::usage)?;
    for of in &read.left_out {
        output::note(of);
    }
    let findings = read.gathered.findings();
    if let Some(hint) = hints(&read, &findings) {
        output::note(hint);
    }
    let regions = lookup.regions.as_ref();
    let regions = regions
        .map(|regions| regions.networks(MAX_NETWORKS))
        .transpose();
    let about = &read.place.about;
    let beside = Context {
        earlier: earlier.as_ref(),
        regions: regions
            .map_err(|error| Failure::usage(format_args!("--region: {error}")))?
            .unwrap_or_default(),
        ended: about.ended.as_deref().filter(|_| !read.place.is_over()),
    };
    let text = learn::policy(&read.place.plan, &findings, &beside);
    let text = text.map_err(|nothing| match nothing {
        NoPolicy::Distrust => Failure::failed(format_args!("no policy: {}", findings.verdict)),
        NoPolicy::TooLittle => Failure::failed("no policy: the study has too few data yet"),
    })?;
    if let Ok(policy) = Policy::parse(&text) {
        super::tell_of_explorers(&policy);
    }
    output::result(text.trim_end())
}
