//! The connecting side.

use std::net::SocketAddr;
use std::sync::Arc;

use noq_proto::{MtuDiscoveryConfig, TransportConfig};

use super::error::EndpointError;
use super::fingerprint::Fingerprint;
use super::tls::client_config;
use crate::connection::Connection;
use crate::controller::Controllers;
use crate::driver::{self, Driver, Environment};

type Transport = dyn Fn(Arc<dyn Controllers>) -> TransportConfig + Send + Sync;

/// The settings for connections to one server. Each connection has its own socket, and all have one thread.
#[derive(Clone)]
pub struct Client {
    driver: Arc<Driver>,
    server: Fingerprint,
    alpn: Arc<[u8]>,
    controllers: Arc<dyn Controllers>,
    transport: Arc<Transport>,
    /// True if path MTU discovery goes up to the MTU of the route.
    has_large_datagrams: bool,
}

impl Client {
    /// Makes settings for the server whose certificate has the fingerprint `server`, in the protocol `alpn`.
    /// `controllers` makes the congestion controllers, and decides whether packets are ECN-capable. `transport` makes
    /// the other settings.
    ///
    /// # Errors
    /// The system cannot start a thread.
    pub fn new(
        environment: Arc<dyn Environment>,
        server: Fingerprint,
        alpn: &[u8],
        controllers: Arc<dyn Controllers>,
        transport: impl Fn(Arc<dyn Controllers>) -> TransportConfig + Send + Sync + 'static,
    ) -> Result<Client, EndpointError> {
        Ok(Client {
            driver: Driver::start_on(environment).map_err(EndpointError::Thread)?,
            server,
            alpn: alpn.into(),
            controllers,
            transport: Arc::new(transport),
            has_large_datagrams: false,
        })
    }

    /// Lets path MTU discovery go up to what the route to the server carries, such as jumbo frames. Otherwise, no
    /// datagram is larger than 1452 bytes. Most paths carry this size, so connections over them have datagrams of equal
    /// size.
    pub fn with_large_datagrams(mut self) -> Client {
        self.has_large_datagrams = true;
        self
    }

    /// Begins to connect to `server` at this address.
    ///
    /// # Errors
    /// The system cannot open a socket, the address cannot be connected to, or the TLS library refuses.
    pub fn connect(&self, server: SocketAddr) -> Result<Connection, EndpointError> {
        let ecn = self.controllers.responds_to_ecn();
        let (controllers, flow) = driver::paced(self.controllers.clone());
        let mut transport = (self.transport)(controllers);
        if self.has_large_datagrams
            && let Some(size) = self.driver.largest_datagram(server)
        {
            let mut discovery = MtuDiscoveryConfig::default();
            discovery.upper_bound(size);
            transport.mtu_discovery_config(Some(discovery));
        }
        let config = client_config(self.server, &self.alpn, Arc::new(transport))?;
        Connection::begin(&self.driver, server, config, flow, ecn)
    }
}
