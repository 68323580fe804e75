//! Congestion control for any transport: BBRv1, BBRv3, CUBIC, Reno and Prague as pure state machines. No clock, no I/O, no
//! allocation, integers only, `no_std`.
//!
//! | you have | you take |
//! | --- | --- |
//! | packets that are each sent once, and ACKs of them (QUIC, or your own protocol) | [`flow::Flow`], which does all the bookkeeping |
//! | a stack with its own books: TCP's, or one that measures delivery rates | [`Controller`], driven by its [events](controller) |
//! | a rate, and no pacer | [`pacer::Pacer`] |
//! | a pacer, and no measure of the path's rate | [`sampling::Sampler`] |
//!
//! [`embedding`] is the guide: the order of events, and the options where a stack lacks information. The crate
//! `fullpipe-congestion-testkit` drives a transport over an emulated path and reports errors in its wiring.
//!
//! # A sender
//!
//! A complete example. Reliability, packet numbers and the wire format belong to the transport:
//!
//! ```
#![doc = include_str!("../examples/sender.rs")]
//! ```
//!
//! # Contents
//!
//! - [`bbr1`], [`bbr3`], [`cubic`], [`reno`] and [`prague`] are the controllers; [`ControllerKind`] names them, [`Settings`] has their
//!   settings, and [`AnyController`] is any of them.
//! - [`Controller::snapshot`] shows observers the state of a controller.
//!
//! Not included: loss detection, retransmission, PRR and the wire format. The transport decides which packets are lost.
//!
//! # Size
//!
//! `docs/embedding.md` has the size of code and state on a Cortex-M.

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
pub mod flow;
mod hystart;
mod list;
pub mod loss_based;
mod loss_window;
pub mod pacer;
pub mod pacing;
pub mod prague;
mod recoveries;
pub mod reno;
mod round;
pub mod rtt;
pub mod sampling;
pub mod state;
mod usage;

pub use bbr::aggregation;
pub use controller::{
    Ack, AckFrequency, Cause, Connection, Controller, Lost, Recovery, RttSample, Sent, Snapshot,
};
pub use flow::Flow;
pub use list::{AnyController, ControllerKind, Settings};
pub use loss_window::LossWindow;
pub use pacer::Pacer;
pub use sampling::{PacketState, RateSample};
pub use state::{Phase, State};
pub use units::{Bytes, Duration, Rate, Ratio, Time};
