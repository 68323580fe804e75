//! The receiving side of bulk flows.

use std::net::SocketAddr;

use noq::ReadError;

use super::{ALPN, BulkError, Report};
use crate::driver::{Connection, Incoming, RecvStream, SendStream};
use crate::endpoint::{EndpointError, Identity};
use crate::server::{self, Server};

/// What is hashed at a time. BLAKE3 is fast where it has many of its chunks at once, and a packet holds one.
const HASHED: usize = 64 << 10;

/// Receives any number of bulk flows at once until dropped, and tells each sender what has arrived. Listens at `address`
/// (port 0: any free one), under a certificate of its own. Must be called within a tokio runtime.
///
/// # Errors
/// The address is taken, or no certificate could be made.
pub fn serve(address: SocketAddr) -> Result<Server, EndpointError> {
    let identity = Identity::generate()?;
    Server::start(address, &identity, ALPN, server::transport(), |incoming| {
        Some(receive_all(incoming))
    })
}

async fn receive_all(incoming: Incoming) {
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
    let mut gathered = Vec::with_capacity(HASHED);
    let mut bytes = 0;
    let is_complete = loop {
        match from.read_chunk(HASHED).await {
            Ok(Some(chunk)) => {
                bytes += chunk.len() as u64;
                if gathered.len() + chunk.len() > HASHED {
                    hasher.update(&gathered);
                    gathered.clear();
                }
                gathered.extend_from_slice(&chunk);
            }
            Ok(None) => break true,
            Err(ReadError::Reset(_)) => break false,
            Err(error) => return Err(error.into()),
        }
    };
    hasher.update(&gathered);
    let report = Report {
        bytes,
        is_complete,
        digest: hasher.finalize(),
    };
    to.write_all(&report.encode()).await?;
    Ok(to.finish()?)
}
