//! `fullpipe-proof variants`: finds the studies that run only the current BBR, and runs them with that of Linux 4.19.

use std::collections::HashMap;

use clap::Args;
use lab::EngineKind;
use program::command_line;
use program::failure::Failure;
use program::interrupt;
use program::output;
use proof::claims::{self, Claim, Table};
use proof::figures::{self, STUDIES_DIRECTORY};
use proof::study::{Length, Shelf, Source};
use proof::variants::{self, Comparison, MARKS};
use studies::runs::{Batch, Findings};
use tables::numbers;

use crate::files::machine;
use crate::options::document_options::DocumentOptions;
use crate::options::work_options::WorkOptions;

/// Find the studies of claims and figures that run only the current BBR, and compare it with that of Linux 4.19
#[derive(Debug, Args)]
#[command(after_help = "\
Each such study runs twice, with the same seeds. The result has the expectations of claims that hold with one BBR and not \
with the other, and for each study the smallest, the median and the largest ratio of its points: goodput and median RTT of \
BBR's flows with Linux 4.19, over those of the current BBR. docs/results/variants.md has the last results.")]
pub struct Options {
    /// Names of studies of claims, or of figures [default: all]
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// Run fewer points for a shorter time; do not cite the result
    #[arg(long)]
    quick: bool,
    #[command(flatten)]
    work: WorkOptions,
    #[command(flatten)]
    document: DocumentOptions,
}

/// A study of claims or of a figure.
struct Studied {
    name: String,
    is_figure: bool,
    runs: Source,
}

/// Runs the studies with each BBR, and compares them.
pub fn run(options: &Options) -> Result<(), Failure> {
    let length = if options.quick {
        Length::Quick
    } else {
        Length::Whole
    };
    if options.document.is_asked() && (options.quick || !options.names.is_empty()) {
        return Err(Failure::usage(
            "--document: the section has all studies in full; leave out --quick and the names of studies",
        ));
    }
    let document = options.document.document(MARKS)?;
    let table = Table::open(&Shelf::built_in("claims")).map_err(Failure::usage)?;
    let claims = table.choose(&[]).map_err(Failure::usage)?;
    let studied = studied(&claims, &options.names, length)?;
    let mut batch = Batch::new(EngineKind::Sim);
    let mut of_today = Vec::new();
    for one in &studied {
        let plan = one.runs.plan(EngineKind::Sim).map_err(Failure::usage)?;
        if let Some(mut then) = variants::of_its_time(&plan) {
            one.runs.add_to(&mut batch).map_err(Failure::usage)?;
            then.keep_samples(one.runs.keeps_samples());
            batch.add(&one.name, then).map_err(Failure::usage)?;
            of_today.push(one);
        }
    }
    if of_today.is_empty() {
        return output::result("each of these studies runs the BBR of Linux 4.19, or none");
    }
    let (_runtime, cancel) = interrupt::cancel()?;
    let mut waiting: HashMap<usize, Findings> = HashMap::new();
    let mut comparisons: Vec<(usize, Comparison<'_>)> = Vec::new();
    let mut failed = Vec::new();
    options.work.run(&batch, &cancel, |plan, findings| {
        let runs = findings.failed.iter();
        failed.extend(runs.map(|(run, reason)| format!("{run}: {reason}")));
        let (place, other) = (plan / 2, plan ^ 1);
        let (Some(other), Some(one)) = (waiting.remove(&other), of_today.get(place)) else {
            waiting.insert(plan, findings);
            return;
        };
        let pair = if plan % 2 == 0 {
            (&findings, &other)
        } else {
            (&other, &findings)
        };
        let of_claims = (!one.is_figure).then_some(claims.as_slice());
        let comparison = Comparison::of(&one.name, of_claims, pair, length);
        comparisons.push((place, comparison));
    });
    if cancel.is_cancelled() {
        return Err(Failure::interrupted("nothing is kept"));
    }
    let count = failed.len() as u64;
    output::failed(failed);
    if count > 0 {
        let count = numbers::count(count, "run");
        return Err(Failure::failed(format_args!("{count} failed")));
    }
    comparisons.sort_by_key(|(place, _)| *place);
    let comparisons: Vec<_> = comparisons.into_iter().map(|(_, one)| one).collect();
    // The results are printed even if the document cannot be written.
    let kept = document.map(|document| {
        let (command, version) = (command_line::again(), machine::version(EngineKind::Sim));
        let origin = format!("Made with `{command}`; {version}.");
        let section = variants::section(&comparisons, &origin);
        document.keep(&section)
    });
    let shown = output::result(variants::table(&comparisons, output::width()).trim_end());
    Failure::all([shown].into_iter().chain(kept))
}

/// The studies with these names, or all: those of claims, each once, and then those of figures.
fn studied(claims: &[&Claim], names: &[String], length: Length) -> Result<Vec<Studied>, Failure> {
    let shelf = Shelf::built_in("claims");
    let of_claims = claims::studies(&shelf, claims, length).map_err(Failure::usage)?;
    let mut all: Vec<Studied> = of_claims
        .into_iter()
        .filter(|of| of.engines.contains(&EngineKind::Sim))
        .map(|of| Studied {
            name: of.name.to_owned(),
            is_figure: false,
            runs: of.runs,
        })
        .collect();
    for figure in figures::ALL {
        let mut runs = figure
            .runs(&Shelf::built_in(STUDIES_DIRECTORY), length)
            .map_err(Failure::usage)?;
        runs.keep_samples(false);
        all.push(Studied {
            name: figure.name.to_owned(),
            is_figure: true,
            runs,
        });
    }
    if let Some(name) = (names.iter()).find(|name| !all.iter().any(|one| one.name == **name)) {
        return Err(Failure::usage(format_args!(
            "no study is called {name}; fullpipe-proof claims --list and figures --list have their names"
        )));
    }
    all.retain(|one| names.is_empty() || names.contains(&one.name));
    Ok(all)
}
