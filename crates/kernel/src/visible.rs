//! The state of connections that this process may read.

use std::os::fd::OwnedFd;

/// The maps of the state of connections, of each kept controller that this process may read. A build without programs
/// for the kernel finds none.
pub fn visible_flows() -> Vec<OwnedFd> {
    #[cfg(feature = "load")]
    let found = crate::Algorithm::ALL
        .iter()
        .filter_map(|algorithm| crate::flows(*algorithm).ok().flatten())
        .collect();
    #[cfg(not(feature = "load"))]
    let found = Vec::new();
    found
}
