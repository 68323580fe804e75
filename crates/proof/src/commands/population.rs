//! `fullpipe-proof population`: figure 9 under each version of the population's assumptions.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;
use lab::EngineKind;
use program::command_line;
use program::failure::Failure;
use program::interrupt;
use program::output;
use program::usage;
use proof::population::{self, MARKS};
use proof::study::{Length, Population, Shelf, Source};
use studies::runs::Batch;
use tables::numbers;

use crate::files::machine;
use crate::options::document_options::DocumentOptions;
use crate::options::work_options::WorkOptions;

/// Compare the median RTT with BBR and with CUBIC under each version of the population's assumptions
#[derive(Debug, Args)]
#[command(after_help = "\
Each row is a region in a version of the population: the median RTT of its users with CUBIC, and by how much it is lower \
with the BBR of Linux 4.19 and with the current BBR. \"–\" says that no user has a value. The versions are those of \
population.toml, which docs/population.md explains; docs/results/population.md has the last results.")]
pub struct Options {
    /// Directory with the population.toml [default: the built-in population]
    #[arg(long, value_name = "DIR")]
    scenarios: Option<PathBuf>,
    /// Number of members
    #[arg(long, value_name = "N", default_value = "1625", value_parser = usage::at_least_one)]
    members: NonZeroUsize,
    #[command(flatten)]
    work: WorkOptions,
    #[command(flatten)]
    document: DocumentOptions,
}

/// Runs every version.
pub fn run(options: &Options) -> Result<(), Failure> {
    let document = options.document.document(MARKS)?;
    let shelf = Shelf::or_built_in(options.scenarios.as_deref(), "");
    let versions = Source::versions(&shelf).map_err(Failure::usage)?;
    let population = Population {
        members: options.members.get(),
        quick: options.members.get(),
        versions,
    };
    let source = Source::of_population(&population, &shelf, Length::Whole);
    let mut batch = Batch::new(EngineKind::Sim);
    source
        .and_then(|source| source.add_to(&mut batch))
        .map_err(Failure::usage)?;
    let (_runtime, cancel) = interrupt::cancel()?;
    let mut found = None;
    options
        .work
        .run(&batch, &cancel, |_, findings| found = Some(findings));
    let Some(findings) = found.filter(|_| !cancel.is_cancelled()) else {
        return Err(Failure::interrupted("nothing is kept"));
    };
    if let Some((run, reason)) = findings.failed.first() {
        let count = numbers::count(findings.failed.len() as u64, "run");
        return Err(Failure::failed(format_args!(
            "{count} failed; {run}: {reason}"
        )));
    }
    // The results are printed even if the document cannot be written.
    let kept = document.map(|document| {
        let (command, version) = (command_line::again(), machine::version(EngineKind::Sim));
        let members = options.members;
        let origin = format!("Made with `{command}`, {members} members, seed 1; {version}.");
        let section = population::section(&findings, &origin);
        document.keep(&section)
    });
    let shown = output::result(population::table(&findings, output::width()).trim_end());
    Failure::all([shown].into_iter().chain(kept))
}
