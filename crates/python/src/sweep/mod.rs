//! `fullpipe.sweep`.
//!
//! A [`Grid`] has the runs and their results. It runs here, on threads of this machine, or elsewhere. Elsewhere, a
//! [`task`] describes some of its runs as text, so that only text travels, and [`parts`] hold their results.

mod away;
mod grid;
mod parts;
mod place;
mod task;

use arrow_array::RecordBatch;
use pyo3::exceptions::PyModuleNotFoundError;
use pyo3::prelude::*;

pub use away::Away;
use grid::Grid;
pub use task::work;

use crate::arguments::{Asked, count, jobs, named, path};
use crate::json;
use crate::progress::Progress;
use crate::table::Table;

units::named! {
    /// The executor of many runs.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Executor, "executor" {
        /// Threads of this process.
        Local = "local",
        /// A cluster of Ray.
        Ray = "ray",
    }
}

/// The result of a sweep.
#[pyclass(frozen, name = "Sweep", module = "fullpipe")]
pub struct Swept {
    flows: RecordBatch,
    summary: serde_json::Value,
}

#[pymethods]
impl Swept {
    /// One row for each flow of each run, as in ``sweep.parquet``: ``axis_…`` for each varying field, ``point``,
    /// ``repeat``, ``seed``, the summary of the run, and ``flow_…`` with the summary of the flow. Columns that are
    /// lists are left out.
    #[getter]
    fn flows(&self) -> Table {
        Table::new(self.flows.clone())
    }

    /// Medians by point and controller, and the failed runs, as a new dict: the output of ``fullpipe sweep --json``.
    #[getter]
    fn summary<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        json::object(py, &self.summary)
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

/// Runs a scenario at every point of a grid, on all processors or on a cluster.
///
/// ``sweep`` is a dict, TOML text, or the path of a TOML file, with the keys of a sweep's file: ``scenario`` (as for
/// :func:`run`), ``axes``, ``repeats``, ``engine`` and so on. ``set`` replaces fields of the scenario before the axes do.
///
/// ``out`` is a directory that keeps each run as soon as it is done: the same call resumes an interrupted sweep. At the
/// end it contains ``sweep.parquet``, with one row for each flow of each run. Without ``out``, nothing is kept.
///
/// ``executor`` is ``"local"``, the threads of this process, or ``"ray"``, a Ray cluster: the one of an earlier
/// ``ray.init``, or else the one that ``ray.init()`` finds or starts. Both give the same results, to the byte. With
/// Ray, ``out`` must be a directory that all machines share, and the engine ``"sim"``.
///
/// ``jobs`` is the number of concurrent runs, by default that of processors, and one for engines in real time. With
/// Ray, it is the number of concurrent tasks, including those that wait for a processor, by default twice the number of
/// processors.
///
/// ``progress`` is True for a line on stderr, or a function. It is called with the number of ended runs, the number of
/// runs in this call, and the share of the work that is done (0 to 1). An exception from it ends the sweep.
///
/// A failed run does not end the others; ``summary["failed"]`` has the reason.
///
/// :raises fullpipe.ScenarioError: the sweep or an argument is invalid; ``field`` names it
/// :raises fullpipe.EngineError: Ray workers were lost repeatedly; completed runs are kept
/// :raises OSError: a file cannot be read, or results cannot be written; earlier ones are kept
/// :raises ModuleNotFoundError: ``executor="ray"``, and Ray is not installed
/// :raises KeyboardInterrupt: Ctrl-C; with ``out``, completed runs are kept
#[pyfunction]
#[pyo3(
    signature = (
        sweep, *, out = None, executor = None, jobs = None, set = None, progress = None
    ),
    text_signature = "(sweep, *, out=None, executor='local', jobs=None, set=None, progress=None)"
)]
pub fn sweep(
    py: Python<'_>,
    sweep: &Bound<'_, PyAny>,
    out: Asked<'_, '_>,
    executor: Asked<'_, '_>,
    jobs: Asked<'_, '_>,
    set: Asked<'_, '_>,
    progress: Asked<'_, '_>,
) -> PyResult<Swept> {
    let executor = named("executor", executor, Executor::Local)?;
    let out = out.map(|out| path("out", out)).transpose()?;
    let progress = Progress::asked(py, progress)?;
    match executor {
        Executor::Local => {
            let mut grid = Grid::open(py, sweep, out, set)?;
            let jobs = self::jobs(jobs, grid.engine())?;
            grid.run(py, jobs, &progress)?;
            grid.finish(py)
        }
        Executor::Ray => {
            let driver = driver(py)?;
            let jobs = count("jobs", jobs)?.map(usize::from);
            let grid = Grid::open(py, sweep, out, set)?;
            Away::drive(grid, &driver, jobs, progress.callable())
        }
    }
}

/// The function that gives work to a cluster of Ray.
///
/// # Errors
///
/// Ray is not installed (`ModuleNotFoundError`).
pub fn driver(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    if py.import("ray").is_err() {
        return Err(PyModuleNotFoundError::new_err(
            "executor: Ray is not installed; in a clone, pip install '.[ray]'",
        ));
    }
    py.import("fullpipe._ray")?.getattr("drive")
}
