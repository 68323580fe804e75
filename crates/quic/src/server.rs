//! A receiver that serves connections until it is dropped.

use std::net::SocketAddr;
use std::sync::Arc;

use noq_proto::TransportConfig;
use tokio::task::JoinHandle;

use crate::connection::{Incoming, Listener};
use crate::driver::System;
use crate::endpoint::{self, EndpointError, Fingerprint, Identity};

/// A running receiver. When it is dropped, it closes its connections.
#[derive(Debug)]
pub struct Server {
    listener: Arc<Listener>,
    accepting: JoinHandle<()>,
    fingerprint: Fingerprint,
}

impl Server {
    /// Listens at `address` (port 0: any free port) as `identity`, for peers that speak `alpn`, and gives each client
    /// to `serve` in a separate task. Must be called within a tokio runtime.
    ///
    /// # Errors
    /// The address is in use, or the identity is unusable.
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
        let config = endpoint::server_config(identity, alpn, Arc::new(transport))?;
        let listener = endpoint::listen(Arc::new(System), address, config, identity)?;
        let listener = Arc::new(listener);
        let acceptor = listener.clone();
        let accepting = tokio::spawn(async move {
            while let Some(incoming) = acceptor.accept().await {
                if let Some(served) = serve(incoming) {
                    tokio::spawn(served);
                }
            }
        });
        Ok(Server {
            listener,
            accepting,
            fingerprint: identity.fingerprint(),
        })
    }

    /// The address at which it listens.
    pub fn address(&self) -> SocketAddr {
        self.listener.local_addr()
    }

    /// The fingerprint by which a sender recognizes it.
    pub fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.accepting.abort();
        self.listener.close(0u32.into());
    }
}

/// The transport settings of a receiver, which sends little but ACKs.
pub(crate) fn transport() -> TransportConfig {
    endpoint::transport(Arc::new(noq_proto::congestion::CubicConfig::default()))
}
