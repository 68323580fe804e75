//! The connecting side.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use noq::{ClientConfig, EndpointConfig, TransportConfig};

use super::connection::Connecting;
use super::endpoint::Endpoint;
use crate::controller::Controllers;
use crate::endpoint::{EndpointError, Fingerprint, SERVER_NAME, client_config, open};

/// How to connect to one server, over endpoints that are [driven](super) by us.
#[derive(Clone)]
pub struct Client {
    config: ClientConfig,
    transport: Arc<TransportConfig>,
    controllers: Arc<dyn Controllers>,
}

impl Client {
    /// How to connect to the server whose certificate has the fingerprint `server`, in the protocol `alpn`. `controllers` makes
    /// what controls congestion, and says whether packets are capable of ECN; `transport` makes the other settings.
    ///
    /// # Errors
    /// The TLS library refuses.
    pub fn new(
        server: Fingerprint,
        alpn: &[u8],
        controllers: Arc<dyn Controllers>,
        transport: impl FnOnce(Arc<dyn Controllers>) -> TransportConfig,
    ) -> Result<Client, EndpointError> {
        let transport = Arc::new(transport(controllers.clone()));
        Ok(Client {
            config: client_config(server, alpn, transport.clone())?,
            transport,
            controllers,
        })
    }

    /// Begins to connect to `server`, by an endpoint of its own.
    ///
    /// # Errors
    /// As of [`endpoint`](Self::endpoint) and [`connect_from`](Self::connect_from).
    pub fn connect(&self, server: SocketAddr) -> Result<(Endpoint, Connecting), EndpointError> {
        let endpoint = self.endpoint(server)?;
        let connecting = self.connect_from(&endpoint, server)?;
        Ok((endpoint, connecting))
    }

    /// An endpoint at any address of the same family as `server`.
    ///
    /// # Errors
    /// The system gives no socket, or no thread.
    pub fn endpoint(&self, server: SocketAddr) -> Result<Endpoint, EndpointError> {
        let any: IpAddr = match server {
            SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
            SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
        };
        let address = SocketAddr::new(any, 0);
        let ecn = self.controllers.responds_to_ecn();
        open(address)
            .and_then(|socket| Endpoint::new(socket, EndpointConfig::default(), None, ecn))
            .map_err(|source| EndpointError::Bind { address, source })
    }

    /// Begins to connect to `server` over a socket that may have other connections.
    ///
    /// # Errors
    /// The address cannot be connected to, or the endpoint is closed.
    pub fn connect_from(
        &self,
        endpoint: &Endpoint,
        server: SocketAddr,
    ) -> Result<Connecting, EndpointError> {
        let (config, name) = (self.config.clone(), SERVER_NAME);
        Ok(endpoint.connect(config, &self.transport, &self.controllers, server, name)?)
    }
}
