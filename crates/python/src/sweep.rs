//! `fullpipe.sweep`.

use std::fs::{self, File};
use std::io;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::thread;

use arrow_array::RecordBatch;
use lab::{Cancel, EngineError};
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use studies::runs::{self, Execution, Plan, Store};
use studies::sweep::{Flows, Results, Sweep, SweepError};
use tempfile::TempDir;

use crate::columns::batch;
use crate::error;
use crate::said::{Reader, Said};
use crate::table::Table;
use crate::waiting::interruptible;

/// What a sweep gives.
#[pyclass(frozen, name = "Sweep", module = "fullpipe")]
pub struct Swept {
    flows: RecordBatch,
    summary: serde_json::Value,
}

#[pymethods]
impl Swept {
    /// One row a flow a run, as in ``sweep.parquet``: ``axis_…`` for each field that varies, ``point``, ``repeat``, ``seed``,
    /// what the summary says of the run, and ``flow_…``, what it says of the flow. Without the columns that are lists.
    #[getter]
    fn flows(&self) -> Table {
        Table::new(self.flows.clone())
    }

    /// Medians by point and controller, and the runs that failed, as a new dict: what ``fullpipe sweep --json`` prints.
    #[getter]
    fn summary<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        py.import("json")?
            .call_method1("loads", (self.summary.to_string(),))
    }

    fn __repr__(&self) -> String {
        format!(
            "<fullpipe.Sweep {} on engine {}: {} runs, {} flows>",
            self.summary["sweep"],
            self.summary["engine"].as_str().unwrap_or_default(),
            self.summary["runs"],
            self.flows.num_rows()
        )
    }
}

/// Runs a scenario at every point of a grid, on all processors.
///
/// ``sweep`` is a dict, TOML text, or the path of a TOML file, with the keys of a sweep's file: ``scenario`` (as for
/// :func:`run`), ``axes``, ``repeats``, ``engine`` and so on. ``set`` replaces fields of the scenario before the axes do.
///
/// ``out`` is a directory that keeps each run as soon as it is done: the same call goes on where an earlier one was ended.
/// Without it nothing is kept. ``jobs`` is how many runs there are at a time; as many as processors if not given, and one
/// for engines in real time.
///
/// A run that fails does not end the others; ``summary["failed"]`` has the reason.
///
/// :raises fullpipe.ScenarioError: the sweep makes no sense; ``field`` is the one to mend
/// :raises OSError: a file cannot be read, or results cannot be kept; the others are
/// :raises KeyboardInterrupt: Ctrl-C; with ``out``, what is done is kept
#[pyfunction]
#[pyo3(signature = (sweep, *, out = None, jobs = None, set = None))]
pub fn sweep(
    py: Python<'_>,
    sweep: &Bound<'_, PyAny>,
    out: Option<PathBuf>,
    jobs: Option<NonZeroUsize>,
    set: Option<&Bound<'_, PyDict>>,
) -> PyResult<Swept> {
    let mut reader = Reader::default();
    let mut sweep = read(&mut reader, sweep)?;
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
    let plan = py.detach(|| plan(&sweep, &build))?;
    let place = Place::open(out)?;
    let mut store = Store::open(place.path()).map_err(|error| error::of_files(&error))?;
    let missing = runs::missing(&plan, &store);
    let (engine, cancel) = (sweep.engine.engine(), Cancel::new());
    let usual = || {
        if sweep.engine.is_real_time() {
            // They would measure each other.
            return 1;
        }
        thread::available_parallelism().map_or(1, NonZeroUsize::get)
    };
    let jobs = jobs.map_or_else(usual, NonZeroUsize::get);
    let execution = Execution::unwatched(engine.as_ref(), jobs, &cancel);
    let failed = interruptible(py, &cancel, || {
        runs::resume(&missing, &mut store, &execution, |_, record| record.summary)
    })?;
    let failed = failed.map_err(|error| error::of_files(&error))?;
    py.detach(|| {
        let flows = Flows::new(&plan, &store);
        let mut columns = flows.columns();
        columns.retain(|column| !column.is_list());
        Ok(Swept {
            flows: batch((columns, 0..flows.count()))?,
            summary: Results::new(&plan, sweep.engine, &store).json(&failed),
        })
    })
    .map_err(|error: arrow_schema::ArrowError| PyRuntimeError::new_err(error.to_string()))
}

fn read(reader: &mut Reader, said: &Bound<'_, PyAny>) -> PyResult<Sweep> {
    let sweep = match reader.read(said, "sweep")? {
        Said::Entries(entries) => Sweep::read(&entries, Path::new("")),
        Said::Text(text, directory) => Sweep::parse(&text, &directory),
    };
    sweep.map_err(|error| wrong(&error))
}

/// What is to be run; all of it makes sense to the engine.
fn plan(sweep: &Sweep, build: &str) -> PyResult<Plan> {
    let plan = sweep.plan(build).map_err(|error| wrong(&error))?;
    let engine = sweep.engine.engine();
    for run in &plan.runs {
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

/// Where results are kept: for good, or until the sweep ends.
enum Place {
    Kept(PathBuf),
    Passing(TempDir),
}

impl Place {
    /// The directory, which is made if need be. One that is used for something else is left alone.
    fn open(out: Option<PathBuf>) -> PyResult<Place> {
        let Some(directory) = out else {
            let made = tempfile::tempdir().map_err(|error| error::of_files(&error))?;
            return Ok(Place::Passing(made));
        };
        let entries = fs::create_dir_all(&directory).and_then(|()| fs::read_dir(&directory));
        let mut entries = entries.map_err(|error| error::of_file(&directory, &error))?;
        if entries.next().is_some() && !directory.join(runs::FILE).exists() {
            let directory = directory.display();
            return Err(PyOSError::new_err(format!(
                "out: {directory} has files that are not of runs like these; name another directory"
            )));
        }
        Ok(Place::Kept(directory))
    }

    fn path(&self) -> &Path {
        match self {
            Place::Kept(directory) => directory,
            Place::Passing(made) => made.path(),
        }
    }
}

/// What tells this package from others, older and newer ones: results of another are not this one's.
fn build(py: Python<'_>) -> PyResult<String> {
    static BUILD: OnceLock<String> = OnceLock::new();
    if let Some(build) = BUILD.get() {
        return Ok(build.clone());
    }
    let module: PathBuf = py
        .import("fullpipe._native")?
        .getattr("__file__")?
        .extract()?;
    let hash = py.detach(|| {
        let mut hasher = blake3::Hasher::new();
        hasher.update_reader(File::open(&module)?)?;
        Ok(hasher.finalize().to_hex().to_string())
    });
    let hash = hash.map_err(|error: io::Error| error::of_file(&module, &error))?;
    Ok(BUILD.get_or_init(|| hash).clone())
}
