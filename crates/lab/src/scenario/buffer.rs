//! How large a bottleneck's buffer is.

use std::fmt;
use std::str::FromStr;

use units::{Bytes, Duration};

/// The size of a buffer, in whichever terms it was given.
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
    /// What the bottleneck sends in this time: `1s`.
    Time(Duration),
}

const EXPECTED: &str = "expected a buffer such as 4bdp, 100p, 250kb or 1s";

impl FromStr for BufferSpec {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<BufferSpec, &'static str> {
        let text = text.trim();
        if let Some(multiple) = text.strip_suffix("bdp") {
            // A thousandth of a "kilobyte" is exact, and parsed exactly: the decimals are those of the multiple.
            let thousandths: Bytes = format!("{}kb", multiple.trim())
                .parse()
                .map_err(|_| EXPECTED)?;
            return Ok(BufferSpec::Bdp {
                thousandths: thousandths.get(),
            });
        }
        if let Some(packets) = text.strip_suffix('p') {
            return packets
                .trim()
                .parse()
                .map(BufferSpec::Packets)
                .map_err(|_| EXPECTED);
        }
        if let Ok(bytes) = text.parse() {
            return Ok(BufferSpec::Bytes(bytes));
        }
        text.parse().map(BufferSpec::Time).map_err(|_| EXPECTED)
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
