//! The forms of values: as people write them, and as the program in the kernel has them.

use serde::{Deserialize, Deserializer};
use units::bounds::{share, share_of};
use units::{Duration, Ratio};

const MILLION: u32 = 1_000_000;

/// A form of values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A time. The program has nanoseconds.
    Time,
    /// A share of at most 100 %. The program has millionths.
    Share,
}

impl Form {
    /// What stands for a value in the help of an option.
    pub const fn placeholder(self) -> &'static str {
        match self {
            Form::Time => "TIME",
            Form::Share => "SHARE",
        }
    }

    /// Reads a bound. The program has whole units, so bounds are rounded up: a value of whole units is within these if, and
    /// only if, it is within the exact ones.
    ///
    /// # Errors
    ///
    /// The value has another form.
    pub fn bound<'de, D: Deserializer<'de>>(self, deserializer: D) -> Result<u64, D::Error> {
        match self {
            Form::Time => Ok(Duration::deserialize(deserializer)?.as_nanos()),
            Form::Share => Ok(millionths_up(share(deserializer)?)),
        }
    }

    /// Reads the value of a connection. `None` if it is unknown, as a time of zero is.
    ///
    /// # Errors
    ///
    /// A message about the text, which has another form.
    pub fn value(self, text: &str) -> Result<Option<u64>, String> {
        match self {
            Form::Time => {
                let time = text
                    .parse::<Duration>()
                    .map_err(|error| error.to_string())?;
                Ok(known_time(time))
            }
            Form::Share => Ok(Some(millionths(share_of(text)?))),
        }
    }

    /// A value with its unit.
    pub fn text(self, value: u64) -> String {
        match self {
            Form::Time => Duration::from_nanos(value).to_string(),
            Form::Share => {
                let parts = u32::try_from(value).unwrap_or(u32::MAX);
                Ratio::new(parts, MILLION).to_string()
            }
        }
    }
}

/// A time as the program has it. `None` for zero, which is unknown.
pub(crate) fn known_time(time: Duration) -> Option<u64> {
    (!time.is_zero()).then_some(time.as_nanos())
}

/// A share as the program has it, rounded down.
pub(crate) fn millionths(share: Ratio) -> u64 {
    share.of(MILLION.into())
}

fn millionths_up(share: Ratio) -> u64 {
    let parts = u64::from(share.numerator()) * u64::from(MILLION);
    parts.div_ceil(share.denominator().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_rounded_down_and_a_bound_is_rounded_up() {
        for (numerator, denominator, down, up) in [
            (0, 1, 0, 0),
            (1, 100, 10_000, 10_000),
            (1, 1_000_000_000, 0, 1),
            (10_001, 1_000_000_000, 10, 11),
            (1, 1, 1_000_000, 1_000_000),
        ] {
            let share = Ratio::new(numerator, denominator);
            assert_eq!(millionths(share), down, "{share}");
            assert_eq!(millionths_up(share), up, "{share}");
        }
    }

    #[test]
    fn values_have_units() {
        for (form, text, value) in [
            (Form::Time, "50ms", Some(50_000_000)),
            (Form::Time, "0s", None),
            (Form::Share, "1.5%", Some(15_000)),
            (Form::Share, "0%", Some(0)),
        ] {
            assert_eq!(form.value(text), Ok(value), "{text}");
            if let Some(value) = value {
                assert_eq!(form.text(value), text);
            }
        }
        assert!(Form::Share.value("200%").is_err());
        assert!(Form::Time.value("5%").is_err());
    }
}
