//! Numbers with units, exactly: `1.5mbit` is 1 500 000, without floating point in between.

use core::fmt;

/// The text is not a number with a known unit, or its value is out of range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParseError {
    expected: &'static str,
}

impl ParseError {
    pub(crate) const fn new(expected: &'static str) -> ParseError {
        ParseError { expected }
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected {}", self.expected)
    }
}

impl core::error::Error for ParseError {}

/// The value of `text`, a non-negative decimal number followed by one of `units` (name in lower case, multiplier),
/// rounded down to an integer. A bare `0` needs no unit.
pub(crate) fn decimal(
    text: &str,
    units: &[(&str, u64)],
    expected: &'static str,
) -> Result<u64, ParseError> {
    let error = ParseError::new(expected);
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
        whole.parse::<u64>().map_err(|_| error)?
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
    u64::try_from(value).map_err(|_| error)
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
        assert_eq!("40ms".parse(), Ok(Duration::from_millis(40)));
        assert_eq!("0".parse(), Ok(Duration::ZERO));
        assert_eq!(".5s".parse(), Ok(Duration::from_millis(500)));
        assert_eq!("250kb".parse(), Ok(Bytes::new(250_000)));
        assert_eq!("8mib".parse(), Ok(Bytes::new(8 << 20)));
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
            "expected a rate such as 20mbit or 1.5gbit"
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
