//! Probes: how long a given number of bytes takes to a receiver, again and again over one connection that is kept open.
//!
//! A probe spreads over up to [`STREAMS`] bidirectional streams, so that no stream's window limits it. On each, the sender
//! writes its part, zeros, to the end; the receiver discards what comes and answers with the number of bytes, eight, the
//! most significant first. A probe has taken as long as the last answer was away: there, and back with the answer.

mod identity;
mod server;

pub use identity::{IdentityError, identity_in};
pub use server::{LARGEST, serve};

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::controller::Controllers;
use bytes::Bytes;
use futures_util::future::try_join_all;
use noq::{Connection, Endpoint};

use crate::endpoint::{self, EndpointError, Fingerprint, STREAMS};

const ALPN: &[u8] = b"fullpipe-probe/1";

/// What is written at a time.
static PIECE: [u8; 64 << 10] = [0; 64 << 10];

/// A probe could not be carried through.
#[derive(Debug, thiserror::Error)]
pub enum ProbeError {
    /// The sending endpoint could not be set up.
    #[error(transparent)]
    Endpoint(#[from] EndpointError),
    /// The address cannot be connected to.
    #[error("cannot connect: {0}")]
    Connect(#[from] noq::ConnectError),
    /// The connection failed or broke.
    #[error("connection lost: {0}")]
    Connection(#[from] noq::ConnectionError),
    /// The receiver did not take the payload.
    #[error("cannot send: {0}")]
    Write(#[from] noq::WriteError),
    /// The receiver's answer did not come whole.
    #[error("no answer: {0}")]
    Read(#[from] noq::ReadExactError),
    /// The stream was closed before its end.
    #[error("stream closed early")]
    Closed(#[from] noq::ClosedStream),
    /// The receiver got another number of bytes.
    #[error("the receiver says that it got {got} of {sent} bytes")]
    Count {
        /// What it says.
        got: u64,
        /// What was sent.
        sent: u64,
    },
}

/// The sending side: a connection that is kept open.
#[derive(Debug)]
pub struct Prober {
    connection: Connection,
    // Closed when dropped, with its connection.
    endpoint: Endpoint,
}

impl Prober {
    /// Connects to the receiver with this certificate. `controllers` makes what controls the connection's congestion: see
    /// [`crate::controller`]. Must be called within a tokio runtime.
    pub async fn connect(
        server: SocketAddr,
        fingerprint: Fingerprint,
        controllers: Arc<dyn Controllers>,
    ) -> Result<Prober, ProbeError> {
        let ecn = controllers.responds_to_ecn();
        let transport = Arc::new(endpoint::transport(controllers));
        let config = endpoint::client_config(fingerprint, ALPN, transport)?;
        let endpoint = endpoint::bind_towards(server, ecn)?;
        let connecting = endpoint.connect_with(config, server, endpoint::SERVER_NAME)?;
        Ok(Prober {
            connection: connecting.await?,
            endpoint,
        })
    }

    /// Sends so many bytes, and returns how long it took until the receiver's confirmation of the last one had come back.
    /// After an error, nothing more is to be expected of the connection.
    pub async fn probe(&self, bytes: u64) -> Result<Duration, ProbeError> {
        let start = Instant::now();
        let parts = bytes.div_ceil(PIECE.len() as u64).clamp(1, STREAMS.into());
        let part = |index: u64| bytes / parts + u64::from(index < bytes % parts);
        try_join_all((0..parts).map(|index| self.carry(part(index)))).await?;
        Ok(start.elapsed())
    }

    async fn carry(&self, bytes: u64) -> Result<(), ProbeError> {
        let (mut to, mut from) = self.connection.open_bi().await?;
        let mut left = bytes;
        while left > 0 {
            let length = left.min(PIECE.len() as u64);
            // No longer than a piece.
            to.write_chunk(Bytes::from_static(
                PIECE.get(..length as usize).unwrap_or_default(),
            ))
            .await?;
            left -= length;
        }
        to.finish()?;
        let mut answer = [0; 8];
        from.read_exact(&mut answer).await?;
        match u64::from_be_bytes(answer) {
            got if got == bytes => Ok(()),
            got => Err(ProbeError::Count { got, sent: bytes }),
        }
    }
}

impl Drop for Prober {
    fn drop(&mut self) {
        self.endpoint.close(0u32.into(), b"");
    }
}
