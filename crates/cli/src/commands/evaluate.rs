//! `fullpipe evaluate`: RFC 9743 answered for a controller.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use clap::Args;
use congestion::ControllerKind;
use evaluate::{Criteria, Difference, Evaluation, Extent, Subject, Work};
use lab::EngineKind;
use program::command_line;
use program::directory;
use program::failure::Failure;
use program::interrupt;
use program::output;
use program::usage;
use program::whole;
use program::work_bar::WorkBar;
use scenario::{Draft, FlowSpec};
use tables::numbers;

use crate::files::own_file::{self, OwnFile};
use crate::options::input::Input;
use crate::options::override_option::Override;

/// Judge a controller by RFC 9743: safe, better, worse or harmful
#[derive(Debug, Args)]
#[command(after_help = "\
Every criterion of RFC 9743 (\"Specifying New Congestion Control Algorithms\") is a row: what was run, the controller's result \
beside those of CUBIC, Reno, BBRv1 and BBRv3 on the same seeds, an interval, and a verdict in words. The rows drawn-… run \
over 300 paths that nobody picked. docs/evaluate.md explains every row, and says how to evaluate a controller of your own, in Python \
or in Rust.")]
pub struct Options {
    #[arg(help = usage::one_of("The controller", ControllerKind::ALL), value_name = "CONTROLLER")]
    controller: ControllerKind,
    /// Set a setting of the controller, as in scenarios: bbr3.ecn=linux; can be given several times
    #[arg(long, value_name = "SETTING=VALUE")]
    set: Vec<Override>,
    /// Take 4 seeds and 12 drawn paths instead of 60 and 300: minutes instead of an hour. Rare cases stay hidden
    #[arg(long)]
    quick: bool,
    /// Only these criteria [default: all]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    only: Vec<String>,
    /// Compare with an older evaluation: a file that --json printed
    #[arg(long, value_name = "FILE")]
    against: Option<PathBuf>,
    /// Write the scenario of each criterion's worst case into this directory, to run it again
    #[arg(long, value_name = "DIR")]
    scenarios: Option<PathBuf>,
    /// Number of runs at a time [default: the number of processors]
    #[arg(long, value_name = "N", value_parser = usage::at_least_one)]
    jobs: Option<NonZeroUsize>,
    /// Write a page with plots, which works offline
    #[arg(long, value_name = "PATH")]
    report: Option<PathBuf>,
    /// Print only the evaluation on stdout, as JSON; with --against, the difference
    #[arg(long)]
    json: bool,
    /// Print only the result and errors
    #[arg(long)]
    quiet: bool,
}

/// Runs the experiments and judges.
pub fn run(options: &Options) -> Result<(), Failure> {
    let subject = Subject::built_in(flow(options)?);
    let criteria = Criteria::named(&options.only);
    let criteria = criteria.map_err(|unknown| Failure::usage(format_args!("--only: {unknown}")))?;
    let older = options.against.as_deref().map(older).transpose()?;
    let report = OwnFile::asked(options.report.as_deref(), &own_file::REPORT)?;
    let extent = if options.quick {
        Extent::QUICK
    } else {
        Extent::WHOLE
    };
    if let Some(older) = &older
        && (older.seeds, older.paths) != (extent.seeds, extent.paths)
    {
        return Err(Failure::usage(format_args!(
            "--against: has {} seeds and {} drawn paths, and this evaluation has {} and {}; give --quick for both or for neither",
            older.seeds, older.paths, extent.seeds, extent.paths
        )));
    }
    let work = Work::new(&subject, &criteria, extent);
    let scenarios = options.scenarios.as_deref();
    let made = scenarios.map(|scenarios| directory::make("--scenarios", scenarios));
    let _made = made.transpose()?;
    if let Some(directory) = scenarios {
        for file in criteria.names().map(|name| scenario_file(directory, name)) {
            whole::check(&file)
                .map_err(|error| Failure::usage(format_args!("{}: {error}", file.display())))?;
        }
    }
    let all = work.runs();
    if !options.quiet {
        output::note(format_args!(
            "{} of {} and four references, over {} seeds and {} drawn paths",
            numbers::count(all.len() as u64, "run"),
            options.controller,
            extent.seeds,
            extent.paths
        ));
    }
    let (_runtime, cancel) = interrupt::cancel()?;
    let bar = WorkBar::of_runs("evaluate", EngineKind::Sim, &all, options.quiet);
    let evaluation = work.run(&subject, options.jobs, &|event| bar.show(&event), &cancel);
    drop(bar);
    if cancel.is_cancelled() {
        return Err(Failure::interrupted(
            "there is no evaluation before all runs have ended",
        ));
    }
    output::failed(&evaluation.failed);
    show(options, &evaluation, older.as_ref())?;
    if let Some(directory) = scenarios {
        keep_scenarios(&evaluation, directory)?;
    }
    if let Some(file) = report {
        let page = evaluation.page(&command_line::origin());
        let written = file.write(&page)?;
        output::note(format_args!("report: {written}"));
    }
    match evaluation.failed.len() {
        0 => Ok(()),
        failed => Err(Failure::failed(format_args!(
            "{} failed, so their cases are missing",
            numbers::count(failed as u64, "run")
        ))),
    }
}

fn show(
    options: &Options,
    evaluation: &Evaluation,
    older: Option<&Evaluation>,
) -> Result<(), Failure> {
    let Some(older) = older else {
        return output::show(options.json, || evaluation, |width| evaluation.text(width));
    };
    let difference = Difference::of(older, evaluation);
    let text = |width| format!("{}\n{}", evaluation.text(width), difference.text(width));
    output::show(options.json, || &difference, text)
}

/// A flow with the controller and its settings.
fn flow(options: &Options) -> Result<FlowSpec, Failure> {
    let text = format!(
        "name = \"evaluate\"\nduration = \"1s\"\npath = {{ rate = \"1mbit\", rtt = \"40ms\" }}\nflow = [{{ controller = \"{}\" }}]",
        options.controller
    );
    let wrong = |error| Failure::usage(format_args!("--set: {error}"));
    let mut draft = Draft::parse(&text, Path::new("")).map_err(wrong)?;
    for given in &options.set {
        let of = given.field().split('.').next().unwrap_or_default();
        if of != options.controller.name() {
            return Err(given.failure(format_args!(
                "is no setting of {0}; give one that begins with {0}., such as {0}.NAME=VALUE",
                options.controller
            )));
        }
        given.apply(|field, text| draft.set(&format!("flow.{field}"), text))?;
    }
    let culprit = |error: &_| {
        let mut given = options.set.iter();
        given.find(|one| {
            draft
                .culprit(error)
                .is_some_and(|field| field.ends_with(one.field()))
        })
    };
    let mut scenario = draft.read().map_err(|error| match culprit(&error) {
        Some(given) => given.wrong(&error),
        None => wrong(error),
    })?;
    Ok(scenario.flows.remove(0))
}

/// The older evaluation in this file.
fn older(file: &Path) -> Result<Evaluation, Failure> {
    let input = Input::read(file, "evaluate")?;
    serde_json::from_str(input.text.trim_start()).map_err(|error| {
        Failure::usage(format_args!(
            "--against {}: is no evaluation ({error}); give a file that fullpipe evaluate --json printed",
            file.display()
        ))
    })
}

fn scenario_file(directory: &Path, criterion: &str) -> PathBuf {
    directory.join(format!("{criterion}.toml"))
}

/// Writes the scenario of each criterion's worst case.
fn keep_scenarios(evaluation: &Evaluation, directory: &Path) -> Result<(), Failure> {
    for row in &evaluation.rows {
        let text = format!("# {}\n# {}\n{}", row.asks, row.worst_case, row.scenario);
        whole::write(&scenario_file(directory, &row.name), text.as_bytes())?;
    }
    output::note(format_args!(
        "the worst case of each criterion: fullpipe run {}",
        scenario_file(directory, "CRITERION").display()
    ));
    Ok(())
}
