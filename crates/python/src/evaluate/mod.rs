//! `fullpipe.evaluate`.
//!
//! The runs are done here, on threads of this machine, or elsewhere: an [`order`] describes some of them as text, and
//! what they measure comes back as text.

mod asked;
mod away;
mod order;

use std::time::SystemTime;

use ::evaluate::Evaluation;
use lab::EngineKind;
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyDict};
use report::Origin;

use crate::arguments::{Asked, count, flag, jobs, named, names};
use crate::json;
use crate::progress::Progress;
use crate::sweep::{Executor, driver};

use asked::Evaluated;
pub use away::AwayEvaluation;
pub use order::part;

/// The result of :func:`fullpipe.evaluate`.
#[pyclass(frozen, name = "Evaluation", module = "fullpipe")]
pub struct Judged {
    evaluation: Evaluation,
}

#[pymethods]
impl Judged {
    /// All rows as a new dict.
    #[getter]
    fn summary<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        json::object(py, &self.evaluation)
    }

    /// The output of ``fullpipe evaluate --json``, to the byte: what its ``--against`` takes.
    #[getter]
    fn json(&self) -> PyResult<String> {
        json::line(&self.evaluation)
    }

    /// An HTML page with plots, which needs no network: the page of ``fullpipe evaluate --report``.
    #[getter]
    fn page(&self, py: Python<'_>) -> String {
        let origin = Origin {
            command: "fullpipe.evaluate".to_owned(),
            generated: SystemTime::now(),
        };
        py.detach(|| self.evaluation.page(&origin))
    }

    /// The verdicts by criterion, such as ``{"harm-cubic": "safe"}``.
    #[getter]
    fn verdicts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let rows = self.evaluation.rows.iter();
        rows.map(|row| (&row.name, row.verdict.to_string()))
            .into_py_dict(py)
    }

    /// The failed runs with their reasons. Their cases are missing.
    #[getter]
    fn failed(&self) -> Vec<String> {
        self.evaluation.failed.clone()
    }

    /// The output of ``fullpipe evaluate``.
    fn __str__(&self) -> String {
        self.evaluation.text(Some(120))
    }

    fn __repr__(&self) -> String {
        let Evaluation {
            controller, rows, ..
        } = &self.evaluation;
        format!(
            "<fullpipe.Evaluation of {controller} by {} criteria>",
            rows.len()
        )
    }
}

/// Judges a controller by RFC 9743: safe, better, worse or harmful, criterion by criterion.
///
/// ``controller`` is a class of yours (see :mod:`fullpipe.reno`), the name of a controller, or a flow with its settings,
/// such as ``{"controller": "bbr3", "bbr3": {"ecn": "linux"}}``. docs/evaluate.md explains the criteria.
///
/// ``quick`` takes few seeds and paths, for a first look. ``only`` is a list of criteria; all by default.
///
/// ``executor`` is ``"local"``, the threads of this process, or ``"ray"``, a Ray cluster, as for :func:`sweep`. Both give
/// the same evaluation, to the byte. A class in Python runs on one thread at a time in each process, so it is faster on
/// Ray, even on one machine. ``jobs`` and ``progress`` are as for :func:`sweep`.
///
/// Ctrl-C ends the evaluation when the handler of your class that is running returns.
///
/// :raises fullpipe.ScenarioError: an argument is invalid; ``field`` names it
/// :raises fullpipe.EngineError: Ray workers were lost repeatedly
/// :raises ModuleNotFoundError: ``executor="ray"``, and Ray is not installed
/// :raises KeyboardInterrupt: Ctrl-C
#[pyfunction]
#[pyo3(
    signature = (controller, *, quick = None, only = None, executor = None, jobs = None, progress = None),
    text_signature = "(controller, *, quick=False, only=None, executor='local', jobs=None, progress=None)"
)]
pub fn evaluate(
    py: Python<'_>,
    controller: &Bound<'_, PyAny>,
    quick: Asked<'_, '_>,
    only: Asked<'_, '_>,
    executor: Asked<'_, '_>,
    jobs: Asked<'_, '_>,
    progress: Asked<'_, '_>,
) -> PyResult<Judged> {
    let executor = named("executor", executor, Executor::Local)?;
    let progress = Progress::asked(py, progress)?;
    let quick = quick.map(|said| flag("quick", said)).transpose()?;
    let only = names("only", only, "give a list such as [\"harm-cubic\"]")?;
    let asked = Evaluated::new(controller, quick.unwrap_or(false), only.unwrap_or_default())?;
    let evaluation = match executor {
        Executor::Local => {
            let jobs = self::jobs(jobs, EngineKind::Sim)?;
            asked.run(py, jobs, &progress)?
        }
        Executor::Ray => {
            let jobs = count("jobs", jobs)?.map(usize::from);
            AwayEvaluation::drive(asked, &driver(py)?, jobs, progress.callable())?
        }
    };
    Ok(Judged { evaluation })
}
