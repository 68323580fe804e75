//! Byte counts.

use core::fmt;
use core::iter::Sum;
use core::ops::{Add, AddAssign, Mul, Sub, SubAssign};
use core::str::FromStr;

use crate::text::{self, ParseError, Suffix, decimal};

/// A number of bytes. Addition and subtraction saturate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Bytes(u64);

impl Bytes {
    /// The units of sizes as text: bytes, powers of 1000, and powers of 1024.
    pub const UNITS: &[Suffix] = &[
        ("b", 1),
        ("kb", 1_000),
        ("mb", 1_000_000),
        ("gb", 1_000_000_000),
        ("tb", 1_000_000_000_000),
        ("kib", 1 << 10),
        ("mib", 1 << 20),
        ("gib", 1 << 30),
        ("tib", 1 << 40),
    ];
    /// No bytes.
    pub const ZERO: Bytes = Bytes(0);
    /// The largest count.
    pub const MAX: Bytes = Bytes(u64::MAX);

    /// A count of `bytes` bytes.
    pub const fn new(bytes: u64) -> Bytes {
        Bytes(bytes)
    }

    /// The count as a plain integer.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// Whether the count is zero.
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }
}

impl Add for Bytes {
    type Output = Bytes;
    fn add(self, other: Bytes) -> Bytes {
        Bytes(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Bytes {
    fn add_assign(&mut self, other: Bytes) {
        *self = *self + other;
    }
}

impl Sub for Bytes {
    type Output = Bytes;
    /// Saturates at zero.
    fn sub(self, other: Bytes) -> Bytes {
        Bytes(self.0.saturating_sub(other.0))
    }
}

impl SubAssign for Bytes {
    fn sub_assign(&mut self, other: Bytes) {
        *self = *self - other;
    }
}

impl Mul<u64> for Bytes {
    type Output = Bytes;
    fn mul(self, factor: u64) -> Bytes {
        Bytes(self.0.saturating_mul(factor))
    }
}

impl Sum for Bytes {
    fn sum<I: Iterator<Item = Bytes>>(counts: I) -> Bytes {
        counts.fold(Bytes::ZERO, Add::add)
    }
}

impl FromStr for Bytes {
    type Err = ParseError;
    /// Parses a number with one of the units `b`, `kb`, `mb`, `gb`, `tb` (powers of 1000), `kib`, `mib`, `gib`, `tib`
    /// (powers of 1024): `250kb`, `8mib`. A bare `0` needs no unit.
    fn from_str(text: &str) -> Result<Bytes, ParseError> {
        decimal(text, Bytes::UNITS, &[], "a size such as 250kb or 8mib").map(Bytes)
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        text::write(f, self.0, &Bytes::UNITS[..4])
    }
}
