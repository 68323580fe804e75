//! `fullpipe study lab CDN.toml`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use cdn::{LabError, Laboratory, POLICY, STUDY, Spec, tables};
use clap::Args;
use lab::EngineKind;
use studies::runs;

use crate::failure::Failure;
use crate::files::document::Document;
use crate::files::{machine, whole};
use crate::options::{command_line, usage};
use crate::terminal::work_bar::WorkBar;
use crate::terminal::{interrupt, output};

/// Study a small CDN that is simulated, and put the truth beside what the study says
#[derive(Debug, Args)]
#[command(after_help = "\
Each client network is simulated with each controller, so that the truth is known: what the other controller would have been for \
the same clients. What the study would have recorded is in DIR/study, and `fullpipe study report DIR/study` evaluates it as any \
study. DIR/policy.toml is what `fullpipe steer learn DIR/study` makes of it, and DIR/systems.txt has the networks of its systems.

Example:
  fullpipe study lab scenarios/cdn.toml --out cdn")]
pub struct Options {
    /// The CDN: its networks, what is fetched, and the controllers
    #[arg(value_name = "CDN.toml")]
    file: PathBuf,
    /// Where the study's data and its policy go; there must be no study yet
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// What all random choices derive from, in place of the file's
    #[arg(long, value_name = "N", value_parser = usage::whole)]
    seed: Option<u64>,
    /// Runs at a time [default: as many as there are processors]
    #[arg(long, value_name = "N", value_parser = usage::at_least_one)]
    jobs: Option<NonZeroUsize>,
    /// Replace the results in this document, between `<!-- cdn: begin -->` and `<!-- cdn: end -->`
    #[arg(long, value_name = "FILE")]
    document: Option<PathBuf>,
    /// Print everything as JSON
    #[arg(long)]
    json: bool,
    /// Print only the result and what went wrong
    #[arg(long)]
    quiet: bool,
}

/// Runs everything, and shows what was found.
pub fn run(options: &Options) -> Result<(), Failure> {
    let name = options.file.display().to_string();
    let wrong = |error: LabError| match error {
        LabError::Spec(error) => Failure::usage(format_args!("{name}: {error}")),
        LabError::Batch(error) => Failure::usage(error),
        error => Failure::failed(error),
    };
    let mut spec = Spec::load(&options.file).map_err(|error| wrong(error.into()))?;
    spec.seed = options.seed.unwrap_or(spec.seed);
    let laboratory = Laboratory::new(spec, &name).map_err(wrong)?;
    let document = Document::asked(options.document.as_deref(), tables::MARKS)?;
    whole::make_directory("--out", &options.out)?;
    if options.out.join(STUDY).exists() {
        return Err(Failure::usage(format_args!(
            "--out {}: there is a study already; give another directory",
            options.out.display()
        )));
    }
    let (_runtime, cancel) = interrupt::cancel()?;
    let batch = laboratory.batch();
    let bar = WorkBar::of_runs("cdn", EngineKind::Sim, &batch.runs(), options.quiet);
    let mut outcomes = laboratory.outcomes();
    let jobs = runs::jobs(options.jobs, EngineKind::Sim);
    batch.run(
        jobs,
        &|event| bar.show(&event),
        &cancel,
        |place, findings| {
            outcomes.take(place, &findings);
        },
    );
    bar.finish();
    if cancel.is_cancelled() {
        return Err(Failure::interrupted("nothing is kept"));
    }
    let found = outcomes
        .finish()
        .and_then(|worlds| worlds.prove(&options.out))
        .map_err(wrong)?;
    if let Some(document) = document {
        let origin = format!(
            "Made with `{}`; {}.",
            command_line::again(),
            machine::version(EngineKind::Sim)
        );
        document.write(&tables::section(&found, &origin))?;
    }
    output::show(options.json, || &found, |width| tables::text(&found, width))?;
    if !options.quiet {
        output::note(format_args!(
            "the policy is in {}",
            options.out.join(POLICY).display()
        ));
    }
    Ok(())
}
