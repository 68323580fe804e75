//! The receiving side of probes.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use noq::{Incoming, RecvStream, SendStream, VarInt};
use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::ALPN;
use crate::endpoint::{EndpointError, Identity, STREAMS};
use crate::server::{self, Server};

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

/// Receives probes until dropped: whatever comes is counted and discarded. Listens at `address` (port 0: any free one) as
/// `identity`. Must be called within a tokio runtime.
///
/// # Errors
/// The address is taken, or the identity is unusable.
pub fn serve(address: SocketAddr, identity: &Identity) -> Result<Server, EndpointError> {
    let mut transport = server::transport();
    transport
        .max_concurrent_bidi_streams(VarInt::from_u32(STREAMS))
        .max_concurrent_uni_streams(VarInt::from_u32(0));
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    Server::start(address, identity, ALPN, transport, move |incoming| {
        let Ok(place) = places.clone().try_acquire_owned() else {
            incoming.refuse();
            return None;
        };
        Some(async move {
            receive_all(incoming).await;
            drop(place);
        })
    })
}

async fn receive_all(incoming: Incoming) {
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
