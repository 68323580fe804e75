//! `fullpipe-proof calibrate`: compares the same scenarios on two engines.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;
use lab::{Cancel, EngineKind, Linux};
use program::awake_option::AwakeOption;
use program::command_line;
use program::failure::Failure;
use program::interrupt;
use program::output;
use program::results_directory;
use program::usage;
use program::whole;
use program::work_bar::WorkBar;
use proof::calibrate::{
    self, Calibration, Choice, Comparison, Kept, Made, Observation, Pair, Side, WildMatch,
};
use proof::study::Shelf;
use record::Record;
use studies::runs::{self, Execution, Run, Store};
use tables::numbers;

use crate::files::document::Document;
use crate::files::machine;
use crate::files::records::Records;

/// The default number of runs of each case.
const DEFAULT_REPEATS: u64 = 3;

/// Compare two engines, case by case
#[derive(Debug, Args)]
#[command(after_help = "\
The same command continues a calibration that was ended. Engines in real time run alone, one run at a time.

The command ends with a table of medians. The directory has a page with all curves (calibration-linux-sim.html) and every \
run (calibration-linux-sim.parquet), named by the engines. The exit code is 0 if the cases' files explain every difference. \
docs/calibration.md says what is compared, and how.")]
pub struct Options {
    /// Patterns of the names of cases: 'bbr1-*' [default: all]
    #[arg(value_name = "CASE")]
    cases: Vec<String>,
    /// The two engines; the second is compared with the first. If both are the same, everything runs twice, with
    /// different seeds
    #[arg(
        long,
        value_name = "ENGINE,ENGINE",
        value_delimiter = ',',
        num_args = 1,
        default_value = "linux,sim"
    )]
    engines: Vec<EngineKind>,
    /// Judge Fullpipe's controller in the kernel instead: bbr1 against Linux's own bbr, in separate cases; bbr3 against
    /// the simulator's bbr3, in the cases for bbr1. It takes root and a build with --features kernel
    #[arg(long, value_name = "CONTROLLER", conflicts_with = "engines")]
    kernel: Option<InKernel>,
    /// Directory with the files of cases [default: the built-in cases]
    #[arg(long, value_name = "DIR")]
    scenarios: Option<PathBuf>,
    /// Run only the cases that are marked as quick, once each; do not cite the result
    #[arg(long)]
    quick: bool,
    /// Runs of each case on each engine, each with another seed; with --kernel bbr3, the simulator runs five times as many
    /// [default: 3; with --quick 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1000))]
    repeats: Option<u64>,
    /// Directory for results
    #[arg(long, value_name = "DIR", default_value = "calibration")]
    out: PathBuf,
    /// Accept measurements of this engine from an older or newer fullpipe, after a change that does not affect them
    #[arg(long, value_name = "ENGINE")]
    reuse: Vec<EngineKind>,
    /// Also keep the record of each run, as `fullpipe run --out` does
    #[arg(long)]
    records: bool,
    /// Replace the table in this document, between `<!-- calibrate: begin -->` and `<!-- calibrate: end -->`
    #[arg(long, value_name = "FILE")]
    document: Option<PathBuf>,
    /// Number of runs at a time [default: the number of processors; 1 in real time]
    #[arg(long, value_name = "N", value_parser = usage::at_least_one)]
    jobs: Option<NonZeroUsize>,
    #[command(flatten)]
    awake: AwakeOption,
    /// List the cases and the time that they take; run nothing
    #[arg(long)]
    list: bool,
    /// Print only the comparisons on stdout, as JSON
    #[arg(long)]
    json: bool,
    /// Print only the result and errors
    #[arg(long)]
    quiet: bool,
}

/// Fullpipe's controller in the kernel that is judged.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum InKernel {
    Bbr1,
    Bbr3,
}

impl InKernel {
    fn pair(self) -> Pair {
        match self {
            InKernel::Bbr1 => Pair::bbr1_in_kernel(),
            InKernel::Bbr3 => Pair::bbr3_in_kernel(),
        }
    }

    /// The marks of its section in a document. One document may have both.
    const fn marks(self) -> report::Marks {
        match self {
            InKernel::Bbr1 => report::Marks("calibrate kernel bbr1"),
            InKernel::Bbr3 => report::Marks("calibrate kernel bbr3"),
        }
    }
}

/// Runs the missing runs, and compares all results.
pub fn run(options: &Options) -> Result<(), Failure> {
    let calibration = calibration(options)?;
    if options.list {
        return list(&calibration);
    }
    if options.kernel.is_some() && !Linux::has_own_controllers() {
        return Err(Failure::usage(
            "--kernel: this fullpipe-proof has no programs for the kernel; in a clone, build it with clang, libelf and zlib: \
             cargo build --release -p fullpipe-proof --features kernel",
        ));
    }
    let marks = options.kernel.map_or(calibrate::MARKS, InKernel::marks);
    let document = Document::asked(options.document.as_deref(), marks)?;
    let mut store = results_directory::open(&options.out, |_| true)?;
    let records = options.records.then(|| Records::within(&options.out));
    let sides = calibration.sides.each_ref();
    let _awake = (options.awake).prepare(&sides.map(|side| side.contender.engine))?;
    let [first, second] = sides.map(|side| &side.contender.name);
    if first == second && !options.quiet {
        output::note(format_args!(
            "engine {first} on both sides: everything runs twice, with different seeds; differences are due to chance"
        ));
    }
    let build = program::build()?;
    let (_runtime, cancel) = interrupt::cancel()?;
    let mut failed = Vec::new();
    for sides in calibration.in_order() {
        let records = records.as_ref();
        failed.extend(execute(
            options, &sides, &build, &mut store, records, &cancel,
        )?);
    }
    output::failed(&failed);
    let sides = calibration.sides.iter();
    let left: usize = sides
        .map(|side| missing(options, side, &build, &store).len())
        .sum();
    if cancel.is_cancelled() && left > 0 {
        return Err(Failure::interrupted(&format!(
            "{} left; repeat the command to continue",
            numbers::count(left as u64, "run")
        )));
    }
    let shown = show(options, &calibration, &store, document, &failed);
    let kept = records.map(|records| records.finish());
    Failure::all([shown].into_iter().chain(kept))
}

/// The two sides of the comparison.
fn pair(options: &Options) -> Result<Pair, Failure> {
    if let Some(kernel) = options.kernel {
        return Ok(kernel.pair());
    }
    let engines: [EngineKind; 2] = options.engines.as_slice().try_into().map_err(|_| {
        let (first, second) = (EngineKind::Linux, EngineKind::Sim);
        Failure::usage(format_args!(
            "--engines: give two engines, such as {first},{second}"
        ))
    })?;
    Ok(Pair::of_engines(engines))
}

/// The selected cases on the selected engines.
fn calibration(options: &Options) -> Result<Calibration, Failure> {
    let pair = pair(options)?;
    let engines = pair.contenders.each_ref().map(|one| one.engine);
    if let Some(reused) = options.reuse.iter().find(|one| !engines.contains(one)) {
        return Err(Failure::usage(format_args!(
            "--reuse {reused}: is not one of the two engines"
        )));
    }
    let shelf = Shelf::or_built_in(options.scenarios.as_deref(), pair.shelf);
    let patterns = options.cases.iter().map(|one| WildMatch::new(one));
    let choice = Choice {
        patterns: patterns.collect(),
        is_quick: options.quick,
    };
    let usual = if options.quick { 1 } else { DEFAULT_REPEATS };
    let repeats = options.repeats.unwrap_or(usual);
    let calibration = Calibration::open(&shelf, &choice, &pair, repeats).map_err(Failure::usage)?;
    for case in &calibration.cases {
        if let Some(reason) = &case.skipped {
            output::note(format_args!("skipped: {}: {reason}", case.name));
        }
    }
    Ok(calibration)
}

fn list(calibration: &Calibration) -> Result<(), Failure> {
    let rows = calibration.cases.iter().map(|case| {
        let duration = case.scenario.duration.map(|duration| duration.to_string());
        let duration = duration.unwrap_or_else(|| "–".to_owned());
        let path = report::describe_hops(&case.scenario);
        vec![case.name.clone(), duration, path]
    });
    let table = report::Table {
        text: vec![0, 2],
        ..report::Table::new(["case", "lasts", "path"], rows)
    };
    output::result(table.lines(output::width()).trim_end())?;
    let minutes = calibration.real_time_s() / 60.0;
    output::note(format_args!(
        "{}, {} each{}: {} in real time",
        numbers::count(calibration.cases.len() as u64, "case"),
        numbers::count(calibration.repeats, "run"),
        calibration.exception(),
        numbers::count(minutes.round() as u64, "minute")
    ));
    Ok(())
}

/// The missing runs of a side.
fn missing<'s>(
    options: &Options,
    side: &'s Side,
    build: &str,
    store: &Store<Kept>,
) -> Vec<&'s Run> {
    let engine = side.contender.engine;
    let now = made(engine, build);
    side.missing(store, &now, options.reuse.contains(&engine))
}

/// Runs the missing runs of the sides, which have one engine and take turns. Prints the runs that failed.
fn execute(
    options: &Options,
    sides: &[&Side],
    build: &str,
    store: &mut Store<Kept>,
    records: Option<&Records>,
    cancel: &Cancel,
) -> Result<Vec<String>, Failure> {
    let mut runs: Vec<(&Run, &Side)> = Vec::new();
    for side in sides {
        let missing = missing(options, side, build, store);
        let (name, all) = (&side.contender.name, side.plan.runs.len());
        if !options.quiet {
            output::note(format_args!(
                "engine {name}: {} of {} to do; results in {}",
                missing.len(),
                numbers::count(all as u64, "run"),
                options.out.display()
            ));
        }
        runs.extend(missing.into_iter().map(|run| (run, *side)));
    }
    runs.sort_by_key(|(run, _)| (run.repeat, run.point));
    let missing: Vec<&Run> = runs.iter().map(|(run, _)| *run).collect();
    let side_of = |run: &Run| {
        let found = runs.iter().find(|(one, _)| one.key == run.key);
        found.expect("a run is of a side").1.contender.name.as_str()
    };
    let Some(engine) = sides.first().map(|side| side.contender.engine) else {
        return Ok(Vec::new());
    };
    let names: Vec<&str> = sides.iter().map(|side| side.plan.name.as_str()).collect();
    let bar = WorkBar::of_runs(&names.join(", "), engine, &missing, options.quiet);
    let kept = |run: &Run, record: Record| {
        if let Some(records) = records {
            let (case, side) = (&record.scenario.name, in_file_names(side_of(run)));
            records.keep(&format!("{case}-{side}-{}", run.repeat), &record);
        }
        Kept {
            made: made(engine, build),
            observation: Observation::of(&record),
        }
    };
    let made_by = engine.engine();
    let execution = Execution {
        engine: made_by.as_ref(),
        jobs: runs::jobs(options.jobs, engine),
        repeats: Some(runs::REPEATS),
        watch: &|event| bar.show(&event),
        cancel,
    };
    let failed = runs::resume(&missing, store, &execution, kept).map_err(Failure::failed)?;
    bar.finish();
    let told = |one: &runs::Failed<'_>| {
        format!("{} on {}: {}", one.run.name, side_of(one.run), one.reason)
    };
    Ok(failed.iter().map(told).collect())
}

fn in_file_names(side: &str) -> String {
    side.replace(' ', "-")
}

fn made(engine: EngineKind, build: &str) -> Made {
    Made {
        build: build.to_owned(),
        version: machine::version(engine),
        at: machine::now(),
        load: machine::load(),
    }
}

/// Writes the files of the comparison, and prints it.
fn show(
    options: &Options,
    calibration: &Calibration,
    store: &Store<Kept>,
    document: Option<Document<'_>>,
    failed: &[String],
) -> Result<(), Failure> {
    let compared = calibration.compared(store);
    let comparisons: Vec<Comparison<'_>> = compared.iter().map(|(one, _)| one.clone()).collect();
    let contenders = calibration.sides.each_ref().map(|side| &side.contender);
    let engines = contenders.map(|one| one.name.as_str());
    let versions = contenders.map(|one| machine::version(one.engine));
    let origin = command_line::origin();
    let notes = calibration.notes(store, &origin.command);
    let page = calibrate::page(engines, &compared, &notes, &origin);
    let mut table = Vec::new();
    calibrate::write_parquet(&mut table, calibration, store).map_err(Failure::failed)?;
    // The names contain the engines, so other comparisons do not replace these files.
    let file = |kind: &str| {
        let name = format!("calibration-{}.{kind}", in_file_names(&engines.join("-")));
        options.out.join(name)
    };
    let (page_file, table_file) = (file("html"), file("parquet"));
    // The results are printed even if a file cannot be written.
    let mut ends = vec![
        whole::write(&page_file, page.as_bytes()),
        whole::write(&table_file, &table),
    ];
    ends.extend(
        document.map(|document| document.keep(&calibrate::section(engines, &comparisons, &notes))),
    );
    let is_written = ends.iter().all(Result::is_ok);
    let versions = versions.each_ref().map(String::as_str);
    ends.push(output::show(
        options.json,
        || calibrate::json(calibration, &comparisons, versions, failed),
        |width| calibrate::table(engines, &comparisons, width),
    ));
    if !options.quiet && is_written {
        let (page, table) = (page_file.display(), table_file.display());
        output::note(format_args!("curves: {page}; every run: {table}"));
    }
    let verdict = conclude(&comparisons, failed.len());
    Failure::all([verdict].into_iter().chain(ends))
}

fn conclude(comparisons: &[Comparison<'_>], failed: usize) -> Result<(), Failure> {
    let tally = calibrate::tally(comparisons);
    match (failed, tally.missing, tally.differs) {
        (0, 0, 0) => Ok(()),
        (0, 0, differs) => Err(Failure::failed(format_args!(
            "cases that differ without an explanation: {differs} of {}",
            comparisons.len()
        ))),
        (failed, _, _) => Err(Failure::failed(format_args!(
            "{} failed; repeat the command to try again",
            numbers::count(failed as u64, "run")
        ))),
    }
}
