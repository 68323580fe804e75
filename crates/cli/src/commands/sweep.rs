//! `fullpipe sweep`: runs a scenario at every point of a grid.

use std::collections::HashSet;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use clap::Args;
use program::awake_option::AwakeOption;
use program::command_line;
use program::failure::Failure;
use program::interrupt;
use program::output;
use program::results_directory;
use program::usage;
use program::whole;
use program::work_bar::WorkBar;
use record::Summary;
use studies::runs::{self, Execution, Plan, Store};
use studies::sweep::{self, Metric, Results, Sweep, SweepError};
use tables::numbers;

use crate::options::input::Input;
use crate::options::override_option::Override;
use crate::options::several;

/// The files in a sweep's directory, beside the results.
const TABLE: &str = "sweep.parquet";
const PAGE: &str = "sweep.html";

/// Run a scenario at every point of a grid
#[derive(Debug, Args)]
#[command(after_help = "\
The same command continues a sweep that was ended. Each run is kept as soon as it is done. It is done again only if \
something has changed that its result depends on.

The command ends with a table of medians; the directory has a page with a plot (sweep.html) and every flow of every run \
(sweep.parquet).")]
pub struct Options {
    /// File of the sweep; - for stdin
    sweep: PathBuf,
    /// Directory for results [default: the file's name without .toml, in this directory]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Number of runs at a time [default: the number of processors; 1 for quic and linux, which measure in real time]
    #[arg(long, value_name = "N", value_parser = usage::at_least_one)]
    jobs: Option<NonZeroUsize>,
    /// Replace a field of the scenario, before the axes do: duration=10s; can be given several times
    #[arg(long, value_name = "FIELD=VALUE")]
    set: Vec<Override>,
    #[arg(
        long,
        help = usage::one_of("What the page plots first", &Metric::ALL),
        value_name = "METRIC"
    )]
    plot: Option<Metric>,
    #[command(flatten)]
    awake: AwakeOption,
    /// Print only the medians on stdout, as JSON
    #[arg(long)]
    json: bool,
    /// Print only the result and errors
    #[arg(long)]
    quiet: bool,
}

/// Runs the missing runs, and shows all results.
pub fn run(options: &Options) -> Result<(), Failure> {
    let input = Input::read(&options.sweep, "sweep")?;
    let sweep = read(options, &input)?;
    let plan = sweep.plan(&program::build()?);
    let mut plan = plan.map_err(|error| blame(&error, options, &input))?;
    plan.keep_samples(false);
    let engine = sweep.engine.engine();
    for run in &plan.runs {
        engine
            .check(&run.scenario)
            .map_err(|error| Failure::usage(format_args!("at {}: {error}", run.name)))?;
    }
    let directory = results_directory::named(options.out.as_deref(), &options.sweep, "sweep");
    let keys: HashSet<&str> = plan.runs.iter().map(|run| &*run.key).collect();
    let mut store = results_directory::open(&directory, |key| keys.contains(key))?;
    for file in [PAGE, TABLE].map(|name| directory.join(name)) {
        whole::check(&file)
            .map_err(|error| Failure::usage(format_args!("{}: {error}", file.display())))?;
    }
    let _awake = options.awake.prepare(&[sweep.engine])?;
    let (_runtime, cancel) = interrupt::cancel()?;
    let missing = runs::missing(&plan, &store);
    if !options.quiet {
        output::note(announcement(&plan, &sweep, missing.len(), &directory));
    }
    let bar = WorkBar::of_runs(&plan.name, sweep.engine, &missing, options.quiet);
    let execution = Execution {
        engine: engine.as_ref(),
        jobs: runs::jobs(options.jobs, sweep.engine),
        repeats: None,
        watch: &|event| bar.show(&event),
        cancel: &cancel,
    };
    let failed = runs::resume(&missing, &mut store, &execution, |_, record| record.summary);
    drop(bar);
    let failed = failed.map_err(Failure::failed)?;
    output::failed(
        failed
            .iter()
            .map(|one| format!("{}: {}", one.run.name, one.reason)),
    );
    let left = runs::missing(&plan, &store).len();
    if cancel.is_cancelled() && left > 0 {
        let done = plan.runs.len() - left;
        return Err(Failure::interrupted(&format!(
            "{done} of {} done; repeat the command to continue",
            numbers::count(plan.runs.len() as u64, "run")
        )));
    }
    let results = Results::new(&plan, sweep.engine, &store);
    write(&sweep, &results, &store, &directory, &input.text)?;
    let table = |width| sweep::table(&results, width);
    output::show(options.json, || results.json(&failed), table)?;
    if !options.quiet {
        let [page, table] = [PAGE, TABLE].map(|name| directory.join(name).display().to_string());
        output::note(format_args!("plot: {page}; every flow: {table}"));
    }
    match failed.len() {
        0 => Ok(()),
        count => Err(Failure::failed(format_args!(
            "{count} of {} failed; repeat the command to try again",
            numbers::count(plan.runs.len() as u64, "run")
        ))),
    }
}

fn read(options: &Options, input: &Input) -> Result<Sweep, Failure> {
    let mut sweep =
        Sweep::parse(&input.text, &input.directory).map_err(|error| input.wrong(error))?;
    for given in &options.set {
        given.apply(|field, text| sweep.set(field, text))?;
    }
    if let Some(metric) = options.plot {
        sweep.plot.y = metric;
    }
    Ok(sweep)
}

fn blame(error: &SweepError, options: &Options, input: &Input) -> Failure {
    match error {
        SweepError::Point {
            error: wrong,
            culprit: Some(culprit),
            ..
        } => match Override::named(&options.set, culprit) {
            None => input.wrong(error),
            Some(given) => match several::of_sweep(given) {
                None => given.wrong(wrong),
                Some(axis) => given.failure(format_args!(
                    "replaces a field by one value; for several, give the sweep's [axes] {axis}"
                )),
            },
        },
        _ => input.wrong(error),
    }
}

fn announcement(plan: &Plan, sweep: &Sweep, missing: usize, directory: &Path) -> String {
    let points = numbers::count(plan.points.len() as u64, "point");
    let repeats = match sweep.repeats {
        1 => String::new(),
        repeats => format!(" × {repeats} repeats"),
    };
    let done = match plan.runs.len() - missing {
        0 => String::new(),
        done => format!(", {done} of them done"),
    };
    let (name, engine) = (&plan.name, sweep.engine);
    format!(
        "{name}: {points}{repeats} on engine {engine}{done}; results in {}",
        directory.display()
    )
}

fn write(
    sweep: &Sweep,
    results: &Results<'_>,
    store: &Store<Summary>,
    directory: &Path,
    text: &str,
) -> Result<(), Failure> {
    let page = sweep::page(sweep, results, text, &command_line::origin());
    whole::write(&directory.join(PAGE), page.as_bytes())?;
    let mut table = Vec::new();
    sweep::write_parquet(&mut table, results.plan, store, text).map_err(Failure::failed)?;
    whole::write(&directory.join(TABLE), &table)
}
