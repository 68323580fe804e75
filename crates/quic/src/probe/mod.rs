//! Probes: the time that a given number of bytes takes to a receiver, measured repeatedly over one open connection.
//!
//! A probe uses up to [`STREAMS`] bidirectional streams, so that no stream's window limits it. On each, the sender
//! writes its part, zeros, to the end. The receiver discards the data and answers with the number of bytes, as eight
//! bytes, the most significant first. A probe's time ends when the last answer arrives.
//!
//! Before its first probe, a sender proves that it knows the receiver's [`Token`]. `docs/probe.md` has the protocol and
//! the receiver's limits. The parts that do not depend on QUIC ([`ConnectionLimit`], [`Token`], [`Answer`]) also serve probes over
//! TCP.

mod connection_limit;
mod identity;
mod private_file;
mod server;
mod token;

pub use connection_limit::{ConnectionLimit, Permit};
pub use identity::{IdentityError, identity_in};
pub use server::{IDLE_TIMEOUT, MAX_STREAM_BYTES, PROOF_TIMEOUT, STALL_TIMEOUT, serve};
pub use token::{PROOF_LEN, Token, TokenError, challenge};

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::controller::Controllers;
use bytes::Bytes;
use futures_util::future::try_join_all;

use crate::connection::{Connection, ReadExactError, WriteError};
use crate::driver::System;
use crate::endpoint::{self, Client, EndpointError, Fingerprint, STREAMS};

const ALPN: &[u8] = b"fullpipe-probe/2";

/// The label under which the TLS session exports the challenge (RFC 8446, "Exporters").
const EXPORTER_LABEL: &[u8] = b"EXPORTER-fullpipe-probe-2";

/// The zeros that are written at a time.
static ZEROS: [u8; 64 << 10] = [0; 64 << 10];

/// The error of a probe.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProbeError {
    /// The sending endpoint could not be set up.
    #[error(transparent)]
    Endpoint(#[from] EndpointError),
    /// The connection failed or broke.
    #[error("connection lost: {0}")]
    Connection(#[from] noq_proto::ConnectionError),
    /// The receiver did not take the payload.
    #[error("cannot send: {0}")]
    Write(#[from] WriteError),
    /// The receiver's answer did not arrive whole.
    #[error("no answer: {0}")]
    Read(#[from] ReadExactError),
    /// The stream was closed before its end.
    #[error("stream closed early")]
    Closed(#[from] noq_proto::ClosedStream),
    /// The receiver turns the sender away.
    #[error(transparent)]
    TurnedAway(#[from] TurnedAway),
    /// The TLS session gives no challenge.
    #[error("TLS exports no keying material")]
    NoChallenge,
    /// The receiver counted another number of bytes.
    #[error("the receiver says that it got {got} of {sent} bytes")]
    Count {
        /// The receiver's number.
        got: u64,
        /// The number of sent bytes.
        sent: u64,
    },
}

/// A receiver's answer to a proof, as one byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Answer {
    /// The sender may send.
    Welcome = 0,
    /// The tokens differ.
    WrongToken = 1,
    /// All places are taken.
    Full = 2,
}

/// A receiver's reason to turn a sender away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TurnedAway {
    /// The tokens differ.
    #[error(
        "the receiver has another token, or none; give it as `token` in [[destination]] or in FULLPIPE_PROBE_TOKEN"
    )]
    WrongToken,
    /// All places are taken.
    #[error("all places of the receiver are taken")]
    Full,
    /// Another reason, which this version does not know.
    #[error("the receiver answered {0}, which this version does not know")]
    Unknown(u8),
}

impl Answer {
    /// Reads an answer's byte.
    ///
    /// # Errors
    ///
    /// The sender may not send.
    pub const fn read(byte: u8) -> Result<(), TurnedAway> {
        match byte {
            0 => Ok(()),
            1 => Err(TurnedAway::WrongToken),
            2 => Err(TurnedAway::Full),
            other => Err(TurnedAway::Unknown(other)),
        }
    }
}

/// Returns the challenge of this TLS session.
fn challenge_of(connection: &Connection) -> Result<[u8; PROOF_LEN], ProbeError> {
    let mut challenge = [0; PROOF_LEN];
    connection
        .export_keying_material(&mut challenge, EXPORTER_LABEL, b"")
        .map_err(|_| ProbeError::NoChallenge)?;
    Ok(challenge)
}

/// The sending side: a connection that stays open.
#[derive(Debug)]
pub struct Prober {
    connection: Connection,
}

impl Prober {
    /// Connects to the receiver with this certificate, and proves that the sender knows its token. `controllers` makes
    /// the connection's congestion controller: see [`crate::controller`].
    ///
    /// # Errors
    /// The connection fails, or the receiver turns the sender away.
    pub async fn connect(
        server: SocketAddr,
        fingerprint: Fingerprint,
        token: &Token,
        controllers: Arc<dyn Controllers>,
    ) -> Result<Prober, ProbeError> {
        let environment = Arc::new(System);
        let client = Client::new(
            environment,
            fingerprint,
            ALPN,
            controllers,
            endpoint::transport,
        )?;
        let connection = client.connect(server)?;
        connection.connected().await?;
        let prober = Prober { connection };
        prober.prove(token).await?;
        Ok(prober)
    }

    async fn prove(&self, token: &Token) -> Result<(), ProbeError> {
        let challenge = challenge_of(&self.connection)?;
        let (mut to, mut from) = self.connection.open_bi().await?;
        to.write_all(&token.proof(&challenge)).await?;
        to.finish()?;
        let mut answer = [0];
        from.read_exact(&mut answer).await?;
        let [answer] = answer;
        Ok(Answer::read(answer)?)
    }

    /// Sends this many bytes, and returns the time until the receiver's last confirmation arrived. After an error, the
    /// connection cannot be used any more.
    pub async fn probe(&self, bytes: u64) -> Result<Duration, ProbeError> {
        let start = Instant::now();
        let parts = bytes.div_ceil(ZEROS.len() as u64).clamp(1, STREAMS.into());
        let part = |index: u64| bytes / parts + u64::from(index < bytes % parts);
        try_join_all((0..parts).map(|index| self.carry(part(index)))).await?;
        Ok(start.elapsed())
    }

    async fn carry(&self, bytes: u64) -> Result<(), ProbeError> {
        let (mut to, mut from) = self.connection.open_bi().await?;
        let mut left = bytes;
        while left > 0 {
            let length = left.min(ZEROS.len() as u64);
            // A chunk is no longer than [`ZEROS`].
            to.write_chunk(Bytes::from_static(
                ZEROS.get(..length as usize).unwrap_or_default(),
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
        self.connection.close(0u32.into(), b"");
    }
}
