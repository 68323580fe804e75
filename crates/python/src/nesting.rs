//! Runs that Python starts while another run of the same thread waits for it.

use std::cell::Cell;

use pyo3::exceptions::PyRecursionError;
use pyo3::prelude::*;

/// So many runs inside each other at most. Python counts its own calls alone, and a stack of 1 MiB has to hold these and the
/// simulators between them.
const DEEPEST: usize = 16;

thread_local! {
    /// How many runs of this thread wait for an answer.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

/// Asks Python for a run that waits; `whom` is the argument that Python gave for it.
///
/// # Errors
///
/// Too many runs of this thread wait already (`RecursionError`), or what Python raises.
pub fn ask<T>(
    py: Python<'_>,
    whom: &str,
    work: impl FnOnce(Python<'_>) -> PyResult<T>,
) -> PyResult<T> {
    let depth = DEPTH.get();
    if depth == DEEPEST {
        return Err(PyRecursionError::new_err(format!(
            "{whom}: {DEEPEST} runs are inside each other, and maybe without an end; run no scenario in one"
        )));
    }
    DEPTH.set(depth + 1);
    let answer = work(py);
    DEPTH.set(depth);
    answer
}
