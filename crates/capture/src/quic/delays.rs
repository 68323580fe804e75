//! The transport parameters of ACK delays: the maximum, and the unit in which an end reports them (RFC 9000, section 18.2).

use units::Duration;

use super::wire::Reader;

/// The identifiers of the parameters.
const ACK_DELAY_EXPONENT: u64 = 0x0a;
const MAX_ACK_DELAY: u64 = 0x0b;

/// Greater exponents are invalid, and so are delays of this length or longer.
const MAX_EXPONENT: u8 = 20;
const INVALID_DELAY_MS: u64 = 1 << 14;

/// An end's parameters of ACK delays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Delays {
    /// The unit is two to the power of this, in microseconds.
    pub exponent: u8,
    /// The maximum delay.
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
    /// Reads transport parameters. Invalid values have no effect.
    pub fn of(parameters: &[u8]) -> Delays {
        let mut delays = Delays::default();
        let mut reader = Reader {
            data: parameters,
            at: 0,
        };
        while let Some((kind, value)) = parameter(&mut reader) {
            match kind {
                ACK_DELAY_EXPONENT => {
                    let exponent = value.and_then(|value| u8::try_from(value).ok());
                    let exponent = exponent.filter(|exponent| *exponent <= MAX_EXPONENT);
                    delays.exponent = exponent.unwrap_or(delays.exponent);
                }
                MAX_ACK_DELAY => delays.set_longest(value),
                _ => {}
            }
        }
        delays
    }

    /// Sets the maximum in milliseconds, if the value is valid.
    pub fn set_longest(&mut self, ms: Option<u64>) {
        if let Some(ms) = ms.filter(|ms| *ms < INVALID_DELAY_MS) {
            self.longest = Duration::from_millis(ms);
        }
    }
}

/// The next parameter: its identifier, and its value if that is a number.
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
    fn the_maximum_and_the_exponent_are_read() {
        // A parameter without a value, an exponent of 10, a delay of 100 ms, and a truncated parameter.
        let parameters = [0x0c, 0, 0x0a, 1, 10, 0x0b, 2, 0x40, 100, 0x0a, 2, 1];
        let told = Delays {
            exponent: 10,
            longest: Duration::from_millis(100),
        };
        assert_eq!(Delays::of(&parameters), told);
        // An exponent and a delay that are too great.
        let impossible = [0x0a, 1, 21, 0x0b, 4, 0x80, 0, 0x40, 0];
        assert_eq!(Delays::of(&impossible), Delays::default());
        assert_eq!(Delays::of(&[]), Delays::default());
    }
}
