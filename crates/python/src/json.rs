//! JSON: the program's as Python dicts, and what workers elsewhere are told.

use pyo3::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Converts a value to a new Python object by way of JSON.
pub fn object<'py>(py: Python<'py>, value: &impl Serialize) -> PyResult<Bound<'py, PyAny>> {
    py.import("json")?.call_method1("loads", (line(value)?,))
}

/// The value as JSON on one line.
pub fn line(value: &impl Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|error| wrong(&error))
}

/// The value that JSON on one line has.
pub fn read<T: DeserializeOwned>(text: &str) -> PyResult<T> {
    serde_json::from_str(text).map_err(|error| wrong(&error))
}

fn wrong(error: &serde_json::Error) -> PyErr {
    pyo3::exceptions::PyRuntimeError::new_err(error.to_string())
}
