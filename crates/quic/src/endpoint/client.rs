//! The connecting side.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use noq::{ClientConfig, Connecting, Endpoint, EndpointConfig, TransportConfig};

use super::error::EndpointError;
use super::fingerprint::Fingerprint;
use super::identity::SERVER_NAME;
use super::sockets::Sockets;
use super::tls::client_config;
use crate::controller::Controllers;
use crate::runtime::Runtime;

/// How to connect to one server.
#[derive(Clone)]
pub struct Client {
    config: ClientConfig,
    sockets: Arc<dyn Sockets>,
    /// Whether its packets are capable of ECN.
    ecn: bool,
}

impl Client {
    /// How to connect, over sockets of `sockets`, to the server whose certificate has the fingerprint `server`, in the
    /// protocol `alpn`. `controllers` makes what controls congestion, and says whether packets are capable of ECN;
    /// `transport` makes the other settings.
    ///
    /// # Errors
    /// The TLS library refuses.
    pub fn new(
        sockets: Arc<dyn Sockets>,
        server: Fingerprint,
        alpn: &[u8],
        controllers: Arc<dyn Controllers>,
        transport: impl FnOnce(Arc<dyn Controllers>) -> TransportConfig,
    ) -> Result<Client, EndpointError> {
        let ecn = controllers.responds_to_ecn();
        Ok(Client {
            config: client_config(server, alpn, Arc::new(transport(controllers)))?,
            sockets,
            ecn,
        })
    }

    /// Begins to connect to `server`, by an endpoint of its own at any address of the same family. Must be called within
    /// a tokio runtime.
    ///
    /// # Errors
    /// The system gives no socket, or the address cannot be connected to.
    pub fn connect(&self, server: SocketAddr) -> Result<(Endpoint, Connecting), EndpointError> {
        let any: IpAddr = match server {
            SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
            SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
        };
        let address = SocketAddr::new(any, 0);
        let runtime = Runtime { ecn: self.ecn };
        let endpoint = self
            .sockets
            .open(address)
            .and_then(|socket| {
                let (socket, config) = (runtime.wrap(socket), EndpointConfig::default());
                Endpoint::new_with_abstract_socket(config, None, socket, Arc::new(runtime))
            })
            .map_err(|source| EndpointError::Bind { address, source })?;
        let connecting = endpoint.connect_with(self.config.clone(), server, SERVER_NAME)?;
        Ok((endpoint, connecting))
    }
}
