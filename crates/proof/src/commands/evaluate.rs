//! `fullpipe-proof evaluate`: the built-in controllers by RFC 9743.

use clap::Args;
use evaluate::{Comparison, Criteria, Evaluation, Extent, REFERENCES, Subject, Work};
use lab::EngineKind;
use program::command_line;
use program::failure::Failure;
use program::interrupt;
use program::output;
use report::{Marks, Table};
use scenario::FlowSpec;
use tables::numbers;

use crate::files::machine;
use crate::options::document_options::DocumentOptions;
use crate::options::work_options::WorkOptions;

/// The marks that enclose the section.
const MARKS: Marks = Marks("evaluate");

/// Evaluate CUBIC, Reno and both BBRs by RFC 9743, in one table
#[derive(Debug, Args)]
#[command(after_help = "\
The rows, verdicts and numbers are those of 'fullpipe evaluate', which docs/evaluate.md explains. Each controller is a reference of the \
others, so one set of runs answers for all. \"–\" is a controller compared with itself, which counts as safe. \
docs/results/evaluate.md has the last results.")]
pub struct Options {
    /// Take 4 seeds and 12 drawn paths instead of 60 and 300
    #[arg(long)]
    quick: bool,
    /// Only these criteria [default: all]
    #[arg(
        long,
        value_name = "NAMES",
        value_delimiter = ',',
        conflicts_with = "document"
    )]
    only: Vec<String>,
    #[command(flatten)]
    work: WorkOptions,
    #[command(flatten)]
    document: DocumentOptions,
}

/// Runs the experiments and judges each controller.
pub fn run(options: &Options) -> Result<(), Failure> {
    let document = options.document.document(MARKS)?;
    let criteria = Criteria::named(&options.only);
    let criteria = criteria.map_err(|unknown| Failure::usage(format_args!("--only: {unknown}")))?;
    let extent = if options.quick {
        Extent::QUICK
    } else {
        Extent::WHOLE
    };
    let subject = Subject::built_in(FlowSpec::new(REFERENCES[0].into()));
    let work = Work::new(&subject, &criteria, extent);
    let (_runtime, cancel) = interrupt::cancel()?;
    let runs = work.runs();
    let evaluations = options.work.watch(EngineKind::Sim, &runs, |jobs, watch| {
        work.run_references(&subject, jobs, watch, &cancel)
    });
    if cancel.is_cancelled() {
        return Err(Failure::interrupted("nothing is kept"));
    }
    let failed = &evaluations[0].failed;
    if let Some(first) = failed.first() {
        let count = numbers::count(failed.len() as u64, "run");
        return Err(Failure::failed(format_args!("{count} failed; {first}")));
    }
    let comparison = Comparison(&evaluations);
    // The results are printed even if the document cannot be written.
    let kept = document.map(|document| {
        let origin = origin(&work, runs.len());
        document.keep(&format!("{origin}\n\n{}", comparison.markdown()))
    });
    let shown = output::result(text(comparison).trim_end());
    Failure::all([shown].into_iter().chain(kept))
}

/// How the results were made.
fn origin(work: &Work, runs: usize) -> String {
    format!(
        "Made with `{}` on engine sim: {} over {}; {}.",
        command_line::again(),
        numbers::count(runs as u64, "run"),
        work.extent(),
        machine::version(EngineKind::Sim)
    )
}

fn text(comparison: Comparison<'_>) -> String {
    let counts = |one: &Evaluation| format!("{}: {}", one.controller, one.counts());
    let counts: Vec<String> = comparison.0.iter().map(counts).collect();
    let width = output::width();
    let counts = report::sentences(counts, width);
    let verdicts = Table {
        elsewhere: "a wider terminal has",
        ..comparison.verdicts()
    };
    format!("{counts}\n{}", verdicts.lines(width))
}
