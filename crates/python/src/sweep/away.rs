//! A grid that is run elsewhere, as Python gives it away task by task.

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use super::Swept;
use super::grid::Grid;

/// The grid, until the sweep has ended. A traceback may keep this object alive; that must not keep the results locked.
#[pyclass(name = "_Grid", module = "fullpipe")]
pub struct Away(Option<Grid>);

impl Away {
    /// What `driver` makes of the grid, which is a function of it and these arguments.
    ///
    /// # Errors
    ///
    /// What it raises.
    pub fn drive(
        grid: Grid,
        driver: &Bound<'_, PyAny>,
        jobs: Option<usize>,
        tell: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Swept> {
        let py = driver.py();
        let away = Bound::new(py, Away(Some(grid.elsewhere()?)))?;
        let driven = driver.call1((&away, jobs, tell));
        let grid = away.borrow_mut().0.take().ok_or_else(over)?;
        driven?;
        grid.finish(py)
    }
}

fn over() -> PyErr {
    PyRuntimeError::new_err("the sweep has ended")
}

#[pymethods]
impl Away {
    /// How many runs were missing when the sweep began.
    #[getter]
    fn missing(&self) -> PyResult<usize> {
        self.0.as_ref().map(Grid::missing).ok_or_else(over)
    }

    /// The next runs that were not given away yet, at most so many, as a task, and how many these are; None if there is none.
    fn task(&mut self, most: usize) -> PyResult<Option<(String, usize)>> {
        self.0.as_mut().ok_or_else(over)?.task(most)
    }

    /// Takes a task's report; gives how many seconds the task took.
    fn take(&mut self, report: &str) -> PyResult<f64> {
        self.0.as_mut().ok_or_else(over)?.take(report)
    }
}
