//! How long an end may hold acknowledgements back, and in which units it says so (transport parameters; RFC 9000, section 18.2).

use units::Duration;

use super::wire::Reader;

/// The parameters' numbers.
const EXPONENT: u64 = 0x0a;
const LONGEST: u64 = 0x0b;

/// No exponent is greater, and no delay is as long.
const MOST_EXPONENT: u8 = 20;
const TOO_LONG_MS: u64 = 1 << 14;

/// What an end says of its acknowledgements' delays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Delays {
    /// They are in units of two to the power of this, in microseconds.
    pub exponent: u8,
    /// It holds none back for longer.
    pub longest: Duration,
}

impl Default for Delays {
    fn default() -> Delays {
        Delays {
            exponent: 3,
            longest: Duration::from_millis(25),
        }
    }
}

impl Delays {
    /// By transport parameters, as far as they can be read.
    pub fn of(parameters: &[u8]) -> Delays {
        let mut delays = Delays::default();
        let mut reader = Reader {
            data: parameters,
            at: 0,
        };
        while let Some((kind, value)) = parameter(&mut reader) {
            match kind {
                EXPONENT => {
                    let exponent = value.and_then(|value| u8::try_from(value).ok());
                    let exponent = exponent.filter(|exponent| *exponent <= MOST_EXPONENT);
                    delays.exponent = exponent.unwrap_or(delays.exponent);
                }
                LONGEST => delays.set_longest(value),
                _ => {}
            }
        }
        delays
    }

    /// So many milliseconds, if there can be so many.
    pub fn set_longest(&mut self, ms: Option<u64>) {
        if let Some(ms) = ms.filter(|ms| *ms < TOO_LONG_MS) {
            self.longest = Duration::from_millis(ms);
        }
    }
}

/// The next parameter, and its value if it is a number.
fn parameter(reader: &mut Reader<'_>) -> Option<(u64, Option<u64>)> {
    let kind = reader.number()?;
    let len = usize::try_from(reader.number()?).ok()?;
    let mut value = Reader {
        data: reader.bytes(len)?,
        at: 0,
    };
    Some((kind, value.number()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_say_how_long_and_in_which_units() {
        // Without a value, an exponent of 10, a delay of 100 ms, and one that is cut.
        let parameters = [0x0c, 0, 0x0a, 1, 10, 0x0b, 2, 0x40, 100, 0x0a, 2, 1];
        let told = Delays {
            exponent: 10,
            longest: Duration::from_millis(100),
        };
        assert_eq!(Delays::of(&parameters), told);
        // What cannot be.
        let impossible = [0x0a, 1, 21, 0x0b, 4, 0x80, 0, 0x40, 0];
        assert_eq!(Delays::of(&impossible), Delays::default());
        assert_eq!(Delays::of(&[]), Delays::default());
    }
}
