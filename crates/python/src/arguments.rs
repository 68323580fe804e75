//! Arguments of several functions, read by hand so that errors name the argument and the fix.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use lab::EngineKind;
use pyo3::exceptions::{PyArithmeticError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyDict, PyFloat, PyString, PyType};
use studies::runs;

use crate::error;
use crate::scalar::answer;

/// An argument from Python. Nothing if it is missing or `None`.
pub type Asked<'a, 'py> = Option<&'a Bound<'py, PyAny>>;

/// The error that the argument `name` has a wrong type; `fix` is the type to give (`TypeError`).
pub fn wrong_type(name: &str, said: &Bound<'_, PyAny>, fix: &str) -> PyErr {
    let kind = said.get_type();
    PyTypeError::new_err(format!("{name}: {kind} is the wrong type; {fix}"))
}

/// Whether the object is a mapping. A cast would drop exceptions raised meanwhile, such as `KeyboardInterrupt`.
///
/// # Errors
///
/// Python raises something.
pub fn is_mapping(said: &Bound<'_, PyAny>) -> PyResult<bool> {
    static MAPPING: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    if said.is_instance_of::<PyDict>() {
        return Ok(true);
    }
    said.is_instance(MAPPING.import(said.py(), "collections.abc", "Mapping")?)
}

/// The text of the argument `name`.
///
/// # Errors
///
/// It is not a `str` (`TypeError`).
pub fn text(name: &str, said: &Bound<'_, PyAny>, fix: &str) -> PyResult<String> {
    let text = said.cast::<PyString>();
    let text = text.map_err(|_| wrong_type(name, said, fix))?;
    let text = text.to_str().map_err(|raised| no_value(name, said, raised));
    Ok(text?.to_owned())
}

/// The error for a value that Python cannot convert, such as half a character or a number of thousands of digits. It is
/// a `ScenarioError` instead of Python's `ValueError`, `OverflowError` and so on, which name no field.
pub fn no_value(name: &str, said: &Bound<'_, PyAny>, raised: PyErr) -> PyErr {
    let py = said.py();
    if raised.is_instance_of::<PyTypeError>(py) {
        let error =
            PyTypeError::new_err(format!("{name}: {}; give another value", raised.value(py)));
        error.set_cause(py, Some(raised));
        return error;
    }
    if !(raised.is_instance_of::<PyValueError>(py)
        || raised.is_instance_of::<PyArithmeticError>(py))
    {
        return raised;
    }
    let message = format!("{name}: {}; give another value", raised.value(py));
    let error = error::of_field(&message, name, None);
    error.set_cause(py, Some(raised));
    error
}

/// The name in the argument `name`, one of a closed set. By default, `default`.
///
/// # Errors
///
/// The name is unknown (`ScenarioError`), or not a `str` (`TypeError`).
pub fn named<T>(name: &str, asked: Asked<'_, '_>, default: T) -> PyResult<T>
where
    T: std::str::FromStr<Err = units::UnknownName> + std::fmt::Display,
{
    let Some(said) = asked else {
        return Ok(default);
    };
    let fix = format!("give a str such as \"{default}\"");
    one_of(name, &text(name, said, &fix)?)
}

/// Parses the text of the argument `name`, one of a closed set of names.
///
/// # Errors
///
/// The name is unknown (`ScenarioError`).
pub fn one_of<T>(name: &str, text: &str) -> PyResult<T>
where
    T: std::str::FromStr<Err = units::UnknownName>,
{
    text.parse()
        .map_err(|unknown| error::of_argument(name, &unknown))
}

/// The names in the argument `name`.
///
/// # Errors
///
/// It is not a list of `str`s; a single `str` is not one either (`TypeError`).
pub fn names(name: &str, asked: Asked<'_, '_>, fix: &str) -> PyResult<Option<Vec<String>>> {
    let Some(said) = asked else {
        return Ok(None);
    };
    let items = items(name, said, fix)?;
    let names = items.iter().map(|item| text(name, item, fix));
    names.collect::<PyResult<Vec<_>>>().map(Some)
}

/// The most items in a list of names, flows or packets.
const MAX_LIST_ITEMS: usize = 1_000_000;

/// The items of the list in the argument `name`.
///
/// # Errors
///
/// It is not a list (`TypeError`).
pub fn items<'py>(
    name: &str,
    said: &Bound<'py, PyAny>,
    fix: &str,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let is_one = said.is_instance_of::<PyString>() || is_mapping(said)?;
    // An object without a length might have no end.
    let count = if is_one {
        None
    } else {
        answer(said.py(), said.len())?
    };
    let items = answer(said.py(), said.try_iter())?.filter(|_| count.is_some());
    let items = items.ok_or_else(|| wrong_type(name, said, fix))?;
    if let Some(count) = count.filter(|count| *count > MAX_LIST_ITEMS) {
        let message = format!("{name}: {count} are more than {MAX_LIST_ITEMS}; give fewer");
        return Err(error::of_field(&message, name, None));
    }
    let items = items.map(|item| {
        said.py().check_signals()?;
        item
    });
    items.take(MAX_LIST_ITEMS).collect()
}

/// The whole number in the argument `name`, from zero on.
///
/// # Errors
///
/// It is not a whole number (`TypeError`), negative, or larger than 64 bits (`ScenarioError`).
pub fn whole(name: &str, said: &Bound<'_, PyAny>, fix: &str) -> PyResult<u64> {
    // In Python, `True` is 1.
    let is_other = said.is_instance_of::<PyFloat>() || said.is_instance_of::<PyBool>();
    if is_other || !said.hasattr("__index__")? {
        return Err(wrong_type(name, said, fix));
    }
    said.extract().map_err(|_| {
        let said = shortened(said);
        error::of_field(
            &format!("{name}: {said} is out of range; {fix}"),
            name,
            None,
        )
    })
}

/// Whether the argument `name` is true.
///
/// # Errors
///
/// It is neither a bool nor one of NumPy's (`TypeError`).
pub fn flag(name: &str, said: &Bound<'_, PyAny>) -> PyResult<bool> {
    let flag = said.extract();
    flag.map_err(|_| wrong_type(name, said, "give True or False"))
}

/// The seed.
///
/// # Errors
///
/// Those of [`whole`].
pub fn seed(asked: Asked<'_, '_>) -> PyResult<Option<u64>> {
    let fix = "give a whole number of 0 or more, below 2^64";
    asked.map(|said| whole("seed", said, fix)).transpose()
}

/// The number of concurrent runs.
///
/// # Errors
///
/// Those of [`count`].
pub fn jobs(asked: Asked<'_, '_>, engine: EngineKind) -> PyResult<usize> {
    Ok(runs::jobs(count("jobs", asked)?, engine))
}

/// The whole number in the argument `name`, from one on.
///
/// # Errors
///
/// It is not a whole number (`TypeError`), less than one, or larger than 64 bits (`ScenarioError`).
pub fn count(name: &str, asked: Asked<'_, '_>) -> PyResult<Option<NonZeroUsize>> {
    let Some(said) = asked else {
        return Ok(None);
    };
    let fix = "give a whole number of 1 or more, below 2^64";
    let count = usize::try_from(whole(name, said, fix)?).ok();
    count.and_then(NonZeroUsize::new).map(Some).ok_or_else(|| {
        let said = shortened(said);
        error::of_field(
            &format!("{name}: {said} is out of range; {fix}"),
            name,
            None,
        )
    })
}

/// The path in the argument `name`.
///
/// # Errors
///
/// It is not a path (`TypeError`).
pub fn path(name: &str, said: &Bound<'_, PyAny>) -> PyResult<PathBuf> {
    let path = said.extract();
    path.map_err(|_| wrong_type(name, said, "give a str or a pathlib.Path"))
}

/// A number for an error message, cut to fit into a line.
fn shortened(said: &Bound<'_, PyAny>) -> String {
    const MAX_CHARS: usize = 30;
    // Python refuses to print very long ones.
    let said = said
        .str()
        .map_or_else(|_| "this".to_owned(), |text| text.to_string());
    match said.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => format!("{}…", &said[..end]),
        None => said,
    }
}
