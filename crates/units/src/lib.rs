//! The units of Fullpipe: points in time, durations, rates, byte counts and exact ratios.
//!
//! All arithmetic is on integers and saturates by design: invalid input to a controller gives an extreme value, never a
//! wrapped one. Rates are bits per second in text, as in `tc`, and bytes per second inside. `FromStr` and `Display` use
//! `tc`'s notation: `20mbit`, `40ms`, `250kb`, `1%`. Printed values parse back to the same value. The notation of
//! reports parses, too: `20.0 Mbit/s`, `4.00 MB`.
//!
//! ```
//! use units::{Bytes, Duration, Rate, Ratio};
//!
//! let rate: Rate = "20mbit".parse()?;
//! let rtt: Duration = "40ms".parse()?;
//! let bdp = rate.bytes_in(rtt);
//! assert_eq!(bdp, Bytes::new(100_000));
//! assert_eq!(bdp.to_string(), "100kb");
//!
//! let gain: Ratio = "125%".parse()?;
//! assert_eq!(rate.scale(gain).to_string(), "25mbit");
//!
//! let error = "20mb".parse::<Rate>().unwrap_err();
//! assert_eq!(
//!     error.to_string(),
//!     "expected a rate such as 20mbit or 1.5gbit; units: bit kbit mbit gbit tbit"
//! );
//! # Ok::<(), units::ParseError>(())
//! ```

#![no_std]

extern crate alloc;

#[cfg(feature = "serde")]
pub mod bounds;
mod bytes;
mod config;
mod names;
mod rate;
mod ratio;
#[cfg(feature = "serde")]
mod serde;
mod text;
mod time;

pub use bytes::Bytes;
pub use config::ConfigError;
pub use names::{UnknownName, hint, nearest, told};
pub use rate::Rate;
pub use ratio::Ratio;
#[cfg(feature = "serde")]
pub use serde::{parsed, reexport as __serde};
pub use text::{ParseError, Suffix, is_unit};
pub use time::{Duration, Time};
