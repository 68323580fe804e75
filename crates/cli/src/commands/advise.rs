//! `fullpipe advise`: recommends a controller for a path.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use clap::Args;
use congestion::ControllerKind;
use document::DocumentError;
use lab::{Cancel, EngineError, EngineKind};
use program::command_line;
use program::failure::Failure;
use program::interrupt;
use program::output;
use program::usage;
use program::work_bar::WorkBar;
use studies::advise::{
    self, Advice, Case, Gathering, Goal, Json, MOST_PATHS, Measured, Outcomes, Question, Range,
    RangedPath, Sampling,
};
use studies::runs::{self, Execution, Plan};
use tables::numbers;
use units::Duration;

use crate::files::own_file::{self, OwnFile};
use crate::options::input::Input;
use crate::options::path_options::{self, PathOptions};

/// The files in the directory of a record, and in that of a trace.
const SCENARIO: &str = "scenario.toml";
const SUMMARY: &str = "summary.json";

/// The shortest useful run.
const MIN_DURATION: Duration = Duration::from_secs(1);

/// Recommend a congestion controller for a path
#[derive(Debug, Args)]
#[command(after_help = "\
Every path option takes a range where the value is not known: --buffer 0.5bdp..4bdp, --loss 0..1%, --rtt 20ms..60ms. \
Without --buffer, it is 0.5bdp..8bdp, or 10p..100p where half a BDP is less than two packets.

The command samples paths from these ranges and runs every candidate over each of them in the simulator: alone, beside a \
CUBIC flow, and beside itself with small requests. All candidates have the same paths and the same seeds. It prints which \
one to choose, what that gains, whom it hurts, and how sure it is.")]
pub struct Options {
    /// What is known of the path: a directory that `run --out` or `trace --out` wrote; a scenario, whose values may be
    /// ranges; or a summary of a run or of captures (JSON); - for stdin. Path options replace values of the file
    #[arg(long, value_name = "DIR|FILE")]
    from: Option<PathBuf>,
    #[arg(long, help = usage::one_of("What the controller is chosen for", Goal::ALL), value_name = "GOAL", default_value_t = Goal::default())]
    goal: Goal,
    #[arg(
        long,
        help = usage::one_of("The candidates", ControllerKind::ALL),
        value_name = "NAMES",
        value_delimiter = ',',
        default_value = "bbr3,bbr1,cubic,reno"
    )]
    controllers: Vec<ControllerKind>,
    /// Number of sampled paths [default: as many as run in about fifteen seconds, 4 to 24]
    #[arg(long, value_name = "N", value_parser = usage::at_least_one)]
    paths: Option<NonZeroUsize>,
    /// Length of each run, in simulated time [default: as long as fits into about fifteen seconds, 1s to 60s]
    #[arg(long, value_name = "TIME", value_parser = length)]
    duration: Option<Duration>,
    /// Seed of every random choice
    #[arg(long, value_name = "N", value_parser = usage::whole, default_value_t = 1)]
    seed: u64,
    /// Number of runs at a time [default: the number of processors]
    #[arg(long, value_name = "N", value_parser = usage::at_least_one)]
    jobs: Option<NonZeroUsize>,
    /// Write a page with plots, which works offline
    #[arg(long, value_name = "PATH")]
    report: Option<PathBuf>,
    /// Print only the advice on stdout, as JSON
    #[arg(long)]
    json: bool,
    /// Print only the result and errors
    #[arg(long)]
    quiet: bool,
    #[command(flatten)]
    path: PathOptions,
}

/// Runs the candidates and recommends one.
pub fn run(options: &Options) -> Result<(), Failure> {
    let (question, origin) = question(options)?;
    let wrong = |error: DocumentError| origin.blame(&options.path, &error);
    let report = OwnFile::asked(options.report.as_deref(), &own_file::REPORT)?;
    let sampling = question.sampling().map_err(wrong)?;
    let cases = sampling.cases(&question.controllers);
    let plan = advise::plan(&sampling, "advise", &cases, &Cancel::new());
    let engine = EngineKind::Sim.engine();
    for run in &plan.runs {
        engine.check(&run.scenario).map_err(|error| match error {
            EngineError::Scenario(error) => wrong(question.path.located(error)),
            error => Failure::usage(error),
        })?;
    }
    if !options.quiet {
        if let Some(connection) = &question.path.origin {
            output::note(format_args!("path: {connection}"));
        }
        if let Some(Range { from, to, .. }) = &origin.own_buffer {
            output::note(format_args!("the buffer is unknown; using {from}..{to}"));
        }
    }
    let (_runtime, cancel) = interrupt::cancel()?;
    let work = Work {
        sampling: &sampling,
        controllers: &question.controllers,
        cases: &cases,
        plan: &plan,
        jobs: options.jobs,
        is_quiet: options.quiet,
        cancel: &cancel,
    };
    let goal = options.goal;
    let advised = work.answer(|advice, runs| {
        output::show(
            options.json,
            || Json::new(advice, goal, runs),
            |width| advise::text(advice, goal, width),
        )?;
        if let Some(file) = report {
            let facts = [
                format!("engine {}", EngineKind::Sim),
                format!("seed {}", options.seed),
            ];
            let page = advise::page(advice, goal, runs, &facts, &command_line::origin());
            let written = file.write(&page)?;
            output::note(format_args!("report: {written}"));
        }
        Ok(())
    });
    advised?.map_err(Failure::failed)
}

/// The runs for a piece of advice.
pub struct Work<'a> {
    pub sampling: &'a Sampling,
    pub controllers: &'a [ControllerKind],
    pub cases: &'a [Case],
    /// The cases and their runs.
    pub plan: &'a Plan,
    pub jobs: Option<NonZeroUsize>,
    pub is_quiet: bool,
    pub cancel: &'a Cancel,
}

impl Work<'_> {
    /// Does the runs, and passes the advice and the number of its runs to `show`. The inner error is the reason why
    /// there is no advice.
    pub fn answer(
        &self,
        show: impl FnOnce(&Advice<'_>, usize) -> Result<(), Failure>,
    ) -> Result<Result<(), String>, Failure> {
        let runs = self.plan.runs.len();
        if !self.is_quiet {
            output::note(&self.sampling.path);
            output::note(advise::describe_runs(self.sampling, runs));
        }
        let (gathering, failed) = self.gather()?;
        let outcomes = Outcomes::new(self.controllers, self.cases, &gathering);
        let Some(advice) = Advice::new(&outcomes, self.sampling) else {
            return Ok(Err(advise::nothing(&outcomes, self.sampling)));
        };
        show(&advice, runs - failed)?;
        match failed {
            0 => Ok(Ok(())),
            failed => Err(Failure::failed(format_args!(
                "{} failed, so their paths are missing",
                numbers::count(failed as u64, "run")
            ))),
        }
    }

    /// The results of the runs, and the number of failed runs.
    fn gather(&self) -> Result<(Gathering, usize), Failure> {
        let engine = EngineKind::Sim.engine();
        let all = self.plan.all();
        let bar = WorkBar::of_runs(&self.plan.name, EngineKind::Sim, &all, self.is_quiet);
        let execution = Execution {
            engine: engine.as_ref(),
            jobs: runs::jobs(self.jobs, EngineKind::Sim),
            repeats: None,
            watch: &|event| bar.show(&event),
            cancel: self.cancel,
        };
        let mut gathering = Gathering::new(all.len());
        let Ok(failed) = runs::execute(&all, &execution, |place, outcome| {
            if let Ok(record) = outcome {
                gathering.note(place, Measured::of(&record));
            }
            Ok::<(), std::convert::Infallible>(())
        });
        drop(bar);
        if self.cancel.is_cancelled() {
            return Err(Failure::interrupted(
                "there is no advice before all runs have ended",
            ));
        }
        let reasons = failed
            .iter()
            .map(|one| format!("{}: {}", one.run.name, one.reason));
        output::failed(reasons);
        Ok((gathering, failed.len()))
    }
}

fn question(options: &Options) -> Result<(Question, Origin), Failure> {
    let (mut path, file) = match &options.from {
        Some(from) => known(from).map(|(path, file)| (path, Some(file)))?,
        None => (RangedPath::unknown(), None),
    };
    options.path.replace_in(&mut path)?;
    if options.from.is_none() && path.describe().is_empty() {
        return Err(Failure::usage(
            "the path is unknown; give --rate and --rtt, which may be ranges such as 10mbit..50mbit, or --from",
        ));
    }
    let added = path.complete();
    let origin = Origin {
        file,
        own_buffer: added,
    };
    let paths = options.paths.map(NonZeroUsize::get);
    if paths.is_some_and(|paths| paths > MOST_PATHS) {
        return Err(Failure::usage(format_args!(
            "--paths: more than {MOST_PATHS}; give less"
        )));
    }
    let mut controllers = Vec::new();
    for controller in &options.controllers {
        if !controllers.contains(controller) {
            controllers.push(*controller);
        }
    }
    let question = Question {
        path,
        controllers,
        paths,
        duration: options.duration,
        seed: options.seed,
    };
    Ok((question, origin))
}

/// The sources of the values of the path, beside the path options.
struct Origin {
    file: Option<Input>,
    /// The default buffer, if no source has one.
    own_buffer: Option<Range>,
}

impl Origin {
    /// The failure for an invalid field of the path. It names the source of the field.
    fn blame(&self, given: &PathOptions, error: &DocumentError) -> Failure {
        match &self.file {
            _ if self.own_buffer.is_some() && error.field == "path.buffer" => {
                path_options::in_options(error, "the default of ")
            }
            Some(file) if !given.gave(&error.field) => file.wrong(error),
            _ => path_options::in_options(error, ""),
        }
    }
}

/// The path from the directory of a record or a trace, from a scenario, or from a summary; and the file with the path.
fn known(from: &Path) -> Result<(RangedPath, Input), Failure> {
    let file = if from.is_dir() {
        let files = [SCENARIO, SUMMARY].map(|name| from.join(name));
        let found = files.into_iter().find(|file| file.exists());
        found.ok_or_else(|| {
            Failure::usage(format_args!(
                "--from {}: has neither {SCENARIO} nor {SUMMARY}; give the directory of a record or of a trace, a scenario, or \
                 a summary",
                from.display()
            ))
        })?
    } else {
        from.to_owned()
    };
    let input = Input::read(&file, "advise")?;
    // Some editors begin a file with a byte order mark.
    let text = input.text.trim_start();
    let path = if text.is_empty() {
        let reason = "is empty; give a scenario, or the summary of a run or of captures";
        Err(DocumentError::new("", reason))
    } else if text.starts_with('{') {
        RangedPath::of_json(text)
    } else {
        RangedPath::parse(&input.text, &input.directory)
    };
    Ok((path.map_err(|error| input.wrong(error))?, input))
}

/// The length of a run: long enough for the start of two flows and a measurement.
fn length(text: &str) -> Result<Duration, String> {
    let span = usage::positive_time(text)?;
    if span < MIN_DURATION {
        return Err(format!(
            "too short for flows to start and to be measured; give {MIN_DURATION} or more"
        ));
    }
    Ok(span)
}
