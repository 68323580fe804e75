//! The Linux kernel's own TCP: network namespaces that only this process knows, sockets in them, and the kernel's
//! information about these sockets.
//!
//! ```no_run
//! use linux::diag::{Diag, Filter};
//! use linux::{Network, NetworkConfig, privilege};
//!
//! // Before the process has a second thread.
//! privilege::acquire()?;
//! let network = Network::create(&NetworkConfig::default())?;
//! Diag::open(&network.near)?.sockets(&Filter::default(), |socket| {
//!     println!("{:?}: {:?}", socket.controller, socket.info);
//! })?;
//! # Ok::<(), linux::Error>(())
//! ```

pub mod command;
pub mod diag;
mod error;
pub mod machine;
mod namespace;
mod netlink;
mod network;
pub mod privilege;
pub mod routing;
pub mod socket;
pub mod visible;

pub use error::Error;
pub use network::{
    DEVICE, Family, Host, Network, NetworkConfig, Settings, Tap, Tapped, controllers,
    controllers_here,
};
