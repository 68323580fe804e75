//! The common options of the commands that run studies: engines, length, and output.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;
use lab::Cancel;
use program::awake_option::AwakeOption;
use program::output;
use program::usage;
use program::work_bar::WorkBar;
use proof::study::{Length, Shelf};
use studies::runs::{self, Batch, Findings};
use tables::numbers;

use crate::options::engines::Engines;

/// How studies are run.
#[derive(Debug, Args)]
pub struct StudyOptions {
    /// Engines: sim, quic, linux, or all; each runs only what it can show
    #[arg(
        long,
        value_name = "ENGINE",
        value_delimiter = ',',
        default_value = "sim"
    )]
    engine: Vec<Engines>,
    /// Run fewer points for a shorter time; do not cite the result
    #[arg(long)]
    pub quick: bool,
    /// Directory with the scenarios [default: the built-in scenarios]
    #[arg(long, value_name = "DIR")]
    pub scenarios: Option<PathBuf>,
    /// Number of runs at a time [default: the number of processors; 1 in real time]
    #[arg(long, value_name = "N", value_parser = usage::at_least_one)]
    jobs: Option<NonZeroUsize>,
    #[command(flatten)]
    pub awake: AwakeOption,
    /// List the names and the engines that can show each; run nothing
    #[arg(long)]
    pub list: bool,
    /// Print only the result and errors
    #[arg(long)]
    quiet: bool,
}

impl StudyOptions {
    /// The requested engines, each once, in the order in which they run.
    pub fn engines(&self) -> Vec<lab::EngineKind> {
        Engines::united(&self.engine)
    }

    /// The length of the studies.
    pub fn length(&self) -> Length {
        if self.quick {
            Length::Quick
        } else {
            Length::Whole
        }
    }

    /// The place of the studies, which Fullpipe has under this name.
    pub fn shelf(&self, name: &'static str) -> Shelf {
        Shelf::or_built_in(self.scenarios.as_deref(), name)
    }

    /// Runs a batch and shows its progress. `done` gets the findings of each study as soon as it is complete.
    pub fn run(&self, batch: &Batch, cancel: &Cancel, done: impl FnMut(usize, Findings)) {
        let runs = batch.runs();
        if runs.is_empty() || cancel.is_cancelled() {
            return;
        }
        if !self.quiet {
            let count = numbers::count(runs.len() as u64, "run");
            output::note(format_args!("engine {}: {count}", batch.engine));
        }
        let bar = WorkBar::of_runs(batch.engine.name(), batch.engine, &runs, self.quiet);
        let jobs = runs::jobs(self.jobs, batch.engine);
        batch.run(jobs, &|event| bar.show(&event), cancel, done);
        bar.finish();
    }
}
