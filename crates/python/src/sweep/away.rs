//! A grid that is run elsewhere, given away by Python task by task.

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use super::Swept;
use super::grid::Grid;

/// The grid, until the sweep has ended. A traceback may keep this object alive, but must not keep the results locked.
#[pyclass(name = "_Grid", module = "fullpipe")]
pub struct Away(Option<Grid>);

impl Away {
    /// Calls `driver` with the grid and these arguments.
    ///
    /// # Errors
    ///
    /// The driver raises an exception.
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
    /// The number of missing runs at the start of the sweep.
    #[getter]
    fn missing(&self) -> PyResult<usize> {
        self.0.as_ref().map(Grid::missing).ok_or_else(over)
    }

    /// The next runs not given away yet, at most ``most``, as the arguments of ``_work``, and their number. None if there are no more.
    fn task(&mut self, most: usize) -> PyResult<Option<((String,), usize)>> {
        let task = self.0.as_mut().ok_or_else(over)?.task(most)?;
        Ok(task.map(|(text, count)| ((text,), count)))
    }

    /// Takes a task's report, and returns the duration of the task in seconds.
    fn take(&mut self, report: &str) -> PyResult<f64> {
        self.0.as_mut().ok_or_else(over)?.take(report)
    }
}
