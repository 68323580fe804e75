//! Errors as Python's exceptions.

use std::error::Error;
use std::io::{self, ErrorKind};
use std::iter;
use std::path::Path;

use lab::EngineError;
use pyo3::PyErr;
use pyo3::exceptions::{PyFileNotFoundError, PyOSError};

/// The exceptions that `python/fullpipe/_errors.py` defines.
mod raised {
    pyo3::import_exception!(fullpipe._errors, EngineError);
    pyo3::import_exception!(fullpipe._errors, ScenarioError);
}

/// The exception for an invalid scenario: `fullpipe.ScenarioError`.
pub fn of_scenario(error: &document::DocumentError) -> PyErr {
    of_field(&error.to_string(), &error.field, error.line)
}

/// The exception for an invalid field with this message: `fullpipe.ScenarioError`.
pub fn of_field(message: &str, field: &str, line: Option<usize>) -> PyErr {
    raised::ScenarioError::new_err((message.to_owned(), field.to_owned(), line))
}

/// The exception for an argument with an unknown name: `fullpipe.ScenarioError` with the argument as its field.
pub fn of_argument(name: &str, error: &units::UnknownName) -> PyErr {
    of_field(&format!("{name}: {error}"), name, None)
}

/// The exception for a failed engine: `fullpipe.EngineError`, or `fullpipe.ScenarioError` if it cannot run the
/// scenario.
pub fn of_engine(error: &EngineError) -> PyErr {
    match error {
        EngineError::Scenario(error) => of_scenario(error),
        error => raised::EngineError::new_err(error.to_string()),
    }
}

/// The exception for failed runs with this message: `fullpipe.EngineError`.
pub fn of_run(message: &str) -> PyErr {
    raised::EngineError::new_err(message.to_owned())
}

/// The exception for an error about files: `OSError` of the subclass for the system's error.
pub fn of_files(error: &(dyn Error + 'static)) -> PyErr {
    let causes = iter::successors(Some(error), |cause| (*cause).source());
    let mut causes = causes.filter_map(|cause| cause.downcast_ref::<io::Error>());
    let cause = causes.next();
    match cause.map(|cause| (cause.raw_os_error(), cause.kind())) {
        Some((Some(code), _)) => PyOSError::new_err((code, error.to_string())),
        Some((None, ErrorKind::NotFound)) => PyFileNotFoundError::new_err(error.to_string()),
        _ => PyOSError::new_err(error.to_string()),
    }
}

/// The exception for a file that the system refuses: `OSError` with the file's name.
pub fn of_file(file: &Path, error: &io::Error) -> PyErr {
    let Some(code) = error.raw_os_error() else {
        return PyOSError::new_err(format!("{}: {error}", file.display()));
    };
    // Python adds the number itself.
    let reason = error.to_string();
    let reason = reason.split(" (os error").next().unwrap_or_default();
    PyOSError::new_err((code, reason.to_owned(), file.display().to_string()))
}
