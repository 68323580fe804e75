//! An evaluation whose runs are done elsewhere, given away by Python order by order.

use evaluate::{Evaluation, Measured};
use pyo3::prelude::*;

use super::asked::Evaluated;
use super::order::{Order, Report};
use crate::build::build;
use crate::json;

/// The arguments of ``_evaluate``: an order, and the controller.
type Given = (String, Py<PyAny>);

/// The evaluation, and what has come back.
#[pyclass(name = "_Evaluating", module = "fullpipe")]
pub struct AwayEvaluation {
    asked: Evaluated,
    build: String,
    /// The number of runs that were given away.
    given: usize,
    measured: Measured,
}

impl AwayEvaluation {
    /// Calls `driver` with the evaluation and these arguments, and judges.
    ///
    /// # Errors
    ///
    /// The driver raises an exception.
    pub fn drive(
        asked: Evaluated,
        driver: &Bound<'_, PyAny>,
        jobs: Option<usize>,
        tell: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Evaluation> {
        let py = driver.py();
        let away = AwayEvaluation {
            build: build(py)?,
            asked,
            given: 0,
            measured: Measured::default(),
        };
        let away = Bound::new(py, away)?;
        driver.call1((&away, jobs, tell))?;
        let away = away.borrow();
        Ok(away.asked.judge(&away.measured))
    }
}

#[pymethods]
impl AwayEvaluation {
    /// The number of runs.
    #[getter]
    fn missing(&self) -> usize {
        self.asked.runs()
    }

    /// The next runs not given away yet, at most ``most``, as the arguments of ``_evaluate``, and their number. None if
    /// there are no more.
    fn task(&mut self, py: Python<'_>, most: usize) -> PyResult<Option<(Given, usize)>> {
        let places = self.given..self.asked.runs().min(self.given + most.max(1));
        let count = places.len();
        if count == 0 {
            return Ok(None);
        }
        self.given = places.end;
        let order = json::line(&Order {
            build: self.build.clone(),
            quick: self.asked.quick,
            only: self.asked.only.clone(),
            places,
        })?;
        Ok(Some(((order, self.asked.said.clone_ref(py)), count)))
    }

    /// Takes the report of an order, and returns its duration in seconds.
    fn take(&mut self, report: &str) -> PyResult<f64> {
        let report: Report = json::read(report)?;
        self.measured.add(report.measured);
        Ok(report.seconds)
    }
}
