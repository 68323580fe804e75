//! The size of a bottleneck's buffer.

use std::fmt;
use std::num::IntErrorKind;
use std::str::FromStr;

use units::{Bytes, Duration, ParseError};

/// The size of a buffer, in the unit in which it was given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BufferSpec {
    /// A size: `250kb`.
    Bytes(Bytes),
    /// A number of packets of any size: `100p`.
    Packets(u64),
    /// A multiple of rate × RTprop: `4bdp`, `0.25bdp`.
    Bdp {
        /// Thousandths of the bandwidth-delay product.
        thousandths: u64,
    },
    /// The bytes that the bottleneck sends in this time: `1s`.
    Time(Duration),
}

units::as_text!(BufferSpec);

/// The text is no buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BufferError {
    /// It is not a size, a multiple of the BDP, or a time.
    #[error(
        "expected a buffer such as 4bdp, 100p, 250kb or 1s; units: bdp, p (packets), those of sizes (b kb mb gb tb kib mib \
         gib tib) and of times (ns us ms s min h d)"
    )]
    Unknown,
    /// Its value does not fit.
    #[error("too large; give a buffer such as 4bdp, 100p, 250kb or 1s")]
    TooLarge,
}

impl From<ParseError> for BufferError {
    fn from(error: ParseError) -> BufferError {
        if error.is_too_large() {
            BufferError::TooLarge
        } else {
            BufferError::Unknown
        }
    }
}

impl FromStr for BufferSpec {
    type Err = BufferError;

    fn from_str(text: &str) -> Result<BufferSpec, BufferError> {
        let text = text.trim();
        let before = |unit: &str| {
            let at = text.len().checked_sub(unit.len())?;
            let (number, end) = text.split_at_checked(at)?;
            end.eq_ignore_ascii_case(unit).then_some(number)
        };
        if let Some(multiple) = before("bdp") {
            // A thousandth of a "kilobyte" is exact, and is parsed exactly: it has the decimals of the multiple.
            let thousandths: Bytes = format!("{}kb", multiple.trim()).parse()?;
            return Ok(BufferSpec::Bdp {
                thousandths: thousandths.get(),
            });
        }
        let packets = ["p", "packet", "packets"].into_iter().find_map(before);
        if let Some(packets) = packets {
            let packets = packets.trim().parse::<u64>();
            return packets
                .map(BufferSpec::Packets)
                .map_err(|error| match error.kind() {
                    IntErrorKind::PosOverflow => BufferError::TooLarge,
                    _ => BufferError::Unknown,
                });
        }
        match text.parse() {
            Ok(bytes) => Ok(BufferSpec::Bytes(bytes)),
            Err(error) if ParseError::is_too_large(&error) => Err(BufferError::TooLarge),
            Err(_) => Ok(BufferSpec::Time(text.parse()?)),
        }
    }
}

impl fmt::Display for BufferSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BufferSpec::Bytes(bytes) => bytes.fmt(f),
            BufferSpec::Packets(packets) => write!(f, "{packets}p"),
            BufferSpec::Bdp { thousandths } => match thousandths % 1000 {
                0 => write!(f, "{}bdp", thousandths / 1000),
                rest => {
                    let decimals = format!("{rest:03}");
                    write!(
                        f,
                        "{}.{}bdp",
                        thousandths / 1000,
                        decimals.trim_end_matches('0')
                    )
                }
            },
            BufferSpec::Time(span) => span.fmt(f),
        }
    }
}
