//! The program's JSON as Python dicts.

use pyo3::prelude::*;
use serde::Serialize;

/// Converts a value to a new Python object by way of JSON.
pub fn object<'py>(py: Python<'py>, value: &impl Serialize) -> PyResult<Bound<'py, PyAny>> {
    let text = serde_json::to_string(value)
        .map_err(|error| pyo3::exceptions::PyRuntimeError::new_err(error.to_string()))?;
    py.import("json")?.call_method1("loads", (text,))
}
