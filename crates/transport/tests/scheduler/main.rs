//! The packet scheduler in virtual time.

mod host;
mod model;
mod pacing;
mod properties;
mod sharing;
