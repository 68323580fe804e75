//! The sending and receiving host that "Making Linux TCP Fast" (Netdev 1.2, 2016) describes, as pure state machines:
//! times and segments in, segments and timers out. No clock, no I/O, no allocation per packet.

pub mod app;
pub mod burst;
pub mod receiver;
pub mod scheduler;
pub mod segment;
pub mod sender;

pub use units::ConfigError;

pub use congestion::{Bytes, Duration, Rate, Ratio, Time};
