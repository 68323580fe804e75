//! Congestion control as pure state machines: no clock, no I/O, no allocation, integers only.
//!
//! - [`bbr1`], [`bbr3`], [`cubic`] and [`reno`] are the controllers; [`ControllerKind`] names them, [`Settings`] has their
//!   settings, and [`AnyController`] is any of them.
//! - [`controller`] has the one trait through which a transport drives a controller, and the order of events.
//! - [`sampling`] measures the delivery rate at each ACK.
//! - [`embedding`] is a short guide for transports, with a complete sender.
//!
//! ```
//! use congestion::{AnyController, Bytes, Connection, Controller, ControllerKind, Sent, Time};
//!
//! let mut controller = AnyController::new(
//!     "bbr1".parse::<ControllerKind>()?,
//!     Connection::new(Time::ZERO, Bytes::new(1_200), Bytes::new(12_000)),
//! );
//! controller.on_packet_sent(&Sent::new(Time::ZERO, Bytes::new(1_200), Bytes::new(1_200)));
//! assert_eq!(controller.cwnd(), Bytes::new(12_000));
//! # Ok::<(), units::UnknownName>(())
//! ```

#![no_std]

#[cfg(test)]
mod ack_clock;
mod bbr;
pub mod bbr1;
pub mod bbr3;
mod by_variant;
pub mod controller;
pub mod cubic;
pub mod embedding;
pub mod filter;
mod hystart;
mod list;
pub mod loss_based;
mod loss_window;
pub mod pacing;
pub mod reno;
mod round;
pub mod rtt;
pub mod sampling;
pub mod state;
mod usage;

pub use controller::{
    Ack, Cause, Connection, Controller, Lost, Recovery, RttSample, Sent, Snapshot,
};
pub use list::{AnyController, ControllerKind, Settings};
pub use loss_window::LossWindow;
pub use sampling::{PacketState, RateSample};
pub use state::{Phase, State};
pub use units::{Bytes, Duration, Rate, Ratio, Time};
