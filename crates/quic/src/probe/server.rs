//! The receiving side of probes.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use noq::{Endpoint, Incoming, RecvStream, SendStream, VarInt};
use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::ALPN;
use crate::endpoint::{self, EndpointError, Fingerprint, Identity, STREAMS};

/// The most bytes that a stream may bring.
pub const LARGEST: u64 = 1 << 30;

/// The most connections at a time: each may hold what its peer sends out of order, as much as the receive window.
const CONNECTIONS: usize = 64;

/// A connection over which nothing has been asked for so long is closed: longer than any interval of probes.
const IDLE: Duration = Duration::from_secs(15 * 60);

/// A stream that brings nothing for so long is given up.
const STALL: Duration = Duration::from_secs(60);

/// What is taken from a stream at a time.
const READ: usize = 256 << 10;

/// Receives probes until dropped: whatever comes is counted and discarded.
#[derive(Debug)]
pub struct Server {
    endpoint: Endpoint,
    address: SocketAddr,
    fingerprint: Fingerprint,
}

impl Server {
    /// Starts receiving at `address` (port 0: any free one), as `identity`. Must be called within a tokio runtime.
    pub fn start(address: SocketAddr, identity: &Identity) -> Result<Server, EndpointError> {
        // A receiver sends little more than ACKs, which no controller holds back.
        let mut transport = endpoint::transport(Arc::new(noq::congestion::CubicConfig::default()));
        transport
            .max_concurrent_bidi_streams(VarInt::from_u32(STREAMS))
            .max_concurrent_uni_streams(VarInt::from_u32(0));
        let config = endpoint::server_config(identity, ALPN, Arc::new(transport))?;
        let endpoint = endpoint::bind(address, Some(config))?;
        let address = endpoint
            .local_addr()
            .map_err(|source| EndpointError::Bind { address, source })?;
        let acceptor = endpoint.clone();
        tokio::spawn(async move {
            let places = Arc::new(Semaphore::new(CONNECTIONS));
            while let Some(incoming) = acceptor.accept().await {
                let Ok(place) = places.clone().try_acquire_owned() else {
                    incoming.refuse();
                    continue;
                };
                tokio::spawn(async move {
                    serve(incoming).await;
                    drop(place);
                });
            }
        });
        Ok(Server {
            endpoint,
            address,
            fingerprint: identity.fingerprint(),
        })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
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

async fn serve(incoming: Incoming) {
    // Who connects and breaks off is nobody's loss.
    let Ok(connection) = incoming.await else {
        return;
    };
    while let Ok(Ok((to, from))) = timeout(IDLE, connection.accept_bi()).await {
        tokio::spawn(take(to, from));
    }
    connection.close(0u32.into(), b"");
}

/// Discards what a stream brings, and answers how much it was. What breaks a rule gets no answer: dropped streams are
/// stopped and reset.
async fn take(mut to: SendStream, mut from: RecvStream) {
    let mut bytes = 0;
    loop {
        match timeout(STALL, from.read_chunk(READ)).await {
            Ok(Ok(Some(chunk))) if bytes + chunk.len() as u64 <= LARGEST => {
                bytes += chunk.len() as u64;
            }
            Ok(Ok(None)) => break,
            _ => {
                let _ = to.reset(0u32.into());
                return;
            }
        }
    }
    if to.write_all(&bytes.to_be_bytes()).await.is_ok() {
        // Fails only if the sender no longer wants to know.
        let _ = to.finish();
    }
}
