//! `fullpipe.advise`.

use std::convert::Infallible;
use std::path::Path;
use std::time::SystemTime;

use congestion::ControllerKind;
use document::tree::Entry;
use lab::{Cancel, EngineKind};
use pyo3::prelude::*;
use report::Origin;
use studies::advise::{Gathering, Goal, Json, Measured, Outcomes, Question, RangedPath, Sampling};
use studies::runs::{self, Execution};
use units::Duration;

use crate::arguments::{self, Asked, count, jobs, named, names, one_of, text};
use crate::error;
use crate::json;
use crate::progress::Progress;
use crate::record::Record;
use crate::said::{Reader, Said};
use crate::waiting::interruptible;

/// The parts of a scenario that are not about path or hosts. They are ignored, since the advice sets flows and duration
/// itself.
const IGNORED_PARTS: [&str; 6] = ["name", "duration", "warmup", "seed", "flow", "quick"];

/// The result of :func:`fullpipe.advise`.
#[pyclass(frozen, module = "fullpipe")]
pub struct Advice {
    goal: Goal,
    seed: u64,
    sampling: Sampling,
    outcomes: Outcomes,
    runs: usize,
    failed: Vec<(String, String)>,
}

impl Advice {
    fn view<T>(&self, of: impl FnOnce(&studies::advise::Advice<'_>) -> T) -> PyResult<T> {
        let advice = studies::advise::Advice::new(&self.outcomes, &self.sampling);
        advice.as_ref().map(of).ok_or_else(|| {
            let why = studies::advise::nothing(&self.outcomes, &self.sampling);
            error::of_run(&why)
        })
    }
}

#[pymethods]
impl Advice {
    /// The name of the best controller for the goal.
    #[getter]
    fn choice(&self) -> PyResult<&'static str> {
        self.view(|advice| advice.of(self.goal).choice)
    }

    /// All results as a new dict: the output of ``fullpipe advise --json``. Names end with their units.
    #[getter]
    fn summary<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.view(|advice| json::object(py, &Json::new(advice, self.goal, self.runs)))?
    }

    /// An HTML page with plots, which needs no network: the page of ``fullpipe advise --report``.
    #[getter]
    fn page(&self, py: Python<'_>) -> PyResult<String> {
        let facts = [
            format!("engine {}", EngineKind::Sim),
            format!("seed {}", self.seed),
        ];
        let origin = Origin {
            command: "fullpipe.advise".to_owned(),
            generated: SystemTime::now(),
        };
        py.detach(|| {
            self.view(|advice| studies::advise::page(advice, self.goal, self.runs, &facts, &origin))
        })
    }

    /// The failed runs with their reasons. Their paths have no results.
    #[getter]
    fn failed(&self) -> Vec<(String, String)> {
        self.failed.clone()
    }

    /// The output of ``fullpipe advise``.
    fn __str__(&self) -> PyResult<String> {
        self.view(|advice| studies::advise::text(advice, self.goal, Some(120)))
    }

    fn __repr__(&self) -> PyResult<String> {
        let (goal, runs, choice) = (self.goal, self.runs, self.choice()?);
        Ok(format!(
            "<fullpipe.Advice: {choice} for {goal}, from {runs} runs>"
        ))
    }
}

/// Chooses a controller for a path that is known in part.
///
/// ``path`` is a :class:`fullpipe.Path` or a dict with its fields; a scenario in any form that :func:`fullpipe.run`
/// takes, whose path and hosts are used; or a :class:`fullpipe.Record`. Any value may be a range, such as
/// ``"10mbit..50mbit"`` or ``"0..1%"``. By default ``buffer`` is ``"0.5bdp..8bdp"``. ``set`` replaces fields:
/// ``{"path.loss": "0..1%"}``.
///
/// Paths are sampled from these ranges. Each of ``controllers`` runs over each path in the simulator: alone, beside a
/// CUBIC flow, and beside itself with small requests. ``goal`` is ``"throughput"``, ``"latency"`` or ``"fair"``.
/// ``paths`` is the number of sampled paths, and ``duration`` the simulated time of each run, such as ``"30s"``; by
/// default, both are chosen to take some fifteen seconds on two processors.
///
/// ``jobs`` is the number of concurrent runs, by default that of processors. ``progress`` is as for
/// :func:`fullpipe.sweep`.
///
/// :raises fullpipe.ScenarioError: the path or an argument is invalid; ``field`` names it
/// :raises fullpipe.EngineError: there is no path on which all runs ended
/// :raises OSError: a file cannot be read
/// :raises KeyboardInterrupt: Ctrl-C
#[pyfunction]
#[pyo3(
    signature = (
        path, *, goal = None, controllers = None, paths = None, duration = None, seed = None, set = None, jobs = None,
        progress = None
    ),
    text_signature = "(path, *, goal='throughput', controllers=None, paths=None, duration=None, seed=1, set=None, \
        jobs=None, progress=None)"
)]
#[expect(clippy::too_many_arguments, reason = "options by keyword")]
pub fn advise(
    py: Python<'_>,
    path: &Bound<'_, PyAny>,
    goal: Asked<'_, '_>,
    controllers: Asked<'_, '_>,
    paths: Asked<'_, '_>,
    duration: Asked<'_, '_>,
    seed: Asked<'_, '_>,
    set: Asked<'_, '_>,
    jobs: Asked<'_, '_>,
    progress: Asked<'_, '_>,
) -> PyResult<Advice> {
    let goal = named("goal", goal, Goal::Throughput)?;
    let progress = Progress::asked(py, progress)?;
    let jobs = self::jobs(jobs, EngineKind::Sim)?;
    let seed = arguments::seed(seed)?.unwrap_or(1);
    let question = Question {
        path: known(path, set)?,
        controllers: candidates(controllers)?,
        paths: count("paths", paths)?.map(usize::from),
        duration: duration.map(positive).transpose()?,
        seed,
    };
    let cancel = Cancel::new();
    let planned = interruptible(py, &cancel, || {
        let sampling = question.sampling();
        let sampling = sampling.map_err(|error| error::of_scenario(&error))?;
        let cases = sampling.cases(&question.controllers);
        let plan = studies::advise::plan(&sampling, "advise", &cases, &cancel);
        let engine = EngineKind::Sim.engine();
        for run in plan.runs.iter().take_while(|_| !cancel.is_cancelled()) {
            let checked = engine.check(&run.scenario);
            checked.map_err(|error| error::of_engine(&error))?;
        }
        Ok::<_, PyErr>((sampling, cases, plan))
    })?;
    let (sampling, cases, plan) = planned?;
    let engine = EngineKind::Sim.engine();
    let all = plan.all();
    let mut gathering = Gathering::new(all.len());
    let Ok(failed) = progress.of_runs(py, EngineKind::Sim, &all, &cancel, |watch| {
        let execution = Execution {
            engine: engine.as_ref(),
            jobs,
            repeats: None,
            watch,
            cancel: &cancel,
        };
        runs::execute(&all, &execution, |place, outcome| {
            if let Ok(record) = outcome {
                gathering.note(place, Measured::of(&record));
            }
            Ok::<(), Infallible>(())
        })
    })?;
    let advice = Advice {
        goal,
        seed,
        outcomes: Outcomes::new(&question.controllers, &cases, &gathering),
        sampling,
        runs: all.len() - failed.len(),
        failed: failed
            .into_iter()
            .map(|one| (one.run.name.clone(), one.reason.to_string()))
            .collect(),
    };
    advice.choice()?;
    Ok(advice)
}

/// Reads the known properties of the path.
fn known(said: &Bound<'_, PyAny>, set: Asked<'_, '_>) -> PyResult<RangedPath> {
    let mut reader = Reader::default();
    let wrong = |error| error::of_scenario(&error);
    let mut path = match said.cast::<Record>() {
        Ok(record) => RangedPath::parse(&record.get().toml(), Path::new("")).map_err(wrong)?,
        Err(_) => match reader.read(said, "path")? {
            Said::Text(text, directory) => RangedPath::parse(&text, &directory).map_err(wrong)?,
            Said::Entries(entries) => of_entries(&entries).map_err(wrong)?,
        },
    };
    for (field, value) in reader.replacements(set)? {
        path.replace(&field, &value).map_err(wrong)?;
    }
    path.complete();
    Ok(path)
}

/// The path of a dict: a scenario's, or a dict of only its fields.
fn of_entries(entries: &[Entry]) -> Result<RangedPath, document::DocumentError> {
    let mut path = RangedPath::unknown();
    let is_scenario = entries
        .iter()
        .any(|entry| ["path", "host"].contains(&entry.key.as_str()));
    for Entry { key, value, .. } in entries {
        match is_scenario {
            true if IGNORED_PARTS.contains(&key.as_str()) => {}
            true => path.replace(key, value)?,
            false => path.replace(&format!("path.{key}"), value)?,
        }
    }
    Ok(path)
}

/// The candidates without repetitions.
fn candidates(asked: Asked<'_, '_>) -> PyResult<Vec<ControllerKind>> {
    let fix = "give a list of names such as [\"bbr3\", \"cubic\"]";
    let Some(names) = names("controllers", asked, fix)? else {
        return Ok(vec![
            ControllerKind::Bbr3,
            ControllerKind::Bbr1,
            ControllerKind::Cubic,
            ControllerKind::Reno,
        ]);
    };
    let mut candidates = Vec::new();
    for name in names {
        let candidate = one_of("controllers", &name)?;
        if !candidates.contains(&candidate) {
            candidates.push(candidate);
        }
    }
    if candidates.is_empty() {
        let message = "controllers: the list is empty; name one or more";
        return Err(error::of_field(message, "controllers", None));
    }
    Ok(candidates)
}

fn positive(said: &Bound<'_, PyAny>) -> PyResult<Duration> {
    let text = text("duration", said, "give a str such as \"30s\"")?;
    let wrong = |reason: &str| error::of_field(&format!("duration: {reason}"), "duration", None);
    let duration: Duration = text.parse().map_err(|error| wrong(&format!("{error}")))?;
    if duration.is_zero() {
        return Err(wrong("nothing happens in 0s; give a time such as 30s"));
    }
    Ok(duration)
}
