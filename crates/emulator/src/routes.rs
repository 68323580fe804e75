//! The paths in use: one for all clients, or one each.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;

use noq_udp::EcnCodepoint;
use path::{Path, PathConfig};
use units::ConfigError;
use units::Time;

use crate::config::Sharing;

/// What travels on a path.
#[derive(Clone)]
pub(crate) struct Datagram {
    /// The client that sent it or that it is for.
    pub(crate) client: SocketAddr,
    /// The ECN codepoint that it came with.
    pub(crate) ecn: Option<EcnCodepoint>,
    /// The UDP payload.
    pub(crate) payload: Arc<[u8]>,
}

/// The paths in use.
pub(crate) struct Routes {
    config: PathConfig,
    next_seed: u64,
    sharing: Sharing,
    /// By the client that it belongs to; by `None` if to all.
    paths: HashMap<Option<SocketAddr>, Path<Datagram>>,
}

impl Routes {
    /// The paths of a relay that has no clients yet.
    ///
    /// # Errors
    /// The path makes no sense.
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

    /// Gives a new client its path, if it is to have its own.
    pub(crate) fn open(&mut self, client: SocketAddr) -> Result<(), ConfigError> {
        if self.sharing == Sharing::PathPerClient {
            let path = Path::new(self.config.clone(), self.next_seed)?;
            self.next_seed = self.next_seed.wrapping_add(1);
            self.paths.insert(Some(client), path);
        }
        Ok(())
    }

    /// Takes away a client's own path.
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

    /// When the next packet arrives anywhere.
    pub(crate) fn next_event(&self) -> Option<Time> {
        self.paths
            .values()
            .flat_map(|path| [path.forward.next_event(), path.reverse.next_event()])
            .flatten()
            .min()
    }
}
