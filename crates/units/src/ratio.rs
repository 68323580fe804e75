//! Exact ratios: gains, loss probabilities.

use core::cmp::Ordering;
use core::fmt;
use core::str::FromStr;

use crate::Bytes;
use crate::text::{ParseError, Suffix, decimal};

/// An exact ratio of two integers, such as a pacing gain of 5/4 or a loss probability of 1/100.
///
/// Ratios are compared by value, regardless of their terms.
#[derive(Debug, Clone, Copy)]
pub struct Ratio {
    numerator: u32,
    denominator: u32,
}

impl Ratio {
    /// The units of shares as text, in parts of a billion: fine enough for any loss rate that a test can measure.
    pub const UNITS: &[Suffix] = &[
        ("", PARTS_PER_ONE as u64),
        ("%", PARTS_PER_ONE as u64 / 100),
    ];
    /// 1/1.
    pub const ONE: Ratio = Ratio::new(1, 1);
    /// 0/1.
    pub const ZERO: Ratio = Ratio::new(0, 1);

    /// The ratio `numerator` / `denominator`. A denominator of zero is read as one.
    pub const fn new(numerator: u32, denominator: u32) -> Ratio {
        Ratio {
            numerator,
            denominator: if denominator == 0 { 1 } else { denominator },
        }
    }

    /// The numerator.
    pub const fn numerator(self) -> u32 {
        self.numerator
    }

    /// The denominator; never zero.
    pub const fn denominator(self) -> u32 {
        self.denominator
    }

    /// `value` times this ratio, rounded down.
    #[inline]
    pub const fn of(self, value: u64) -> u64 {
        if let Some(product) = value.checked_mul(self.numerator as u64) {
            return product / self.denominator as u64;
        }
        let product = value as u128 * self.numerator as u128 / self.denominator as u128;
        if product > u64::MAX as u128 {
            u64::MAX
        } else {
            product as u64
        }
    }

    /// `bytes` times this ratio, rounded down.
    #[inline]
    pub const fn of_bytes(self, bytes: Bytes) -> Bytes {
        Bytes::new(self.of(bytes.get()))
    }

    /// The inverse ratio. The inverse of 0 is 0.
    pub const fn inverse(self) -> Ratio {
        if self.numerator == 0 {
            return Ratio::ZERO;
        }
        Ratio::new(self.denominator, self.numerator)
    }

    /// The ratio as a floating-point number, for reports.
    pub const fn as_f64(self) -> f64 {
        self.numerator as f64 / self.denominator as f64
    }
}

impl Default for Ratio {
    /// 0/1.
    fn default() -> Ratio {
        Ratio::ZERO
    }
}

impl PartialEq for Ratio {
    fn eq(&self, other: &Ratio) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Ratio {}

impl PartialOrd for Ratio {
    fn partial_cmp(&self, other: &Ratio) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Ratio {
    fn cmp(&self, other: &Ratio) -> Ordering {
        let left = self.numerator as u64 * other.denominator as u64;
        let right = other.numerator as u64 * self.denominator as u64;
        left.cmp(&right)
    }
}

/// The parts in which ratios are parsed: billionths.
const PARTS_PER_ONE: u32 = 1_000_000_000;

impl FromStr for Ratio {
    type Err = ParseError;
    /// Parses a percentage (`1%`, `0.001%`) or a plain fraction (`0.01`), up to 4.29.
    fn from_str(text: &str) -> Result<Ratio, ParseError> {
        let expected = "a share such as 1% or 0.01";
        let parts = decimal(text, Ratio::UNITS, &[], expected)?;
        match u32::try_from(parts) {
            Ok(parts) => Ok(Ratio::new(parts, PARTS_PER_ONE)),
            Err(_) => Err(ParseError::too_large(expected, Ratio::UNITS)),
        }
    }
}

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}%",
            self.numerator as f64 * 100.0 / self.denominator as f64
        )
    }
}
