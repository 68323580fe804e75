//! The units of Fullpipe: points in time, durations, rates, byte counts and exact ratios.
//!
//! All arithmetic is on integers and saturates by design: a controller that is fed nonsense computes an extreme value,
//! never a wrapped one. Rates are bits per second at the surface (as `tc` and people say them) and bytes per second
//! inside. `FromStr` and `Display` speak `tc`'s language: `20mbit`, `40ms`, `250kb`, `1%`.

#![no_std]

mod bytes;
mod parse;
mod rate;
mod ratio;
mod time;

pub use bytes::Bytes;
pub use parse::ParseError;
pub use rate::Rate;
pub use ratio::Ratio;
pub use time::{Duration, Time};
