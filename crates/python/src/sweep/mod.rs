//! `fullpipe.sweep`.
//!
//! A [`Grid`] has what is to be run and what is done of it. It is run here, on the threads of this machine, or elsewhere:
//! then a [`task`] has some of its runs as text, so that nothing but text travels, and [`parts`] have what came of them.

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
    /// What runs the points of a sweep.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    enum Executor, "executor" {
        /// Threads of this process.
        Local = "local",
        /// A cluster of Ray.
        Ray = "ray",
    }
}

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
/// ``out`` is a directory that keeps each run as soon as it is done: the same call goes on where an earlier one was ended.
/// At the end it has ``sweep.parquet``, with one row a flow a run. Without ``out``, nothing is kept.
///
/// ``executor`` is ``"local"``, the threads of this process, or ``"ray"``, a cluster of Ray: the one that ``ray.init`` was
/// called for, or else the one that ``ray.init()`` finds or starts. Both give the same results, to the byte. With Ray, ``out``
/// has to be a directory of a file system that all machines share, and the engine ``"sim"``.
///
/// ``jobs`` is how many runs there are at a time; as many as processors if not given, and one for engines in real time.
/// With Ray, it is how many tasks there are at a time, those that wait for a processor included; twice as many as
/// processors if not given.
///
/// ``progress`` is True for a line on stderr, or a function. It is called with the number of runs that have ended, of those
/// that were to be run, how many these are, and the share of the work that is done (0 to 1); what it raises ends the sweep.
///
/// A run that fails does not end the others; ``summary["failed"]`` has the reason.
///
/// :raises fullpipe.ScenarioError: the sweep or an argument makes no sense; ``field`` is the one to mend
/// :raises fullpipe.EngineError: workers of Ray were lost again and again; what is done is kept
/// :raises OSError: a file cannot be read, or results cannot be kept; the others are
/// :raises ModuleNotFoundError: ``executor="ray"``, and Ray is not installed
/// :raises KeyboardInterrupt: Ctrl-C; with ``out``, what is done is kept
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
            if py.import("ray").is_err() {
                return Err(PyModuleNotFoundError::new_err(
                    "executor: Ray is not installed; in a clone, pip install '.[ray]'",
                ));
            }
            let jobs = count("jobs", jobs)?.map(usize::from);
            let grid = Grid::open(py, sweep, out, set)?;
            let driver = py.import("fullpipe._ray")?.getattr("drive")?;
            Away::drive(grid, &driver, jobs, progress.callable())
        }
    }
}
