//! The Linux kernel's own TCP: network namespaces that only this process knows, sockets in them, and what the kernel
//! tells of these sockets.

pub mod command;
pub mod diag;
mod error;
mod namespace;
mod network;
pub mod privilege;
pub mod socket;

pub use error::Error;
pub use network::{DEVICE, Family, Host, Network, NetworkConfig, Settings, controllers};
