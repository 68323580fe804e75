//! Single Python values as text for scenarios.

use std::path::PathBuf;

use pyo3::exceptions::{PyException, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyByteArray, PyBytes, PyFloat, PyInt, PyString, PyType};

/// The text of a str, a bool, a number or a path, including NumPy's. Nothing for another type.
///
/// # Errors
///
/// Python raises an exception.
pub fn scalar(value: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(Some(text.to_str()?.to_owned()));
    }
    if let Ok(is) = value.cast::<PyBool>() {
        return Ok(Some(is.is_true().to_string()));
    }
    if value.is_instance_of::<PyType>() {
        return Ok(None);
    }
    if value.is_instance_of::<PyInt>() {
        return value.str().map(|text| Some(text.to_string()));
    }
    if !value.is_instance_of::<PyFloat>() {
        // NumPy's bools are not Python's, but their items are.
        if value.hasattr("dtype")? && length(value)?.is_none() {
            let item = value.call_method0("item")?;
            if let Ok(is) = item.cast::<PyBool>() {
                return Ok(Some(is.is_true().to_string()));
            }
        }
        if length(value)?.is_some() {
            return Ok(None);
        }
        // NumPy's arrays without a dimension have it, and refuse if they are of floats.
        if let Ok(whole) = value.call_method0("__index__") {
            return Ok(Some(whole.str()?.to_string()));
        }
        if !value.hasattr("__float__")? {
            let Some(path) = answer(value.py(), value.extract::<PathBuf>())? else {
                return Ok(None);
            };
            let text = path.into_os_string().into_string();
            let wrong = |_| PyValueError::new_err("the path is not UTF-8");
            return text.map(Some).map_err(wrong);
        }
    }
    // Its own text has its own precision: 0.1 of NumPy's float32 is not 0.10000000149.
    let text = value.str()?.to_string();
    if text.parse::<f64>().is_ok() {
        return Ok(Some(plain(&text)));
    }
    let real: f64 = value.extract()?;
    Ok(Some(plain(&real.to_string())))
}

/// The result of Python, or nothing if it raised an `Exception`. Exceptions that end everything, such as
/// `KeyboardInterrupt`, are returned as errors.
///
/// # Errors
///
/// Python raises something that is not an `Exception`.
pub fn answer<T>(py: Python<'_>, asked: PyResult<T>) -> PyResult<Option<T>> {
    match asked {
        Ok(answer) => Ok(Some(answer)),
        Err(raised) if raised.is_instance_of::<PyException>(py) => Ok(None),
        Err(raised) => Err(raised),
    }
}

/// The number of items in a sequence. Nothing if it is not a sequence.
///
/// # Errors
///
/// Those of [`answer`].
pub fn length(value: &Bound<'_, PyAny>) -> PyResult<Option<usize>> {
    let is_text = value.is_instance_of::<PyString>()
        || value.is_instance_of::<PyBytes>()
        || value.is_instance_of::<PyByteArray>();
    let is_one = is_text || value.is_instance_of::<PyType>();
    let is_sequence = !is_one && answer(value.py(), value.hasattr("__getitem__"))?.unwrap_or(false);
    if !is_sequence {
        return Ok(None);
    }
    answer(value.py(), value.len())
}

/// A number without an exponent, as in scenarios: `1e-07` is `0.0000001`.
fn plain(text: &str) -> String {
    // The largest exponent of 64-bit floats is smaller.
    const MAX_EXPONENT: i32 = 400;
    let Some((number, exponent)) = text.split_once(['e', 'E']) else {
        return text.to_owned();
    };
    let Some(exponent) = exponent
        .parse()
        .ok()
        .filter(|of: &i32| of.abs() <= MAX_EXPONENT)
    else {
        return text.to_owned();
    };
    let (sign, number) = match number.strip_prefix('-') {
        Some(number) => ("-", number),
        None => ("", number),
    };
    let (whole, part) = number.split_once('.').unwrap_or((number, ""));
    let digits = format!("{whole}{part}");
    let point = i32::try_from(whole.len()).unwrap_or(MAX_EXPONENT) + exponent;
    match usize::try_from(point) {
        Ok(0) | Err(_) => {
            let zeros = "0".repeat(point.unsigned_abs() as usize);
            format!("{sign}0.{zeros}{digits}")
        }
        Ok(point) if point >= digits.len() => {
            let zeros = "0".repeat(point - digits.len());
            format!("{sign}{digits}{zeros}")
        }
        Ok(point) => {
            let (whole, part) = digits.split_at(point);
            format!("{sign}{whole}.{part}")
        }
    }
}
