//! Frames of TUN devices.

mod checksum;
mod damage;
#[cfg(any(test, fuzzing))]
pub mod fuzz;
mod headers;
mod layout;
mod memory;
#[cfg(test)]
mod tests;
mod too_big;
mod virtio;

pub(crate) use memory::{Frame, Inbox, Received};
