//! Points in time and the spans between them, in nanoseconds.

use core::fmt;
use core::num::NonZeroU64;
use core::ops::{Add, AddAssign, Div, Mul, Sub};
use core::str::FromStr;

use crate::text::{self, ParseError, Suffix, decimal};

/// A point in time: nanoseconds since an epoch that the caller chooses (a connection's start, a simulation's zero).
///
/// Only differences between times of the same epoch are meaningful. An `Option<Time>` takes no more memory than a
/// `Time`.
// Stores the nanoseconds plus one, so that zero is free for `None`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(NonZeroU64);

impl Time {
    /// The epoch itself.
    pub const ZERO: Time = Time(NonZeroU64::MIN);
    /// The latest time.
    pub const MAX: Time = Time(NonZeroU64::MAX);

    /// The time `nanos` nanoseconds after the epoch.
    pub const fn from_nanos(nanos: u64) -> Time {
        Time(NonZeroU64::MIN.saturating_add(nanos))
    }

    /// Nanoseconds since the epoch.
    pub const fn as_nanos(self) -> u64 {
        self.0.get() - 1
    }

    /// The span from `earlier` to `self`; zero if `earlier` is in fact later.
    pub const fn since(self, earlier: Time) -> Duration {
        Duration(self.0.get().saturating_sub(earlier.0.get()))
    }
}

impl fmt::Debug for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Time").field(&self.as_nanos()).finish()
    }
}

impl Default for Time {
    fn default() -> Time {
        Time::ZERO
    }
}

impl Add<Duration> for Time {
    type Output = Time;
    fn add(self, span: Duration) -> Time {
        Time(self.0.saturating_add(span.0))
    }
}

impl AddAssign<Duration> for Time {
    fn add_assign(&mut self, span: Duration) {
        *self = *self + span;
    }
}

impl Sub<Duration> for Time {
    type Output = Time;
    fn sub(self, span: Duration) -> Time {
        Time::from_nanos(self.as_nanos().saturating_sub(span.0))
    }
}

/// A span of time in nanoseconds; up to 584 years.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Duration(u64);

impl Duration {
    /// The units of times as text, in nanoseconds.
    pub const UNITS: &[Suffix] = &[
        ("ns", 1),
        ("us", 1_000),
        ("ms", 1_000_000),
        ("s", 1_000_000_000),
        ("min", 60_000_000_000),
        ("h", 3_600_000_000_000),
        ("d", 86_400_000_000_000),
    ];
    /// Other spellings, which are read and never written: the micro sign and the Greek letter.
    pub const OTHER_UNITS: &[Suffix] = &[("\u{b5}s", 1_000), ("\u{3bc}s", 1_000)];
    /// Zero.
    pub const ZERO: Duration = Duration(0);
    /// The longest span.
    pub const MAX: Duration = Duration(u64::MAX);

    /// A span of `nanos` nanoseconds.
    pub const fn from_nanos(nanos: u64) -> Duration {
        Duration(nanos)
    }

    /// A span of `micros` microseconds.
    pub const fn from_micros(micros: u64) -> Duration {
        Duration(micros.saturating_mul(1_000))
    }

    /// A span of `millis` milliseconds.
    pub const fn from_millis(millis: u64) -> Duration {
        Duration(millis.saturating_mul(1_000_000))
    }

    /// A span of `secs` seconds.
    pub const fn from_secs(secs: u64) -> Duration {
        Duration(secs.saturating_mul(1_000_000_000))
    }

    /// A span of `secs` seconds, to the nanosecond. Zero for a number that is no span.
    pub fn from_secs_f64(secs: f64) -> Duration {
        core::time::Duration::try_from_secs_f64(secs)
            .unwrap_or_default()
            .into()
    }

    /// The span in nanoseconds.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// The span in seconds, for reports.
    pub const fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// The span in milliseconds, for reports.
    pub const fn as_millis_f64(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// `self − other`, or zero if `other` is longer.
    pub const fn saturating_sub(self, other: Duration) -> Duration {
        Duration(self.0.saturating_sub(other.0))
    }

    /// Whether the span is zero.
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }
}

impl Add for Duration {
    type Output = Duration;
    fn add(self, other: Duration) -> Duration {
        Duration(self.0.saturating_add(other.0))
    }
}

impl Mul<u64> for Duration {
    type Output = Duration;
    fn mul(self, factor: u64) -> Duration {
        Duration(self.0.saturating_mul(factor))
    }
}

impl Div<u64> for Duration {
    type Output = Duration;
    /// Division by zero gives [`Duration::MAX`].
    fn div(self, divisor: u64) -> Duration {
        Duration(self.0.checked_div(divisor).unwrap_or(u64::MAX))
    }
}

impl From<core::time::Duration> for Duration {
    fn from(span: core::time::Duration) -> Duration {
        Duration(u64::try_from(span.as_nanos()).unwrap_or(u64::MAX))
    }
}

impl From<Duration> for core::time::Duration {
    fn from(span: Duration) -> core::time::Duration {
        core::time::Duration::from_nanos(span.0)
    }
}

impl FromStr for Duration {
    type Err = ParseError;
    /// Parses a number with one of the units `ns`, `us`, `ms`, `s`, `min`, `h`, `d`: `40ms`, `1.5s`, `7d`. A bare `0` needs no unit.
    fn from_str(text: &str) -> Result<Duration, ParseError> {
        let expected = "a time such as 40ms or 1.5s";
        decimal(text, Duration::UNITS, Duration::OTHER_UNITS, expected).map(Duration)
    }
}

impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_zero() {
            return f.write_str("0s");
        }
        // 120s is more usual than 2min.
        text::write(f, self.0, &Duration::UNITS[..4])
    }
}
