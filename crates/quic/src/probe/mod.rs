//! Probes: how long a given number of bytes takes to a receiver, again and again over one connection that is kept open.
//!
//! A probe spreads over up to [`STREAMS`] bidirectional streams, so that no stream's window limits it. On each, the sender
//! writes its part, zeros, to the end; the receiver discards what comes and answers with the number of bytes, eight, the
//! most significant first. A probe has taken as long as the last answer was away: there, and back with the answer.
//!
//! Before its first probe, a sender proves that it knows the receiver's [`Token`]. `docs/probe.md` has the protocol, and
//! what a receiver bounds; what is not QUIC's own ([`Door`], [`Token`], [`Answer`]) is for probes over TCP too.

mod door;
mod identity;
mod private_file;
mod server;
mod token;

pub use door::{Door, Seat};
pub use identity::{IdentityError, identity_in};
pub use server::{IDLE, LARGEST, PROOF_TIME, STALL, serve};
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

/// What the TLS session exports for the challenge (RFC 8446, "Exporters").
const EXPORTER_LABEL: &[u8] = b"EXPORTER-fullpipe-probe-2";

/// What is written at a time.
static PIECE: [u8; 64 << 10] = [0; 64 << 10];

/// A probe could not be carried through.
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
    /// The receiver's answer did not come whole.
    #[error("no answer: {0}")]
    Read(#[from] ReadExactError),
    /// The stream was closed before its end.
    #[error("stream closed early")]
    Closed(#[from] noq_proto::ClosedStream),
    /// The receiver does not take what we send.
    #[error(transparent)]
    TurnedAway(#[from] TurnedAway),
    /// The TLS session cannot be named, by which the sender proves itself.
    #[error("TLS exports no keying material")]
    NoChallenge,
    /// The receiver got another number of bytes.
    #[error("the receiver says that it got {got} of {sent} bytes")]
    Count {
        /// What it says.
        got: u64,
        /// What was sent.
        sent: u64,
    },
}

/// What a receiver answers to a proof, as one byte.
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

/// A receiver does not take what we send.
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
    /// Something else, which this version does not know.
    #[error("the receiver answered {0}, which this version does not know")]
    Unknown(u8),
}

impl Answer {
    /// Reads the byte of an answer.
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

/// The challenge of this TLS session.
fn challenge_of(connection: &Connection) -> Result<[u8; PROOF_LEN], ProbeError> {
    let mut challenge = [0; PROOF_LEN];
    connection
        .export_keying_material(&mut challenge, EXPORTER_LABEL, b"")
        .map_err(|_| ProbeError::NoChallenge)?;
    Ok(challenge)
}

/// The sending side: a connection that is kept open.
#[derive(Debug)]
pub struct Prober {
    connection: Connection,
}

impl Prober {
    /// Connects to the receiver with this certificate, and proves that we know its token. `controllers` makes what controls the
    /// connection's congestion: see [`crate::controller`].
    ///
    /// # Errors
    /// There is no connection, or the receiver does not take what we send.
    pub async fn connect(
        server: SocketAddr,
        fingerprint: Fingerprint,
        token: &Token,
        controllers: Arc<dyn Controllers>,
    ) -> Result<Prober, ProbeError> {
        let ground = Arc::new(System);
        let client = Client::new(ground, fingerprint, ALPN, controllers, endpoint::transport)?;
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
        self.connection.close(0u32.into(), b"");
    }
}
