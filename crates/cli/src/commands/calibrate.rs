//! `fullpipe calibrate`: the same scenarios on two engines, side by side.

use std::fs;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::SystemTime;

use clap::Args;
use lab::Cancel;
use record::Record;
use report::Origin;
use studies::calibrate::{
    self, Calibration, Choice, Comparison, Keeping, Kept, Made, Observation, Set, Side, WildMatch,
};
use studies::runs::{Execution, Run, Store};
use studies::study::{Shelf, Text};
use studies::sweep::SweepError;

use crate::failure::Failure;
use crate::files::document::Document;
use crate::files::machine;
use crate::files::program;
use crate::files::results_directory;
use crate::files::whole;
use crate::options::command_line;
use crate::options::usage;
use crate::terminal::interrupt;
use crate::terminal::output;
use crate::terminal::sweep_bar::SweepBar;

/// Where the cases are in Fullpipe's scenarios.
const SHELF: &str = "calibration";

/// The directory of records in a calibration's directory.
const RECORDS: &str = "records";

/// So many failed runs are named.
const NAMED: usize = 10;

/// Runs of each case, if nothing is said.
const REPEATS: u64 = 3;

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
    /// The two engines; the second is judged by the first
    #[arg(
        long,
        value_name = "ENGINE,ENGINE",
        value_delimiter = ',',
        num_args = 1,
        default_value = "linux,sim"
    )]
    engines: Vec<lab::EngineKind>,
    /// The directory with the cases' files [default: those that are built in]
    #[arg(long, value_name = "DIR")]
    scenarios: Option<PathBuf>,
    /// Run only the cases marked as quick, once each; do not cite the result
    #[arg(long)]
    quick: bool,
    /// Runs of each case on each engine, each with another seed [default: 3; with --quick 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1000))]
    repeats: Option<u64>,
    /// Where results go
    #[arg(long, value_name = "DIR", default_value = "calibration")]
    out: PathBuf,
    /// Take over what an older or newer fullpipe measured with this engine, after a change that does not concern it
    #[arg(long, value_name = "ENGINE")]
    reuse: Vec<lab::EngineKind>,
    /// Keep the record of each run too, as run --out does
    #[arg(long)]
    records: bool,
    /// Replace the table in this document, between `<!-- calibrate: begin -->` and `<!-- calibrate: end -->`
    #[arg(long, value_name = "FILE")]
    document: Option<PathBuf>,
    /// Runs at a time [default: as many as there are processors; 1 in real time]
    #[arg(long, value_name = "N", value_parser = usage::at_least_one)]
    jobs: Option<NonZeroUsize>,
    /// List the cases and how long they take, and run none
    #[arg(long)]
    list: bool,
    /// Print the comparisons on stdout as JSON, and nothing else there
    #[arg(long)]
    json: bool,
    /// Print only the result and what went wrong
    #[arg(long)]
    quiet: bool,
}

/// Runs what is not done yet, and compares everything that is.
pub fn run(options: &Options) -> Result<(), Failure> {
    let calibration = calibration(options)?;
    if options.list {
        return list(&calibration);
    }
    let document = options
        .document
        .as_deref()
        .map(|path| Document::read(path, calibrate::MARKS))
        .transpose()?;
    let mut store = results_directory::open(&options.out)?;
    if options.records {
        report::tidy(&options.out.join(RECORDS));
    }
    for engine in &options.engines {
        engine.prepare().map_err(Failure::failed)?;
    }
    let build = program::build()?;
    for side in &calibration.sides {
        if !missing(options, side, &build, &store).is_empty() {
            side.engine.prepare().map_err(Failure::failed)?;
        }
    }
    let (_runtime, cancel) = interrupt::cancel()?;
    let mut failed = Vec::new();
    for place in order(&calibration) {
        if let Some(side) = calibration.sides.get(place) {
            failed.extend(execute(options, side, &build, &mut store, &cancel)?);
        }
    }
    for reason in failed.iter().take(NAMED) {
        output::note(format_args!("failed: {reason}"));
    }
    let left: usize = calibration
        .sides
        .iter()
        .map(|side| missing(options, side, &build, &store).len())
        .sum();
    if cancel.is_cancelled() && left > 0 {
        return Err(Failure::interrupted(&format!(
            "{} left; the same command goes on from here",
            report::count(left as u64, "run")
        )));
    }
    let observations: Vec<[Vec<&Observation>; 2]> = (0..calibration.cases.len())
        .map(|case| calibration.observations(case, &store))
        .collect();
    let cases = calibration.cases.iter().zip(observations);
    let compared: Vec<(Comparison<'_>, [Vec<&Observation>; 2])> = cases
        .filter(|(case, _)| case.skipped.is_none())
        .map(|(case, runs)| {
            let [first, second] = &runs;
            (calibrate::compare(case, [first, second]), runs)
        })
        .collect();
    let comparisons: Vec<Comparison<'_>> = compared.iter().map(|(one, _)| one.clone()).collect();
    let engines = calibration.sides.each_ref().map(|side| side.engine.name());
    let versions = calibration
        .sides
        .each_ref()
        .map(|side| machine::version(side.engine));
    let origin = Origin {
        command: command_line::again(),
        generated: SystemTime::now(),
    };
    let notes = notes(&calibration, &store, &origin);
    let page = calibrate::page(engines, &compared, &notes, &origin);
    let (page_file, table_file) = (file(options, "html"), file(options, "parquet"));
    whole::write(&page_file, page.as_bytes())?;
    let mut table = Vec::new();
    calibrate::write_parquet(&mut table, &calibration, &store).map_err(Failure::failed)?;
    whole::write(&table_file, &table)?;
    if let Some(document) = document {
        document.write(&calibrate::section(engines, &comparisons, &notes))?;
    }
    match options.json {
        true => {
            let versions = versions.each_ref().map(String::as_str);
            output::json(&calibrate::json(
                &calibration,
                &comparisons,
                versions,
                &failed,
            ))?;
        }
        false => {
            output::result(calibrate::table(engines, &comparisons, output::width()).trim_end())?
        }
    }
    if !options.quiet {
        output::note(format_args!(
            "curves: {}; every run: {}",
            page_file.display(),
            table_file.display()
        ));
    }
    conclude(&comparisons, failed.len())
}

/// A file of the calibration's directory. Its name has the engines, so that a comparison of others does not replace it.
fn file(options: &Options, kind: &str) -> PathBuf {
    let engines = options.engines.iter().map(|engine| engine.name());
    let engines = engines.collect::<Vec<_>>().join("-");
    options.out.join(format!("calibration-{engines}.{kind}"))
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
            "{} failed; the same command tries again",
            report::count(failed as u64, "run")
        ))),
    }
}

/// The chosen cases on the chosen engines.
fn calibration(options: &Options) -> Result<Calibration, Failure> {
    let engines: [lab::EngineKind; 2] = options.engines.as_slice().try_into().map_err(|_| {
        Failure::usage(format_args!(
            "--engines: it takes two, such as {},{}",
            lab::EngineKind::Linux,
            lab::EngineKind::Sim
        ))
    })?;
    if let Some(reused) = options.reuse.iter().find(|one| !engines.contains(one)) {
        return Err(Failure::usage(format_args!(
            "--reuse {reused}: it is none of the two engines"
        )));
    }
    let shelf = Shelf::or_built_in(options.scenarios.as_deref(), SHELF);
    let texts = shelf.all().map_err(Failure::usage)?;
    let wrong =
        |text: &Text, error: SweepError| Failure::usage(format_args!("{}: {error}", text.place));
    let sets: Vec<Set> = texts
        .iter()
        .map(|text| Set::parse(&text.text, &text.directory).map_err(|error| wrong(text, error)))
        .collect::<Result<_, _>>()?;
    let choice = Choice {
        patterns: options
            .cases
            .iter()
            .map(|one| WildMatch::new(one))
            .collect(),
        is_quick: options.quick,
    };
    let repeats = options.repeats.unwrap_or(match options.quick {
        true => 1,
        false => REPEATS,
    });
    let calibration =
        Calibration::new(&sets, &choice, engines, repeats).map_err(|(place, error)| match texts
            .get(place)
        {
            Some(text) => wrong(text, error),
            None => Failure::usage(error),
        })?;
    let unknown = options.cases.iter().find(|pattern| {
        let pattern = WildMatch::new(pattern);
        !calibration
            .cases
            .iter()
            .any(|case| pattern.matches(&case.name))
    });
    if let Some(pattern) = unknown {
        return Err(Failure::usage(format_args!(
            "no case is called {pattern}; --list shows those that there are"
        )));
    }
    for case in &calibration.cases {
        if let Some(reason) = &case.skipped {
            output::note(format_args!("skipped: {}: {reason}", case.name));
        }
    }
    match calibration.cases.iter().all(|case| case.skipped.is_some()) {
        true => Err(Failure::usage("there is no case that both engines can run")),
        false => Ok(calibration),
    }
}

fn list(calibration: &Calibration) -> Result<(), Failure> {
    let mut seconds = 0.0;
    for case in &calibration.cases {
        let duration = case.scenario.duration;
        seconds += duration.map_or(0.0, |duration| duration.as_secs_f64());
        let duration = duration.map_or("–".to_owned(), |duration| duration.to_string());
        let path = report::describe_hops(&case.scenario);
        output::result(format_args!("{:<40} {duration:>6}  {path}", case.name))?;
    }
    let (cases, repeats) = (calibration.cases.len(), calibration.repeats);
    let minutes = seconds * repeats as f64 / 60.0;
    output::note(format_args!(
        "{}, {} each: {} in real time",
        report::count(cases as u64, "case"),
        report::count(repeats, "run"),
        report::count(minutes.round() as u64, "minute")
    ));
    Ok(())
}

/// The sides' places: virtual time first, so that a mistake in the simulator shows before an hour has gone by.
fn order(calibration: &Calibration) -> Vec<usize> {
    let mut order: Vec<usize> = (0..calibration.sides.len()).collect();
    order.sort_by_key(|place| {
        let side = calibration.sides.get(*place);
        side.is_some_and(|side| side.engine.is_real_time())
    });
    order
}

/// The runs of the side that are to be done.
fn missing<'s>(
    options: &Options,
    side: &'s Side,
    build: &str,
    store: &Store<Kept>,
) -> Vec<&'s Run> {
    let now = made(side.engine, build);
    side.missing(store, &now, options.reuse.contains(&side.engine))
}

/// Runs what is missing of the side; says what failed.
fn execute(
    options: &Options,
    side: &Side,
    build: &str,
    store: &mut Store<Kept>,
    cancel: &Cancel,
) -> Result<Vec<String>, Failure> {
    let missing = missing(options, side, build, store);
    if !options.quiet {
        let (all, left) = (side.plan.runs.len(), missing.len());
        output::note(format_args!(
            "engine {}: {left} of {} to do; results in {}",
            side.engine,
            report::count(all as u64, "run"),
            options.out.display()
        ));
    }
    let bar = SweepBar::new(&side.plan.name, side.engine, &missing, options.quiet);
    let inspect = |run: &Run, record: &Record| {
        if options.records {
            keep_record(options, side, run, record);
        }
    };
    let engine = side.engine.engine();
    let execution = Execution {
        engine: engine.as_ref(),
        jobs: program::jobs(options.jobs, side.engine),
        watch: &|event| bar.show(&event),
        cancel,
    };
    let keeping = Keeping {
        made: &|| made(side.engine, build),
        inspect: &inspect,
    };
    let failed = calibrate::execute(&missing, store, keeping, &execution);
    let failed = failed.map_err(Failure::failed)?;
    drop(bar);
    let told = failed.iter();
    let told = told.map(|one| format!("{} on {}: {}", one.run.name, side.engine, one.reason));
    Ok(told.collect())
}

fn made(engine: lab::EngineKind, build: &str) -> Made {
    Made {
        build: build.to_owned(),
        version: machine::version(engine),
        at: machine::now(),
        load: machine::load(),
    }
}

/// Writes the record as a directory of its own. What is compared does not depend on it, so it costs no run.
fn keep_record(options: &Options, side: &Side, run: &Run, record: &Record) {
    let origin = Origin {
        command: command_line::again(),
        generated: SystemTime::now(),
    };
    let name = format!("{}-{}-{}", record.scenario.name, side.engine, run.repeat);
    let directory = options.out.join(RECORDS);
    let written = fs::create_dir_all(&directory)
        .map_err(|error| error.to_string())
        .and_then(|()| {
            report::write_dir(
                &directory.join(&name),
                record,
                &report::Also::default(),
                &origin,
            )
            .map_err(|error| error.to_string())
        });
    if let Err(reason) = written {
        output::note(format_args!("no record of {name}: {reason}"));
    }
}

/// Where the results come from.
fn notes(calibration: &Calibration, store: &Store<Kept>, origin: &Origin) -> Vec<String> {
    let mut notes = vec![format!(
        "Made with `{}`; {} of each case on each engine, seeds derived from 1 as in a sweep.",
        origin.command,
        report::count(calibration.repeats, "run")
    )];
    notes.extend(
        calibration
            .sides
            .iter()
            .filter_map(|side| side.origin(store)),
    );
    notes
}
