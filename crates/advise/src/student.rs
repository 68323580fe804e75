//! Student's t distribution.

use std::f64::consts::{FRAC_2_PI, FRAC_PI_2};

/// More than the bits of a number: each halves the interval.
const MAX_HALVINGS: u32 = 64;

/// The distance from zero within which Student's t is with this probability.
///
/// The angle arctan(t / √freedom), in which the probability is a finite sum (Abramowitz and Stegun, 26.7.3 and 26.7.4), is found by
/// halving. All functions are those of `libm`, whose results do not depend on the platform.
pub(crate) fn within(probability: f64, freedom: usize) -> f64 {
    let (mut low, mut high) = (0.0, FRAC_PI_2);
    for _ in 0..MAX_HALVINGS {
        let middle = (low + high) / 2.0;
        if probability_within(middle, freedom) < probability {
            low = middle;
        } else {
            high = middle;
        }
    }
    libm::tan(high) * (freedom as f64).sqrt()
}

/// The probability that t is within √freedom · tan(angle) of zero.
fn probability_within(angle: f64, freedom: usize) -> f64 {
    let (sine, cosine) = libm::sincos(angle);
    let is_odd = freedom % 2 == 1;
    // The terms have the odd powers of the cosine for odd freedoms, and the even ones for even freedoms.
    let mut term = if is_odd { cosine } else { 1.0 };
    let mut sum = 0.0;
    let first = if is_odd { 2 } else { 1 };
    for factor in (first..freedom).step_by(2) {
        sum += term;
        term *= factor as f64 / (factor + 1) as f64 * cosine * cosine;
    }
    if is_odd {
        FRAC_2_PI * (angle + sine * sum)
    } else {
        sine * sum
    }
}

#[cfg(test)]
mod tests {
    use super::within;

    /// A two-sided table of three decimals.
    #[test]
    fn as_in_tables() {
        for (probability, freedom, t) in [
            (0.95, 1, 12.706),
            (0.99, 2, 9.925),
            (0.99, 3, 5.841),
            (0.95, 4, 2.776),
            (0.9, 5, 2.015),
            (0.95, 11, 2.201),
            (0.95, 30, 2.042),
            (0.999, 120, 3.373),
        ] {
            let found = within(probability, freedom);
            assert!((found - t).abs() < 6e-4, "{freedom}: {found} {t}");
        }
    }
}
