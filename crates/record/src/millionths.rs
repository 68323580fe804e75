//! Rounding of numbers in summaries, so that the same run gives the same text.

use serde::Serializer;

/// Rounds to six decimals: a nanosecond of a millisecond, and enough of a second.
pub fn millionths<S: Serializer>(value: &f64, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_f64((value * 1e6).round() / 1e6)
}

pub fn optional_millionths<S: Serializer>(value: &Option<f64>, to: S) -> Result<S::Ok, S::Error> {
    match value {
        Some(value) => millionths(value, to),
        None => to.serialize_none(),
    }
}
