//! `fullpipe evaluate`: RFC 9743 answered for a controller.

use std::fmt::Display;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use clap::Args;
use congestion::ControllerKind;
use evaluate::{Criteria, Difference, Evaluation, Extent, Subject, Work};
use lab::EngineKind;
use program::awake_option::AwakeOption;
use program::command_line;
use program::directory;
use program::failure::Failure;
use program::human;
use program::interrupt;
use program::output;
use program::usage;
use program::work_bar::WorkBar;
use scenario::{Controller, Draft, FlowSpec};
use studies::runs;
use tables::numbers;
use units::Duration;

use crate::files::own_file::{self, OwnFile};
use crate::options::input::Input;
use crate::options::override_option::Override;

/// Judge a controller by RFC 9743: safe, better, worse or harmful
#[derive(Debug, Args)]
#[command(after_help = "\
Every criterion of RFC 9743 (\"Specifying New Congestion Control Algorithms\") is a row: what was run, the controller's result \
beside those of CUBIC, Reno, BBRv1 and BBRv3 on the same seeds, an interval, and a verdict in words. The rows drawn-… run \
over 300 paths that nobody picked. docs/evaluate.md explains every row, and says how to evaluate a controller of your own, in Python \
or in Rust.

kernel:NAME runs on engine linux, beside the kernel's CUBIC, Reno and BBR, one run after the other: give some criteria with --only, \
as all of them take hours. It needs what fullpipe run --engine linux needs.")]
pub struct Options {
    #[arg(
        help = usage::one_of("The controller", ControllerKind::ALL) + ", or kernel:NAME for one that the kernel has",
        value_name = "CONTROLLER"
    )]
    controller: Controller,
    /// Set a setting of the controller, as in scenarios: bbr3.ecn=linux; can be given several times
    #[arg(long, value_name = "SETTING=VALUE")]
    set: Vec<Override>,
    /// Take 4 seeds and 12 drawn paths instead of 60 and 300: minutes instead of an hour. Rare cases stay hidden. A controller
    /// of the kernel runs in real time, and always with 3 seeds
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
    /// Number of runs at a time [default: the number of processors; 1 for the kernel's, which are measured in real time]
    #[arg(long, value_name = "N", value_parser = usage::at_least_one)]
    jobs: Option<NonZeroUsize>,
    #[command(flatten)]
    awake: AwakeOption,
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
    let extent = match (subject.engine().is_real_time(), options.quick) {
        (true, _) => Extent::LIVE,
        (_, true) => Extent::QUICK,
        _ => Extent::WHOLE,
    };
    let work = Work::new(&subject, &criteria, extent);
    if let Some(older) = &older {
        check_alike(older, subject.engine(), work.extent())?;
    }
    let directory = options.scenarios.as_deref();
    let scenarios = directory.map(|directory| Scenarios::at(directory, &criteria, &work));
    let scenarios = scenarios.transpose()?;
    let all = work.runs();
    if all.is_empty() {
        return Err(Failure::usage(format_args!(
            "--only: engine {} runs none of these criteria; give others",
            subject.engine()
        )));
    }
    let _awake = options.awake.prepare(&[subject.engine()])?;
    work.check_here().map_err(Failure::failed)?;
    if !options.quiet {
        announce(options, &work, subject.engine());
    }
    let (_runtime, cancel) = interrupt::cancel()?;
    let bar = WorkBar::of_runs("evaluate", subject.engine(), &all, options.quiet);
    let evaluation = work.run(&subject, options.jobs, &|event| bar.show(&event), &cancel);
    bar.finish();
    if cancel.is_cancelled() {
        return Err(Failure::interrupted(
            "there is no evaluation before all runs have ended",
        ));
    }
    output::failed(&evaluation.failed);
    // One that cannot be written takes none of the others along.
    Failure::all([
        show(options, &evaluation, older.as_ref()),
        scenarios.map_or(Ok(()), |scenarios| scenarios.write(&evaluation)),
        report.map_or(Ok(()), |file| write_report(&file, &evaluation)),
        match evaluation.failed.len() {
            0 => Ok(()),
            failed => Err(Failure::failed(format_args!(
                "{} failed, so their cases are missing",
                numbers::count(failed as u64, "run")
            ))),
        },
    ])
}

fn write_report(file: &OwnFile, evaluation: &Evaluation) -> Result<(), Failure> {
    let written = file.write(&evaluation.page(&command_line::origin()))?;
    output::note(format_args!("report: {written}"));
    Ok(())
}

/// Refuses an older evaluation whose cases are others.
fn check_alike(older: &Evaluation, engine: EngineKind, extent: Extent) -> Result<(), Failure> {
    let (was, is) = (older.engine, engine);
    if was != is {
        return Err(Failure::usage(format_args!(
            "--against: is of engine {was}, and this evaluation of engine {is}; give one of engine {is}"
        )));
    }
    let was = older.extent();
    if !was.is_like(extent) {
        return Err(Failure::usage(format_args!(
            "--against: has {was}, and this evaluation {extent}; give --quick for both or for neither"
        )));
    }
    Ok(())
}

/// Says what is run, what is not, and how long it takes in real time.
fn announce(options: &Options, work: &Work, engine: EngineKind) {
    let all = work.runs();
    let durations = all.iter().filter_map(|run| run.scenario.duration);
    let one_by_one = durations.fold(Duration::ZERO, |sum, next| sum + next);
    let took = one_by_one / runs::jobs(options.jobs, engine) as u64;
    let runs = numbers::count(all.len() as u64, "run");
    let took = if engine.is_real_time() {
        format!(", in real time: about {}", human::time_left(took))
    } else {
        String::new()
    };
    output::note(format_args!(
        "{runs} of {} and the references, over {} on engine {engine}{took}",
        options.controller,
        work.extent()
    ));
    if !work.left_out().is_empty() {
        output::note(format_args!(
            "engine {engine} cannot run {}",
            work.left_out().join(", ")
        ));
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
    if !matches!(
        options.controller,
        Controller::Ours(_) | Controller::Kernel(_)
    ) {
        return Err(Failure::usage(format_args!(
            "{}: only a program of yours has it; docs/evaluate.md says how it is evaluated",
            options.controller
        )));
    }
    let text = format!(
        "name = \"evaluate\"\nduration = \"1s\"\npath = {{ rate = \"1mbit\", rtt = \"40ms\" }}\nflow = [{{ controller = \"{}\" }}]",
        options.controller
    );
    let wrong = |error| Failure::usage(format_args!("--set: {error}"));
    let name = options.controller.name();
    let mut draft = Draft::parse(&text, Path::new("")).map_err(wrong)?;
    for given in &options.set {
        let of = given.field().split('.').next().unwrap_or_default();
        if !matches!(options.controller, Controller::Ours(_)) {
            return Err(given.failure("a controller of the kernel has no settings here"));
        }
        if !has_settings(options.controller) {
            return Err(given.failure(format_args!("{name} has no settings")));
        }
        if of != name {
            return Err(given.failure(format_args!(
                "is no setting of {name}; give one that begins with {name}., such as {name}.NAME=VALUE"
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

/// Whether flows have settings of this controller.
fn has_settings(controller: Controller) -> bool {
    use ControllerKind::{Bbr1, Bbr3, Cubic};
    matches!(controller, Controller::Ours(Bbr1 | Cubic | Bbr3))
}

/// The older evaluation in this file.
fn older(file: &Path) -> Result<Evaluation, Failure> {
    let input = Input::read(file, "evaluate")?;
    let wrong = |reason: &dyn Display| {
        Failure::usage(format_args!(
            "--against {}: is no evaluation ({reason}); give a file that fullpipe evaluate --json printed",
            file.display()
        ))
    };
    let older: Evaluation =
        serde_json::from_str(input.text.trim_start()).map_err(|error| wrong(&error))?;
    older.check().map_err(|reason| wrong(&reason))?;
    Ok(older)
}

/// The places for the scenarios of the worst cases, one for each criterion.
struct Scenarios<'d> {
    directory: &'d Path,
    files: Vec<OwnFile>,
}

impl Scenarios<'_> {
    /// Checks before the runs that they can be written. A missing directory is made after the runs, so that a killed
    /// evaluation leaves none.
    fn at<'d>(
        directory: &'d Path,
        criteria: &Criteria,
        work: &Work,
    ) -> Result<Scenarios<'d>, Failure> {
        directory::check("--scenarios", directory)?;
        let is_there = directory.exists();
        let is_run = |name: &&str| !work.left_out().iter().any(|one| one == name);
        let names = criteria.names().filter(is_run);
        let file = |name: &str| {
            let (file, kind) = (scenario_file(directory, name), &own_file::WORST_CASE);
            if is_there {
                OwnFile::at(&file, kind)
            } else {
                Ok(OwnFile::in_new_directory(&file, kind))
            }
        };
        Ok(Scenarios {
            directory,
            files: names.map(file).collect::<Result<_, _>>()?,
        })
    }

    /// Writes all that can be written. A criterion without a whole case has no worst one.
    fn write(&self, evaluation: &Evaluation) -> Result<(), Failure> {
        let _made = directory::make("--scenarios", self.directory)?;
        let known = self.files.iter().zip(&evaluation.rows);
        let known = known.filter(|(_, row)| !row.scenario.is_empty());
        let written = known.map(|(file, row)| {
            let (mark, asks) = (own_file::WORST_CASE_MARK, &row.asks);
            let text = format!("{mark}\n# {asks}\n# {}\n{}", row.worst_case, row.scenario);
            let written = file.write(&text)?;
            if written.is_elsewhere() {
                output::note(format_args!("{}: {written}", row.name));
            }
            Ok(())
        });
        let written: Vec<Result<(), Failure>> = written.collect();
        written.into_iter().collect::<Result<(), Failure>>()?;
        output::note(format_args!(
            "the worst case of each criterion: fullpipe run {}",
            scenario_file(self.directory, "CRITERION").display()
        ));
        Ok(())
    }
}

fn scenario_file(directory: &Path, criterion: &str) -> PathBuf {
    directory.join(format!("{criterion}.toml"))
}
