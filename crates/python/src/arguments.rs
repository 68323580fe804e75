//! Arguments that several functions have, read by hand: what is wrong with one is told with its name and the fix.

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

/// An argument as Python gives it; nothing if it is not given, or is `None`.
pub type Asked<'a, 'py> = Option<&'a Bound<'py, PyAny>>;

/// The argument `name` is of no type that says something; `fix` is what to give (`TypeError`).
pub fn wrong_type(name: &str, said: &Bound<'_, PyAny>, fix: &str) -> PyErr {
    let kind = said.get_type();
    PyTypeError::new_err(format!("{name}: {kind} is the wrong type; {fix}"))
}

/// Whether it is a mapping. A cast to one would drop what Python raises meanwhile, such as `KeyboardInterrupt`.
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

/// What the argument `name` says, as text.
///
/// # Errors
///
/// It is no `str` (`TypeError`).
pub fn text(name: &str, said: &Bound<'_, PyAny>, fix: &str) -> PyResult<String> {
    let text = said.cast::<PyString>();
    let text = text.map_err(|_| wrong_type(name, said, fix))?;
    let text = text.to_str().map_err(|raised| no_value(name, said, raised));
    Ok(text?.to_owned())
}

/// What is raised if Python cannot tell what the argument or field `name` says, such as half a character, or a number of
/// thousands of digits: `ScenarioError` in place of Python's `ValueError`, `OverflowError` and so on, which name no field.
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

/// What the argument `name` says, one of a closed set of names; without it, `default`.
///
/// # Errors
///
/// There is no such name (`ScenarioError`), or it is no `str` (`TypeError`).
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

/// What the text of the argument `name` is, one of a closed set of names.
///
/// # Errors
///
/// There is no such name (`ScenarioError`).
pub fn one_of<T>(name: &str, text: &str) -> PyResult<T>
where
    T: std::str::FromStr<Err = units::UnknownName>,
{
    text.parse()
        .map_err(|unknown| error::of_argument(name, &unknown))
}

/// The names that the argument `name` lists.
///
/// # Errors
///
/// It is no list of `str`s; one alone is none either (`TypeError`).
pub fn names(name: &str, asked: Asked<'_, '_>, fix: &str) -> PyResult<Option<Vec<String>>> {
    let Some(said) = asked else {
        return Ok(None);
    };
    let items = items(name, said, fix)?;
    let names = items.iter().map(|item| text(name, item, fix));
    names.collect::<PyResult<Vec<_>>>().map(Some)
}

/// No list of names, flows or packets has more.
const MOST_ITEMS: usize = 1_000_000;

/// The items of the list that the argument `name` is.
///
/// # Errors
///
/// It is none (`TypeError`).
pub fn items<'py>(
    name: &str,
    said: &Bound<'py, PyAny>,
    fix: &str,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let is_one = said.is_instance_of::<PyString>() || is_mapping(said)?;
    // What has no length might have no end.
    let count = if is_one {
        None
    } else {
        answer(said.py(), said.len())?
    };
    let items = answer(said.py(), said.try_iter())?.filter(|_| count.is_some());
    let items = items.ok_or_else(|| wrong_type(name, said, fix))?;
    if let Some(count) = count.filter(|count| *count > MOST_ITEMS) {
        let message = format!("{name}: {count} are more than {MOST_ITEMS}; give fewer");
        return Err(error::of_field(&message, name, None));
    }
    let items = items.map(|item| {
        said.py().check_signals()?;
        item
    });
    items.take(MOST_ITEMS).collect()
}

/// The whole number, from zero on, that the argument `name` is.
///
/// # Errors
///
/// It is none (`TypeError`), negative, or larger than 64 bits (`ScenarioError`).
pub fn whole(name: &str, said: &Bound<'_, PyAny>, fix: &str) -> PyResult<u64> {
    // To Python, `True` is 1.
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

/// What the seed is.
///
/// # Errors
///
/// Those of [`whole`].
pub fn seed(asked: Asked<'_, '_>) -> PyResult<Option<u64>> {
    let fix = "give a whole number of 0 or more, below 2^64";
    asked.map(|said| whole("seed", said, fix)).transpose()
}

/// How many runs there are at a time.
///
/// # Errors
///
/// Those of [`count`].
pub fn jobs(asked: Asked<'_, '_>, engine: EngineKind) -> PyResult<usize> {
    Ok(runs::jobs(count("jobs", asked)?, engine))
}

/// The whole number, of one or more, that the argument `name` is.
///
/// # Errors
///
/// It is none (`TypeError`), less than one, or larger than 64 bits (`ScenarioError`).
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

/// The path of a file or directory that the argument `name` is.
///
/// # Errors
///
/// It is none (`TypeError`).
pub fn path(name: &str, said: &Bound<'_, PyAny>) -> PyResult<PathBuf> {
    let path = said.extract();
    path.map_err(|_| wrong_type(name, said, "give a str or a pathlib.Path"))
}

/// A number as people are shown it: as much of it as fits into a line.
fn shortened(said: &Bound<'_, PyAny>) -> String {
    const MOST: usize = 30;
    // Python refuses to write out very long ones.
    let said = said
        .str()
        .map_or_else(|_| "this".to_owned(), |text| text.to_string());
    match said.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &said[..end]),
        None => said,
    }
}
