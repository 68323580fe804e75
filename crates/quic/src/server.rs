//! A receiver that serves connections until it is dropped.

use std::net::SocketAddr;
use std::sync::Arc;

use noq::TransportConfig;
use noq::congestion::CubicConfig;

use crate::controller::Controllers;
use crate::driver::{Accepts, Endpoint, Incoming};
use crate::endpoint::{self, EndpointError, Fingerprint, Identity};

/// A running receiver. Dropped, it closes its connections.
#[derive(Debug)]
pub struct Server {
    endpoint: Endpoint,
    fingerprint: Fingerprint,
}

impl Server {
    /// Listens at `address` (port 0: any free one) as `identity`, for peers that speak `alpn`, and hands whoever comes to
    /// `serve`, in a task of its own. An IPv6 wildcard address serves IPv4 too where the system can. Must be called within
    /// a tokio runtime.
    ///
    /// # Errors
    /// The address is taken, or the identity is unusable.
    pub(crate) fn start<Served>(
        address: SocketAddr,
        identity: &Identity,
        alpn: &[u8],
        transport: TransportConfig,
        mut serve: impl FnMut(Incoming) -> Option<Served> + Send + 'static,
    ) -> Result<Server, EndpointError>
    where
        Served: Future<Output = ()> + Send + 'static,
    {
        let controllers = controllers();
        let ecn = controllers.responds_to_ecn();
        let accepts = Accepts {
            config: endpoint::server_config(identity, alpn, Arc::new(transport))?,
            controllers,
        };
        let config = identity.endpoint_config();
        let endpoint = endpoint::open(address)
            .and_then(|socket| Endpoint::new(socket, config, Some(accepts), ecn))
            .map_err(|source| EndpointError::Bind { address, source })?;
        let acceptor = endpoint.clone();
        tokio::spawn(async move {
            while let Some(incoming) = acceptor.accept().await {
                if let Some(served) = serve(incoming) {
                    tokio::spawn(served);
                }
            }
        });
        Ok(Server {
            endpoint,
            fingerprint: identity.fingerprint(),
        })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.endpoint.local_addr()
    }

    /// What a sender must know to recognize it.
    pub fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.endpoint.close(0u32.into(), b"server stopped");
    }
}

/// A receiver sends little more than ACKs, which no controller holds back.
fn controllers() -> Arc<dyn Controllers> {
    Arc::new(CubicConfig::default())
}

/// The settings of a receiver.
pub(crate) fn transport() -> TransportConfig {
    endpoint::transport(controllers())
}
