//! The runs of a sweep and their results.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use document::tree::Node;
use files::Readers;
use lab::{Cancel, EngineError, EngineKind};
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyRuntimeWarning, PyTypeError};
use pyo3::prelude::*;
use record::Summary;
use studies::runs::{self, Execution, Failed, Keys, Plan, Reason, Run, Store};
use studies::sweep::{self, Flows, Results, Sweep, SweepError};

use super::Swept;
use super::parts;
use super::place;
use super::task::{Order, Report, Task};
use crate::arguments::Asked;
use crate::build::build;
use crate::columns::batch;
use crate::error;
use crate::progress::Progress;
use crate::said::{Reader, Said};
use crate::waiting::interruptible;

/// The file with all flows of all runs.
const TABLE: &str = "sweep.parquet";

/// The runs of a sweep and their results.
pub struct Grid {
    engine: EngineKind,
    /// The sweep's text, if it came as text.
    text: String,
    build: String,
    plan: Plan,
    /// The directory of the results, if they are kept.
    out: Option<PathBuf>,
    store: Store<Summary>,
    /// The indices of the missing runs in the plan.
    missing: Vec<usize>,
    /// The number of these that were given away as tasks.
    given: usize,
    failed: Vec<(usize, String)>,
}

impl Grid {
    /// Reads a sweep and its earlier results. The engine can run all of it.
    pub fn open(
        py: Python<'_>,
        said: &Bound<'_, PyAny>,
        out: Option<PathBuf>,
        set: Asked<'_, '_>,
    ) -> PyResult<Grid> {
        let mut reader = Reader::default();
        let (mut sweep, text) = read(&mut reader, said)?;
        for (field, value) in reader.replacements(set)? {
            let replaced = sweep.replace(&field, &value);
            replaced.map_err(|error| error::of_scenario(&error))?;
        }
        if !reader.classes.is_empty() {
            return Err(PyTypeError::new_err(
                "controller: a sweep takes no class of Python's; run its points with fullpipe.run",
            ));
        }
        let build = build(py)?;
        let cancel = Cancel::new();
        let plan = interruptible(py, &cancel, || plan(&sweep, &build, &cancel))??;
        let store = match &out {
            Some(directory) => open(py, directory)?,
            None => Store::in_memory(),
        };
        let missing = |(at, run): (usize, &Run)| store.get(&run.key).is_none().then_some(at);
        Ok(Grid {
            engine: sweep.engine,
            missing: plan.runs.iter().enumerate().filter_map(missing).collect(),
            text,
            build,
            plan,
            out,
            store,
            given: 0,
            failed: Vec::new(),
        })
    }

    pub fn engine(&self) -> EngineKind {
        self.engine
    }

    /// Executes the missing runs on threads of this process.
    pub fn run(&mut self, py: Python<'_>, jobs: usize, progress: &Progress<'_>) -> PyResult<()> {
        let (engine, cancel) = (self.engine.engine(), Cancel::new());
        let missing: Vec<&Run> = self.missing.iter().map(|at| &self.plan.runs[*at]).collect();
        let store = &mut self.store;
        let failed = progress.of_runs(py, self.engine, &missing, &cancel, |watch| {
            let execution = Execution {
                engine: engine.as_ref(),
                jobs,
                repeats: None,
                watch,
                cancel: &cancel,
            };
            runs::resume(&missing, store, &execution, |_, record| record.summary)
        })?;
        let failed = failed.map_err(|error| error::of_files(&error))?;
        for one in failed {
            let at = missing.iter().position(|run| std::ptr::eq(*run, one.run));
            self.failed
                .extend(at.map(|at| (self.missing[at], one.reason.to_string())));
        }
        Ok(())
    }

    /// Prepares the grid for workers elsewhere.
    pub fn elsewhere(self) -> PyResult<Grid> {
        if self.engine.is_real_time() {
            let message = format!(
                "engine: {} is in real time, and runs on a cluster would measure each other; executor \"ray\" takes sim",
                self.engine
            );
            return Err(error::of_field(&message, "engine", None));
        }
        if let Some(directory) = &self.out {
            if directory.to_str().is_none() {
                let directory = directory.display();
                return Err(PyOSError::new_err(format!(
                    "out: {directory} is not UTF-8; executor \"ray\" takes a directory whose name is"
                )));
            }
            let parts = directory.join(parts::DIRECTORY);
            files::make_directory(&parts, 0o777).map_err(|error| error::of_file(&parts, &error))?;
        }
        Ok(self)
    }

    /// The number of missing runs when it was opened.
    pub fn missing(&self) -> usize {
        self.missing.len()
    }

    /// The next runs not given away yet, at most `most`, as a task. Nothing if there are no more.
    pub fn task(&mut self, most: usize) -> PyResult<Option<(String, usize)>> {
        let places = self.missing.iter().skip(self.given).take(most.max(1));
        let mut keys = Keys::new(self.engine, &self.build);
        let orders = places.map(|at| Order::new(*at, &self.plan.runs[*at], &mut keys));
        let runs = orders.collect::<PyResult<Vec<_>>>()?;
        if runs.is_empty() {
            return Ok(None);
        }
        let count = runs.len();
        self.given += count;
        let directory = self.out.as_ref().map(|out| {
            let parts = out.join(parts::DIRECTORY);
            std::path::absolute(parts).map_err(|error| error::of_file(out, &error))
        });
        let directory = directory.transpose()?;
        let task = serde_json::to_string(&Task { directory, runs });
        let task = task.map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
        Ok(Some((task, count)))
    }

    /// Takes a task's report, and returns the duration of the task in seconds.
    pub fn take(&mut self, report: &str) -> PyResult<f64> {
        let report: Report = serde_json::from_str(report)
            .map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
        if let Some(part) = report.part.filter(|part| !part.exists()) {
            return Err(PyOSError::new_err(format!(
                "out: {} was written on another machine; name a directory of a file system that all machines share",
                part.display()
            )));
        }
        for (at, summary) in report.done {
            self.store.recall(self.plan.runs[at].key.clone(), summary);
        }
        self.failed.extend(report.failed);
        Ok(report.seconds)
    }

    /// The results when all is done.
    pub fn finish(mut self, py: Python<'_>) -> PyResult<Swept> {
        let made = py.detach(|| {
            if let Some(directory) = self.out.clone() {
                let parts = directory.join(parts::DIRECTORY);
                let store = &mut self.store;
                let read = parts::read_all(&parts, |key, of| store.recall(key, of));
                read.map_err(|error| error::of_file(&parts, &error))?;
                self.check(&parts)?;
                self.write(&directory)?;
            }
            let flows = Flows::new(&self.plan, &self.store);
            let mut columns = flows.columns();
            columns.retain(|column| column.kind() != tables::Kind::List);
            let flows = batch((columns, 0..flows.count()));
            let flows = flows.map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
            self.failed.sort();
            let failed: Vec<Failed<'_>> = self
                .failed
                .iter()
                .map(|(at, reason)| Failed {
                    run: &self.plan.runs[*at],
                    reason: Reason::Failed(reason.clone()),
                })
                .collect();
            let summary = Results::new(&self.plan, self.engine, &self.store).json(&failed);
            Ok::<_, PyErr>(Swept { flows, summary })
        })?;
        Ok(made)
    }

    /// Checks that no run that a worker reported as done is missing in `parts`.
    fn check(&self, parts: &Path) -> PyResult<()> {
        let has_failed: HashSet<usize> = self.failed.iter().map(|(at, _)| *at).collect();
        let has = |at: usize| self.store.get(&self.plan.runs[at].key).is_some();
        let lost = self
            .missing
            .iter()
            .filter(|at| !has_failed.contains(at) && !has(**at));
        let lost = lost.count();
        if lost == 0 {
            return Ok(());
        }
        Err(PyOSError::new_err(format!(
            "{}: the results of {lost} runs are damaged or gone since they were written; call again, they are done again",
            parts.display()
        )))
    }

    fn write(&self, directory: &Path) -> PyResult<()> {
        let mut table = Vec::new();
        sweep::write_parquet(&mut table, &self.plan, &self.store, &self.text)
            .map_err(|error| error::of_files(&error))?;
        let path = directory.join(TABLE);
        let written = files::write(&path, &table, Readers::Everybody);
        written.map_err(|error| error::of_file(&error.path, &error.source))
    }
}

/// Opens the results in the directory, and creates it if necessary.
fn open(py: Python<'_>, directory: &Path) -> PyResult<Store<Summary>> {
    place::make(directory)?;
    let at = directory.join(parts::DIRECTORY);
    let opened = py.detach(|| {
        let mut store = Store::open(directory).map_err(|error| error::of_files(&error))?;
        let parts = parts::read_all(&at, |key, of| store.recall(key, of));
        let parts = parts.map_err(|error| error::of_file(&at, &error))?;
        Ok::<_, PyErr>((store, parts))
    });
    let (store, parts) = opened?;
    warn(py, &directory.join(runs::FILE), store.damaged(), "lines")?;
    warn(py, &at, parts, "files")?;
    Ok(store)
}

/// Warns about damaged results that were left out, if there are any.
fn warn(py: Python<'_>, path: &Path, damaged: usize, what: &str) -> PyResult<()> {
    if damaged == 0 {
        return Ok(());
    }
    let message = format!(
        "{}: {damaged} {what} damaged and left out; their runs are done again\0",
        path.display()
    );
    let message = std::ffi::CString::from_vec_with_nul(message.into_bytes());
    let message = message.unwrap_or_else(|_| c"damaged results are left out".to_owned());
    PyErr::warn(py, &py.get_type::<PyRuntimeWarning>(), &message, 1)
}

fn read(reader: &mut Reader, said: &Bound<'_, PyAny>) -> PyResult<(Sweep, String)> {
    let read = match reader.read(said, "sweep")? {
        Said::Entries(mut entries) => {
            for entry in entries.iter_mut().filter(|entry| entry.key == "scenario") {
                // As for `run`: a file name has one line.
                if let Node::Scalar(text) = &entry.value
                    && text.contains('\n')
                {
                    let inner = Node::from_toml(text);
                    entry.value = Node::Table(inner.map_err(|error| error::of_scenario(&error))?);
                }
            }
            Sweep::read(&entries, Path::new("")).map(|sweep| (sweep, String::new()))
        }
        Said::Text(text, directory) => Sweep::parse(&text, &directory).map(|sweep| (sweep, text)),
    };
    read.map_err(|error| wrong(&error))
}

/// The plan of the sweep. The engine can run all of it.
fn plan(sweep: &Sweep, build: &str, cancel: &Cancel) -> PyResult<Plan> {
    let plan = sweep.plan_until(build, cancel);
    let mut plan = plan.map_err(|error| wrong(&error))?;
    plan.keep_samples(false);
    let engine = sweep.engine.engine();
    for run in plan.runs.iter().take_while(|_| !cancel.is_cancelled()) {
        engine.check(&run.scenario).map_err(|error| match error {
            EngineError::Scenario(error) => {
                let message = format!("at {}: {error}", run.name);
                error::of_field(&message, &error.field, None)
            }
            error => error::of_engine(&error),
        })?;
    }
    Ok(plan)
}

fn wrong(error: &SweepError) -> PyErr {
    match error {
        SweepError::Trace(unreadable) => error::of_files(unreadable),
        SweepError::Text(wrong) => error::of_scenario(wrong),
        SweepError::Base { error: wrong, .. } | SweepError::Point { error: wrong, .. } => {
            error::of_field(&error.to_string(), &wrong.field, wrong.line)
        }
        error => error::of_field(&error.to_string(), "axes", None),
    }
}
