//! Statistics of many values, each with one definition.

use serde::Serialize;

/// Values in ascending order.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Sorted(Vec<f64>);

impl FromIterator<f64> for Sorted {
    fn from_iter<I: IntoIterator<Item = f64>>(values: I) -> Sorted {
        let mut values: Vec<f64> = values.into_iter().collect();
        values.sort_unstable_by(f64::total_cmp);
        Sorted(values)
    }
}

impl Sorted {
    /// All values.
    pub fn values(&self) -> &[f64] {
        &self.0
    }

    /// The minimum.
    pub fn min(&self) -> Option<f64> {
        self.0.first().copied()
    }

    /// The maximum.
    pub fn max(&self) -> Option<f64> {
        self.0.last().copied()
    }

    /// The middle value, or the mean of the two in the middle.
    pub fn median(&self) -> Option<f64> {
        let middle = self.0.len() / 2;
        let upper = *self.0.get(middle)?;
        if self.0.len() % 2 == 1 {
            Some(upper)
        } else {
            Some((self.0[middle - 1] + upper) / 2.0)
        }
    }

    /// The value that this share of the values does not exceed: the nearest rank.
    pub fn quantile(&self, share: f64) -> Option<f64> {
        nearest_rank(&self.0, share)
    }
}

/// The value of a sorted slice that this share of the values does not exceed: the nearest rank.
pub fn nearest_rank<T: Copy>(sorted: &[T], share: f64) -> Option<T> {
    let rank = (sorted.len() as f64 * share).ceil() as usize;
    sorted.get(rank.saturating_sub(1)).copied()
}

/// The middle value, or the mean of the two in the middle.
pub fn median(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    Sorted::from_iter(values).median()
}

/// The value that this share of the values does not exceed: the nearest rank.
pub fn quantile(values: impl IntoIterator<Item = f64>, share: f64) -> Option<f64> {
    Sorted::from_iter(values).quantile(share)
}

/// The mean.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The standard deviation of the population from which the values are a sample; `None` for fewer than two.
pub fn deviation(values: &[f64]) -> Option<f64> {
    let mean = mean(values).filter(|_| values.len() > 1)?;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    Some((squares / (values.len() - 1) as f64).sqrt())
}

/// The median of some values, and their range.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Spread {
    /// The middle value, or the mean of the two in the middle.
    pub median: f64,
    /// The minimum.
    pub min: f64,
    /// The maximum.
    pub max: f64,
}

impl Spread {
    /// Returns the spread of `values`; `None` if there are none.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Option<Spread> {
        let sorted = Sorted::from_iter(values);
        Some(Spread {
            median: sorted.median()?,
            min: sorted.min()?,
            max: sorted.max()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians() {
        assert_eq!(median([]), None);
        assert_eq!(median([3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median([4.0, 1.0, 3.0, 2.0]), Some(2.5));
        let spread = Spread {
            median: 2.0,
            min: 1.0,
            max: 9.0,
        };
        assert_eq!(Spread::of([9.0, 1.0, 2.0]), Some(spread));
        assert_eq!(Spread::of([]), None);
    }

    #[test]
    fn deviations() {
        assert_eq!(deviation(&[1.0]), None);
        assert_eq!(deviation(&[1.0, 3.0]), Some(2_f64.sqrt()));
    }

    #[test]
    fn quantiles_are_values_that_were_seen() {
        let sorted = Sorted::from_iter([4.0, 1.0, 3.0, 2.0]);
        for (share, value) in [(0.5, 2.0), (0.0, 1.0), (1.0, 4.0)] {
            assert_eq!(sorted.quantile(share), Some(value));
        }
        assert_eq!(quantile([], 0.5), None);
    }

    #[test]
    fn the_nearest_rank_is_that_of_whole_percents() {
        for percent in [5, 50, 95] {
            let share = percent as f64 / 100.0;
            for count in 1..=2000_usize {
                let rank = (count * percent).div_ceil(100).max(1);
                let values = (1..=count).map(|value| value as f64);
                assert_eq!(
                    quantile(values, share),
                    Some(rank as f64),
                    "{percent} % of {count}"
                );
            }
        }
    }
}
