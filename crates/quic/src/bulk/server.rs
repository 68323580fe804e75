//! The receiving side of bulk flows.

use std::net::SocketAddr;
use std::sync::Arc;

use noq::{Connection, Endpoint, Incoming, ReadError, RecvStream, SendStream};

use super::{ALPN, BulkError, Report};
use crate::endpoint::{self, EndpointError, Fingerprint, Identity};

/// What is taken from a stream at a time.
const READ: usize = 256 << 10;

/// Receives any number of bulk flows at once until dropped, and tells each sender what has arrived.
#[derive(Debug)]
pub struct Server {
    endpoint: Endpoint,
    address: SocketAddr,
    fingerprint: Fingerprint,
}

impl Server {
    /// Starts receiving at `address` (port 0: any free one), under a certificate of its own. Must be called within a
    /// tokio runtime.
    pub fn start(address: SocketAddr) -> Result<Server, EndpointError> {
        let identity = Identity::generate()?;
        // A receiver sends little more than ACKs, which no controller holds back.
        let transport = endpoint::transport(Arc::new(noq::congestion::CubicConfig::default()));
        let config = endpoint::server_config(&identity, ALPN, Arc::new(transport))?;
        let endpoint = endpoint::bind(address, Some(config))?;
        let address = endpoint
            .local_addr()
            .map_err(|source| EndpointError::Bind { address, source })?;
        let acceptor = endpoint.clone();
        tokio::spawn(async move {
            while let Some(incoming) = acceptor.accept().await {
                tokio::spawn(serve(incoming));
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
    let Ok(connection) = incoming.await else {
        return;
    };
    while let Ok((to, from)) = connection.accept_bi().await {
        tokio::spawn(receive(connection.clone(), to, from));
    }
}

/// Takes what a stream brings, to its end or to the sender's reset, and reports it. The sender closes the connection when
/// it has all reports; if instead the connection breaks, there is nobody to tell.
async fn receive(connection: Connection, to: SendStream, from: RecvStream) {
    if let Ok(()) = take_and_report(to, from).await {
        connection.closed().await;
    }
}

async fn take_and_report(mut to: SendStream, mut from: RecvStream) -> Result<(), BulkError> {
    let mut hasher = blake3::Hasher::new();
    let mut bytes = 0;
    let is_complete = loop {
        match from.read_chunk(READ).await {
            Ok(Some(chunk)) => {
                bytes += chunk.len() as u64;
                hasher.update(&chunk);
            }
            Ok(None) => break true,
            Err(ReadError::Reset(_)) => break false,
            Err(error) => return Err(error.into()),
        }
    };
    let report = Report {
        bytes,
        is_complete,
        digest: hasher.finalize(),
    };
    to.write_all(&report.encode()).await?;
    Ok(to.finish()?)
}
