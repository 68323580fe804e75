//! The paths in use: one for all clients, or one for each.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;

use noq_udp::EcnCodepoint;
use path::{Path, PathConfig};
use units::ConfigError;
use units::Time;

use crate::config::Sharing;

/// A datagram on a path.
#[derive(Clone)]
pub(crate) struct Datagram {
    /// The client that sent it, or to which it goes.
    pub(crate) client: SocketAddr,
    /// Its ECN codepoint on arrival.
    pub(crate) ecn: Option<EcnCodepoint>,
    /// The UDP payload.
    pub(crate) payload: Arc<[u8]>,
}

/// The paths in use.
pub(crate) struct Routes {
    config: PathConfig,
    next_seed: u64,
    sharing: Sharing,
    /// By client; `None` for the path of all clients.
    paths: HashMap<Option<SocketAddr>, Path<Datagram>>,
}

impl Routes {
    /// Returns the paths of a relay without clients.
    ///
    /// # Errors
    /// The path is invalid.
    pub(crate) fn new(
        config: PathConfig,
        seed: u64,
        sharing: Sharing,
    ) -> Result<Routes, ConfigError> {
        let first = Path::new(config.clone(), seed)?;
        let mut routes = Routes {
            config,
            next_seed: seed,
            sharing,
            paths: HashMap::new(),
        };
        if sharing == Sharing::OneBottleneck {
            routes.paths.insert(None, first);
        }
        Ok(routes)
    }

    /// Gives a new client its own path, if clients have their own.
    pub(crate) fn open(&mut self, client: SocketAddr) -> Result<(), ConfigError> {
        if self.sharing == Sharing::PathPerClient {
            let path = Path::new(self.config.clone(), self.next_seed)?;
            self.next_seed = self.next_seed.wrapping_add(1);
            self.paths.insert(Some(client), path);
        }
        Ok(())
    }

    /// Removes a client's own path.
    pub(crate) fn close(&mut self, client: SocketAddr) -> Option<Path<Datagram>> {
        self.paths.remove(&Some(client))
    }

    /// The path of `client`.
    pub(crate) fn of(&mut self, client: SocketAddr) -> Option<&mut Path<Datagram>> {
        let key = (self.sharing == Sharing::PathPerClient).then_some(client);
        self.paths.get_mut(&key)
    }

    /// All paths.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Path<Datagram>> {
        self.paths.values_mut()
    }

    /// The time of the next arrival on any path.
    pub(crate) fn next_event(&self) -> Option<Time> {
        self.paths
            .values()
            .flat_map(|path| [path.forward.next_event(), path.reverse.next_event()])
            .flatten()
            .min()
    }
}
