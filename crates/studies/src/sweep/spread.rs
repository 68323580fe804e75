//! A few values in three numbers.

use serde::Serialize;

/// The median of some values, and how far they are apart.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Spread {
    /// The middle value, or the mean of the two in the middle.
    pub median: f64,
    /// The smallest.
    pub min: f64,
    /// The largest.
    pub max: f64,
}

impl Spread {
    /// The spread of `values`, if there are any.
    pub fn of(mut values: Vec<f64>) -> Option<Spread> {
        let median = median(&mut values)?;
        Some(Spread {
            median,
            min: *values.first()?,
            max: *values.last()?,
        })
    }
}

/// The middle value, or the mean of the two in the middle. Sorts the values.
pub fn median(values: &mut [f64]) -> Option<f64> {
    values.sort_unstable_by(f64::total_cmp);
    let middle = values.len() / 2;
    let upper = values.get(middle)?;
    match values.len() % 2 {
        1 => Some(*upper),
        _ => Some((values.get(middle - 1)? + upper) / 2.0),
    }
}

/// The value that the share `quantile` of the values does not exceed: the nearest rank.
pub fn quantile(mut values: Vec<f64>, quantile: f64) -> Option<f64> {
    values.sort_unstable_by(f64::total_cmp);
    let rank = (values.len() as f64 * quantile).ceil() as usize;
    values.get(rank.saturating_sub(1)).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians() {
        assert_eq!(median(&mut []), None);
        assert_eq!(median(&mut [3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&mut [4.0, 1.0, 3.0, 2.0]), Some(2.5));
        let spread = Spread {
            median: 2.0,
            min: 1.0,
            max: 9.0,
        };
        assert_eq!(Spread::of(vec![9.0, 1.0, 2.0]), Some(spread));
        assert_eq!(Spread::of(Vec::new()), None);
    }

    #[test]
    fn quantiles_are_values_that_were_seen() {
        let values = || vec![4.0, 1.0, 3.0, 2.0];
        assert_eq!(quantile(values(), 0.5), Some(2.0));
        assert_eq!(quantile(values(), 0.0), Some(1.0));
        assert_eq!(quantile(values(), 1.0), Some(4.0));
        assert_eq!(quantile(Vec::new(), 0.5), None);
    }
}
