//! Which autonomous system and which region a client belongs to, by files that the user has.

use std::net::IpAddr;
use std::sync::Arc;

use fleet::systems::{Regions, System, Systems};

/// The files.
#[derive(Debug, Default)]
pub struct Lookup {
    /// The networks of autonomous systems.
    pub systems: Option<Systems>,
    /// The networks of regions.
    pub regions: Option<Regions>,
}

impl Lookup {
    /// Whether there is no file.
    pub fn is_empty(&self) -> bool {
        self.systems.is_none() && self.regions.is_none()
    }

    /// The system and the region of a client.
    pub(super) fn of(&mut self, client: IpAddr) -> (Option<Arc<System>>, Option<Arc<str>>) {
        let (systems, regions) = (self.systems.as_mut(), self.regions.as_ref());
        (
            systems.and_then(|systems| systems.of_address(client)),
            regions.and_then(|regions| regions.of_address(client).cloned()),
        )
    }
}
