//! The sender in virtual time, against the real receiver over a scripted wire.

mod ack_frequency;
mod detection;
mod ecn;
mod fast_open;
mod limits;
mod new_reno;
mod properties;
mod reduction;
mod silence;
mod tail;
mod undo;
mod usage;
mod wire;
