//! The median by which signs are judged: one of the values, and the upper one of two in the middle.

/// The median; NaN of an empty slice.
pub fn median(values: &[f64]) -> f64 {
    let mut values = values.to_vec();
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
