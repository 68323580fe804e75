//! Arguments that several functions have.

use std::num::NonZeroUsize;

use lab::EngineKind;
use pyo3::prelude::*;
use studies::runs;

use crate::error;

/// What the argument `name` says, one of a closed set of names.
///
/// # Errors
///
/// There is no such name (`ScenarioError`).
pub fn named<T: std::str::FromStr<Err = units::UnknownName>>(
    name: &str,
    text: &str,
) -> PyResult<T> {
    text.parse()
        .map_err(|unknown| error::of_argument(name, &unknown))
}

/// How many runs there are at a time.
///
/// # Errors
///
/// None were asked for (`ScenarioError`).
pub fn jobs(asked: Option<i64>, engine: EngineKind) -> PyResult<usize> {
    Ok(runs::jobs(count("jobs", asked)?, engine))
}

/// The whole number, of one or more, that the argument `name` is.
///
/// # Errors
///
/// It is less than one (`ScenarioError`).
pub fn count(name: &str, asked: Option<i64>) -> PyResult<Option<NonZeroUsize>> {
    let Some(asked) = asked else {
        return Ok(None);
    };
    let count = usize::try_from(asked).ok().and_then(NonZeroUsize::new);
    count.map(Some).ok_or_else(|| {
        error::of_field(
            &format!("{name}: {asked} is none; give 1 or more"),
            name,
            None,
        )
    })
}
