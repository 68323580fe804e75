//! The autonomous systems and the regions of clients, from files of the user.

use std::net::IpAddr;
use std::sync::Arc;

use fleet::systems::{Regions, Systems};

use super::groups::network_of;

/// The files.
#[derive(Debug, Default)]
pub struct Lookup {
    /// The networks of autonomous systems.
    pub systems: Option<Systems>,
    /// The networks of regions.
    pub regions: Option<Regions>,
}

impl Lookup {
    /// True if there is no file.
    pub fn is_empty(&self) -> bool {
        self.systems.is_none() && self.regions.is_none()
    }

    /// The number of the system and the region of a client.
    pub(super) fn of(&mut self, client: IpAddr) -> (Option<u32>, Option<Arc<str>>) {
        let (systems, regions) = (self.systems.as_mut(), self.regions.as_ref());
        let system = systems.and_then(|systems| systems.of_address(client));
        (
            system.map(|system| system.number),
            regions.and_then(|regions| regions.of_address(client).cloned()),
        )
    }

    /// Replaces the system and the region that were recorded of a client, by what the files say of it.
    pub(super) fn replace(
        &mut self,
        client: Option<&str>,
        system: &mut Option<u32>,
        region: &mut Option<Arc<str>>,
    ) {
        if let Some(systems) = &mut self.systems {
            let network = client.and_then(network_of);
            *system = network.and_then(|network| systems.of_network(network));
        }
        if let Some(regions) = &self.regions {
            *region = client.and_then(|client| regions.of_client(client).cloned());
        }
    }
}
