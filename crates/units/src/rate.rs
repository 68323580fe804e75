//! Data rates.

use core::fmt;
use core::str::FromStr;

use crate::text::{self, ParseError, Suffix, decimal};
use crate::{Bytes, Duration, Ratio};

const NANOS_PER_SEC: u128 = 1_000_000_000;

/// A data rate, kept in bytes per second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Rate(u64);

impl Rate {
    /// The units of rates as text: bits per second, and powers of 1000 of them.
    pub const UNITS: &[Suffix] = &[
        ("bit", 1),
        ("kbit", 1_000),
        ("mbit", 1_000_000),
        ("gbit", 1_000_000_000),
        ("tbit", 1_000_000_000_000),
    ];
    /// Other spellings, which are read and never written by [`Display`](fmt::Display): bits per second as in reports,
    /// and bytes per second, with a capital B.
    pub const OTHER_UNITS: &[Suffix] = &[
        ("bit/s", 1),
        ("kbit/s", 1_000),
        ("Mbit/s", 1_000_000),
        ("Gbit/s", 1_000_000_000),
        ("Tbit/s", 1_000_000_000_000),
        ("B/s", 8),
        ("kB/s", 8_000),
        ("MB/s", 8_000_000),
        ("GB/s", 8_000_000_000),
        ("KiB/s", 8 << 10),
        ("MiB/s", 8 << 20),
        ("GiB/s", 8 << 30),
    ];
    /// Zero.
    pub const ZERO: Rate = Rate(0);
    /// The largest rate.
    pub const MAX: Rate = Rate(u64::MAX);

    /// A rate in bytes per second.
    pub const fn from_bytes_per_sec(rate: u64) -> Rate {
        Rate(rate)
    }

    /// A rate in bits per second, rounded down to whole bytes.
    pub const fn from_bits_per_sec(rate: u64) -> Rate {
        Rate(rate / 8)
    }

    /// The rate in bytes per second.
    pub const fn bytes_per_sec(self) -> u64 {
        self.0
    }

    /// The rate in bits per second.
    pub const fn bits_per_sec(self) -> u64 {
        self.0.saturating_mul(8)
    }

    /// The rate at which `bytes` pass in `span`, rounded down; [`Rate::MAX`] for bytes in no time, zero for none.
    #[inline]
    pub fn from_transfer(bytes: Bytes, span: Duration) -> Rate {
        if bytes.is_zero() {
            return Rate::ZERO;
        }
        // Both factors usually fit 64 bits, and a 64-bit division is several times cheaper.
        if let Some(scaled) = bytes.get().checked_mul(NANOS_PER_SEC as u64) {
            return Rate(scaled.checked_div(span.as_nanos()).unwrap_or(u64::MAX));
        }
        let scaled = bytes.get() as u128 * NANOS_PER_SEC;
        Rate(
            scaled
                .checked_div(span.as_nanos() as u128)
                .map_or(u64::MAX, saturate),
        )
    }

    /// The bytes that pass in `span`, rounded down: with an RTT, the bandwidth-delay product.
    #[inline]
    pub fn bytes_in(self, span: Duration) -> Bytes {
        if let Some(product) = self.0.checked_mul(span.as_nanos()) {
            return Bytes::new(product / NANOS_PER_SEC as u64);
        }
        Bytes::new(saturate(
            self.0 as u128 * span.as_nanos() as u128 / NANOS_PER_SEC,
        ))
    }

    /// The time for `bytes`, rounded up. [`Duration::MAX`] at rate zero, unless there are no bytes.
    #[inline]
    pub fn time_for(self, bytes: Bytes) -> Duration {
        if bytes.is_zero() {
            return Duration::ZERO;
        }
        if self.0 == 0 {
            return Duration::MAX;
        }
        if let Some(scaled) = bytes.get().checked_mul(NANOS_PER_SEC as u64) {
            return Duration::from_nanos(scaled.div_ceil(self.0));
        }
        let scaled = bytes.get() as u128 * NANOS_PER_SEC;
        Duration::from_nanos(saturate(scaled.div_ceil(self.0 as u128)))
    }

    /// The rate times an exact ratio, rounded down.
    #[inline]
    pub fn scale(self, by: Ratio) -> Rate {
        Rate(by.of(self.0))
    }

    /// Whether the rate is zero.
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }
}

fn saturate(value: u128) -> u64 {
    u64::try_from(value).unwrap_or(u64::MAX)
}

impl FromStr for Rate {
    type Err = ParseError;
    /// Parses a number with one of `tc`'s units `bit`, `kbit`, `mbit`, `gbit`, `tbit` (bits per second, powers of
    /// 1000), the notation of reports: `18.6 Mbit/s`, or bytes per second: `2.5MB/s`. `mbps` is refused: it means bytes
    /// in `tc`, and bits to most others.
    fn from_str(text: &str) -> Result<Rate, ParseError> {
        let expected = "a rate such as 20mbit or 1.5gbit";
        let bits = decimal(text, Rate::UNITS, Rate::OTHER_UNITS, expected);
        bits.map(Rate::from_bits_per_sec).map_err(|error| {
            let unit = text.trim_start_matches(|c: char| c.is_ascii_digit() || ". ".contains(c));
            let unit = unit.trim_end().to_ascii_lowercase();
            let may_be_bytes = |end: &str| {
                let prefix = unit.strip_suffix(end);
                prefix.is_some_and(|prefix| ["", "k", "m", "g", "t"].contains(&prefix))
            };
            if unit.len() < text.len() && ["bps", "b/s"].into_iter().any(may_be_bytes) {
                error.ambiguous()
            } else {
                error
            }
        })
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        text::write(f, self.bits_per_sec(), &Rate::UNITS[..4])
    }
}
