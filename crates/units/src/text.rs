//! Exact numbers with units: `1.5mbit` is 1 500 000 and vice versa, without floating point.

use core::fmt;

/// A unit: its name, and its value in the smallest unit.
pub type Suffix = (&'static str, u64);

/// Whether `text` is the unit `name`. Names are read in any case, except that a capital B never matches a small one:
/// `MB/s` are bytes, and `Mb/s` may be bits.
pub fn is_unit(name: &str, text: &str) -> bool {
    name.eq_ignore_ascii_case(text) && (text.contains('B') || !name.contains('B'))
}

/// The text is not a number with a known unit, or its value is out of range.
///
/// Prints the expected form with all units, or that the value is too large.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParseError {
    expected: &'static str,
    units: &'static [Suffix],
    is_too_large: bool,
    is_ambiguous: bool,
}

impl ParseError {
    const fn new(expected: &'static str, units: &'static [Suffix]) -> ParseError {
        ParseError {
            expected,
            units,
            is_too_large: false,
            is_ambiguous: false,
        }
    }

    /// The error that the value does not fit.
    pub(crate) const fn too_large(expected: &'static str, units: &'static [Suffix]) -> ParseError {
        ParseError {
            is_too_large: true,
            ..ParseError::new(expected, units)
        }
    }

    /// The same error for a unit that means bits to some and bytes to others.
    pub(crate) const fn ambiguous(self) -> ParseError {
        ParseError {
            is_ambiguous: true,
            ..self
        }
    }

    /// Whether only the value is too large.
    pub const fn is_too_large(&self) -> bool {
        self.is_too_large
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_too_large {
            return write!(f, "too large; give {}", self.expected);
        }
        if self.is_ambiguous {
            return f.write_str(
                "bits or bytes per second? give bits as 20mbit or 20Mbit/s, and bytes as 2.5MB/s",
            );
        }
        write!(f, "expected {}", self.expected)?;
        let mut named = self.units.iter().filter(|(name, _)| !name.is_empty());
        if let Some((first, _)) = named.next() {
            write!(f, "; units: {first}")?;
            named.try_for_each(|(name, _)| write!(f, " {name}"))?;
        }
        Ok(())
    }
}

impl core::error::Error for ParseError {}

/// Parses a non-negative decimal number followed by one of `units`, or of `others`, which errors do not list. Rounds
/// down to an integer. A bare `0` needs no unit.
pub(crate) fn decimal(
    text: &str,
    units: &'static [Suffix],
    others: &[Suffix],
    expected: &'static str,
) -> Result<u64, ParseError> {
    let error = ParseError::new(expected, units);
    let too_large = ParseError::too_large(expected, units);
    let text = text.trim();
    let digits = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let (number, unit) = (&text[..digits], text[digits..].trim_start());
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if (whole.is_empty() && fraction.is_empty()) || fraction.contains('.') {
        return Err(error);
    }
    let mut all = units.iter().chain(others);
    let multiplier = match all.find(|(name, _)| is_unit(name, unit)) {
        Some((_, multiplier)) => *multiplier,
        None if unit.is_empty() && number.bytes().all(|b| b == b'0' || b == b'.') => 0,
        None => return Err(error),
    };
    let whole = if whole.is_empty() {
        0
    } else {
        // Digits alone are a valid number, however large.
        whole.parse::<u64>().map_err(|_| too_large)?
    };
    // Twelve decimals are about one part in the largest multiplier.
    let (mut remainder, mut divisor) = (0, 1);
    for digit in fraction.bytes().take(12) {
        divisor *= 10;
        remainder = remainder * 10 + u128::from(digit - b'0');
    }
    let multiplier = u128::from(multiplier);
    let value = u128::from(whole) * multiplier + multiplier * remainder / divisor;
    u64::try_from(value).map_err(|_| too_large)
}

/// Writes the value in the largest of `units` without a leading zero. The units are powers of 1000, the smallest first.
pub(crate) fn write(f: &mut fmt::Formatter<'_>, value: u64, units: &[Suffix]) -> fmt::Result {
    let fitting = units.iter().rev().find(|(_, one)| *one <= value);
    let (name, one) = fitting.or(units.first()).copied().unwrap_or(("", 1));
    write!(f, "{}", value / one)?;
    let (mut rest, mut width) = (value % one, one.ilog10() as usize);
    if rest > 0 {
        while rest.is_multiple_of(10) {
            (rest, width) = (rest / 10, width - 1);
        }
        write!(f, ".{rest:0width$}")?;
    }
    f.write_str(name)
}
