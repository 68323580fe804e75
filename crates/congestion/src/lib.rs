//! Congestion control as pure state machines: no clock, no I/O, no allocation, integers only.

#![no_std]

pub mod controller;
pub mod sampling;

pub use controller::{
    Ack, Cause, Connection, Controller, Lost, Recovery, RttSample, Sent, Snapshot,
};
pub use sampling::{PacketState, RateSample};
pub use units::{Bytes, Duration, Rate, Ratio, Time};
