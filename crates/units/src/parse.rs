//! Numbers with units, exactly: `1.5mbit` is 1 500 000, without floating point in between.

use core::fmt;

/// A unit: its name in lower case, and how many of the smallest units it is.
pub(crate) type Unit = (&'static str, u64);

/// The text is not a number with a known unit, or its value is out of range.
///
/// Prints what is expected, with all units; or that the value is too large.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParseError {
    expected: &'static str,
    units: &'static [Unit],
    is_too_large: bool,
}

impl ParseError {
    const fn new(expected: &'static str, units: &'static [Unit]) -> ParseError {
        ParseError {
            expected,
            units,
            is_too_large: false,
        }
    }

    /// The text is what is expected, but its value does not fit.
    pub(crate) const fn too_large(expected: &'static str, units: &'static [Unit]) -> ParseError {
        ParseError {
            is_too_large: true,
            ..ParseError::new(expected, units)
        }
    }

    /// Whether the text is as it should be, and only its value is too large.
    pub const fn is_too_large(&self) -> bool {
        self.is_too_large
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_too_large {
            return write!(f, "too large; give {}", self.expected);
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

/// The value of `text`, a non-negative decimal number followed by one of `units`, rounded down to an integer. A bare `0`
/// needs no unit.
pub(crate) fn decimal(
    text: &str,
    units: &'static [Unit],
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
    let multiplier = match units
        .iter()
        .find(|(name, _)| name.eq_ignore_ascii_case(unit))
    {
        Some((_, multiplier)) => *multiplier,
        None if unit.is_empty() && number.bytes().all(|b| b == b'0' || b == b'.') => 0,
        None => return Err(error),
    };
    let whole = if whole.is_empty() {
        0
    } else {
        // Digits alone are a number, however large.
        whole.parse::<u64>().map_err(|_| too_large)?
    };
    let mut value = whole as u128 * multiplier as u128;
    let mut scale = multiplier as u128;
    let mut remainder = 0u128;
    let mut divisor = 1u128;
    // Twenty decimals are finer than one part in the largest multiplier.
    for digit in fraction.bytes().take(20) {
        divisor *= 10;
        remainder = remainder * 10 + (digit - b'0') as u128;
    }
    // Split so that `scale × remainder` cannot overflow: at most 2^64 × 10^20 would, so divide the common powers first.
    while divisor > 1_000_000_000_000 {
        divisor /= 10;
        remainder /= 10;
    }
    scale = scale * remainder / divisor;
    value += scale;
    u64::try_from(value).map_err(|_| too_large)
}

#[cfg(test)]
mod tests {
    extern crate std;
    use crate::{Bytes, Duration, Rate, Ratio};
    use std::string::ToString;

    #[test]
    fn tc_units() {
        assert_eq!("20mbit".parse(), Ok(Rate::from_bits_per_sec(20_000_000)));
        assert_eq!(
            "1.5Gbit".parse(),
            Ok(Rate::from_bits_per_sec(1_500_000_000))
        );
        assert_eq!("128 kbit".parse(), Ok(Rate::from_bits_per_sec(128_000)));
        assert_eq!(
            "2.5tbit".parse(),
            Ok(Rate::from_bits_per_sec(2_500_000_000_000))
        );
        assert_eq!("40ms".parse(), Ok(Duration::from_millis(40)));
        assert_eq!("1.5h".parse(), Ok(Duration::from_secs(5_400)));
        assert_eq!("0".parse(), Ok(Duration::ZERO));
        assert_eq!(".5s".parse(), Ok(Duration::from_millis(500)));
        assert_eq!("250kb".parse(), Ok(Bytes::new(250_000)));
        assert_eq!("8mib".parse(), Ok(Bytes::new(8 << 20)));
        assert_eq!("3tb".parse(), Ok(Bytes::new(3_000_000_000_000)));
        assert_eq!("1tib".parse(), Ok(Bytes::new(1 << 40)));
        assert_eq!("1%".parse(), Ok(Ratio::new(1, 100)));
        assert_eq!("0.001%".parse(), Ok(Ratio::new(1, 100_000)));
        assert_eq!("0.05".parse(), Ok(Ratio::new(1, 20)));
    }

    #[test]
    fn nonsense_is_refused() {
        for text in [
            "",
            "mbit",
            "20",
            "20mb",
            "-1mbit",
            "1.2.3mbit",
            "1e9bit",
            "∞",
            "99999999999gbit",
        ] {
            assert!(text.parse::<Rate>().is_err(), "{text}");
        }
        for text in ["40", "ms", "4 0ms", "40msx"] {
            assert!(text.parse::<Duration>().is_err(), "{text}");
        }
        assert!("500%".parse::<Ratio>().is_err());
        assert_eq!(
            "x".parse::<Rate>().unwrap_err().to_string(),
            "expected a rate such as 20mbit or 1.5gbit; units: bit kbit mbit gbit tbit"
        );
        let time = "40".parse::<Duration>().unwrap_err().to_string();
        assert_eq!(
            time,
            "expected a time such as 40ms or 1.5s; units: ns us ms s min h"
        );
        let size = "8mbit".parse::<Bytes>().unwrap_err().to_string();
        assert_eq!(
            size,
            "expected a size such as 250kb or 8mib; units: b kb mb gb tb kib mib gib tib"
        );
        let share = "x".parse::<Ratio>().unwrap_err().to_string();
        assert_eq!(share, "expected a share such as 1% or 0.01; units: %");
    }

    #[test]
    fn what_does_not_fit_is_too_large() {
        let rate = |text: &str| text.parse::<Rate>().map_err(|error| error.to_string());
        let answer = "too large; give a rate such as 20mbit or 1.5gbit".to_string();
        for text in ["18446745tbit", "99999999999gbit", "99999999999999999999bit"] {
            assert_eq!(rate(text), Err(answer.clone()), "{text}");
        }
        assert!(rate("18446744tbit").is_ok());
        assert!("5124095h".parse::<Duration>().is_ok());
        assert!("5124096h".parse::<Duration>().unwrap_err().is_too_large());
        assert!("16777216tib".parse::<Bytes>().unwrap_err().is_too_large());
        assert!("500%".parse::<Ratio>().unwrap_err().is_too_large());
        // What is no number of a known unit is not said to be too large.
        assert!(
            !"99999999999999999999m"
                .parse::<Rate>()
                .unwrap_err()
                .is_too_large()
        );
    }

    #[test]
    fn what_is_printed_parses_back() {
        for rate in [0, 1, 999, 128_000, 20_000_000, 1_500_000_000] {
            let rate = Rate::from_bytes_per_sec(rate);
            assert_eq!(rate.to_string().parse(), Ok(rate));
        }
        for nanos in [0, 1, 1_500, 40_000_000, 1_500_000_000, 60_000_000_000] {
            let span = Duration::from_nanos(nanos);
            assert_eq!(span.to_string().parse(), Ok(span));
        }
        for bytes in [0, 1, 1_500, 250_000, 8 << 20] {
            let bytes = Bytes::new(bytes);
            assert_eq!(bytes.to_string().parse(), Ok(bytes));
        }
    }

    #[test]
    fn extremes_saturate() {
        assert_eq!(
            Rate::from_transfer(Bytes::new(1), Duration::ZERO),
            Rate::MAX
        );
        assert_eq!(Rate::MAX.bytes_in(Duration::MAX), Bytes::MAX);
        assert_eq!(Rate::ZERO.time_for(Bytes::new(1)), Duration::MAX);
        assert_eq!(Ratio::new(u32::MAX, 1).of(u64::MAX), u64::MAX);
        assert_eq!(Bytes::new(1) - Bytes::new(2), Bytes::ZERO);
        let rate = Rate::from_bits_per_sec(10_000_000_000);
        assert_eq!(
            rate.bytes_in(Duration::from_millis(100)),
            Bytes::new(125_000_000)
        );
        assert_eq!(
            Rate::from_transfer(Bytes::new(125_000_000), Duration::from_millis(100)),
            rate
        );
        assert_eq!(rate.time_for(Bytes::new(1250)), Duration::from_micros(1));
    }
}
