//! The common options of the commands that run batches.

use std::num::NonZeroUsize;

use clap::Args;
use lab::{Cancel, EngineKind};
use program::output;
use program::usage;
use program::work_bar::WorkBar;
use studies::runs::{self, Batch, Event, Findings, Run};
use tables::numbers;

/// How batches are run.
#[derive(Debug, Args)]
pub struct WorkOptions {
    /// Number of runs at a time [default: the number of processors; 1 in real time]
    #[arg(long, value_name = "N", value_parser = usage::at_least_one)]
    jobs: Option<NonZeroUsize>,
    /// Print only the result and errors
    #[arg(long)]
    quiet: bool,
}

impl WorkOptions {
    /// Runs a batch and shows its progress. `done` gets the findings of each plan as soon as it is complete.
    pub fn run(&self, batch: &Batch, cancel: &Cancel, done: impl FnMut(usize, Findings)) {
        let runs = batch.runs();
        if runs.is_empty() || cancel.is_cancelled() {
            return;
        }
        self.watch(batch.engine, &runs, |jobs, watch| {
            batch.run(runs::jobs(jobs, batch.engine), watch, cancel, done);
        });
    }

    /// Shows the progress of these runs while `work` does them.
    pub fn watch<T>(
        &self,
        engine: EngineKind,
        runs: &[&Run],
        work: impl FnOnce(Option<NonZeroUsize>, &(dyn Fn(Event) + Sync)) -> T,
    ) -> T {
        if !self.quiet {
            let count = numbers::count(runs.len() as u64, "run");
            output::note(format_args!("engine {engine}: {count}"));
        }
        let bar = WorkBar::of_runs(engine.name(), engine, runs, self.quiet);
        let done = work(self.jobs, &|event| bar.show(&event));
        bar.finish();
        done
    }
}
