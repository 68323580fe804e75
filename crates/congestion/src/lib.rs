//! Congestion control as pure state machines: no clock, no I/O, no allocation, integers only.

#![no_std]

#[cfg(test)]
mod ack_clock;
pub mod bbr1;
pub mod controller;
pub mod cubic;
pub mod filter;
mod hystart;
pub mod kind;
pub mod loss_based;
mod pacing;
pub mod reno;
mod round;
mod rtt;
pub mod sampling;

pub use controller::{
    Ack, Cause, Connection, Controller, Lost, Recovery, RttSample, Sent, Snapshot,
};
pub use kind::{AnyController, Kind};
pub use sampling::{PacketState, RateSample};
pub use units::{Bytes, Duration, Rate, Ratio, Time};
