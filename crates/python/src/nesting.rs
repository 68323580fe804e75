//! Runs that Python starts while another run of the same thread waits for it.

use std::cell::Cell;

use pyo3::exceptions::PyRecursionError;
use pyo3::prelude::*;

/// The most nested runs. Python counts only its own calls, and a stack of 1 MiB has to hold these and the simulators
/// between them.
const MAX_DEPTH: usize = 16;

thread_local! {
    /// The number of this thread's runs that wait.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

/// Calls Python from a run that waits. `whom` is the argument that provided the function.
///
/// # Errors
///
/// Too many runs of this thread wait (`RecursionError`), or Python raises an exception.
pub fn ask<T>(
    py: Python<'_>,
    whom: &str,
    work: impl FnOnce(Python<'_>) -> PyResult<T>,
) -> PyResult<T> {
    let depth = DEPTH.get();
    if depth == MAX_DEPTH {
        return Err(PyRecursionError::new_err(format!(
            "{whom}: {MAX_DEPTH} runs are nested, maybe without end; do not run a scenario within a run"
        )));
    }
    DEPTH.set(depth + 1);
    let answer = work(py);
    DEPTH.set(depth);
    answer
}
