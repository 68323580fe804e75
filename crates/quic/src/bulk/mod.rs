//! Bulk flows between two endpoints: what experiments measure.
//!
//! A sender connects, opens some bidirectional streams and writes its payload, a stripe on each; what goes with the last
//! flight of the handshake is already payload. The receiver answers on each stream, at the stripe's end or when the
//! sender's deadline cuts it off, with the number of bytes that its application has got and their BLAKE3 digest, which
//! the sender verifies. Bytes thus count when they have reached the receiving application, in order within their stripe,
//! not when they were sent or acknowledged.

mod payload;
mod server;

pub use payload::Payload;
pub use server::serve;

use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::try_join_all;
use payload::Stripe;
use tokio::time::timeout_at;

use crate::controller::Controllers;
use crate::driver::{Client, Connection, RecvStream, SendStream};
use crate::endpoint::{self, EndpointError, Fingerprint};

const ALPN: &[u8] = b"fullpipe-bulk/1";

/// One bulk flow.
#[derive(Clone)]
pub struct Flow {
    /// The receiver.
    pub server: SocketAddr,
    /// Its certificate.
    pub fingerprint: Fingerprint,
    /// What controls the flow's congestion, and who watches it: see [`crate::controller`].
    pub controllers: Arc<dyn Controllers>,
    /// What is sent.
    pub payload: Payload,
    /// When the flow is cut off, from its start on, whatever has been sent by then. A payload without end needs one.
    pub deadline: Option<Duration>,
}

/// What became of a flow.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// Bytes that reached the receiving application, verified.
    pub bytes: u64,
    /// Whether that is all, rather than what fitted before the deadline.
    pub is_complete: bool,
    /// When the flow started.
    pub start: Instant,
    /// From the start until the sender could send its first byte of payload.
    pub handshake: Duration,
    /// From the start until the receiver's confirmation of the last byte has come back, or the deadline.
    pub elapsed: Duration,
    /// What was sent and lost.
    pub stats: Stats,
}

impl Outcome {
    /// Payload delivered per second over the whole flow, handshake included, in bits per second.
    pub fn goodput_bps(&self) -> f64 {
        self.bytes as f64 * 8.0 / self.elapsed.as_secs_f64()
    }
}

/// A flow's packets, as the sending side's QUIC stack counts them. Handshake and probes are included.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stats {
    /// UDP datagrams sent.
    pub udp_datagrams: u64,
    /// Bytes in them, without IP and UDP headers.
    pub udp_bytes: u64,
    /// QUIC packets sent.
    pub packets_sent: u64,
    /// QUIC packets declared lost.
    pub packets_lost: u64,
    /// Bytes of QUIC packets sent, those of pure ACKs not counted.
    pub bytes_sent: u64,
    /// Bytes of QUIC packets declared lost.
    pub bytes_lost: u64,
    /// Losses found to be none.
    pub spurious_events: u64,
    /// The largest datagram at the end.
    pub datagram_size: u16,
}

impl Stats {
    fn of(connection: &Connection) -> Stats {
        let all = connection.stats();
        let path = connection.path_stats().unwrap_or_default();
        Stats {
            udp_datagrams: all.udp_tx.datagrams,
            udp_bytes: all.udp_tx.bytes,
            packets_sent: all.sent_packets,
            packets_lost: all.lost_packets,
            bytes_sent: all.sent_bytes,
            bytes_lost: all.lost_bytes,
            spurious_events: path.spurious_congestion_events,
            datagram_size: path.current_mtu,
        }
    }
}

/// A full packet's bytes that are not payload: short header with an eight-byte connection ID and a packet number of
/// two to three bytes, a STREAM frame's type, stream ID, four-byte offset and length, and the AEAD's tag
/// (RFC 9000, "1-RTT Packet", "STREAM Frames"; RFC 9001, "AEAD Usage").
const PACKET_OVERHEAD: u16 = 1 + 8 + 2 + 1 + 1 + 4 + 2 + 16;

/// The payload's share of a full IP packet: `datagram_size` bytes of UDP payload behind `headers` bytes of IP and UDP
/// headers (28 for IPv4, 48 for IPv6).
pub fn payload_share(datagram_size: u16, headers: u16) -> f64 {
    let payload = datagram_size.saturating_sub(PACKET_OVERHEAD);
    f64::from(payload) / (f64::from(datagram_size) + f64::from(headers))
}

/// A flow could not be carried through.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BulkError {
    /// A payload without end and no deadline.
    #[error("a flow without an end needs a deadline")]
    Endless,
    /// The sending endpoint could not be set up.
    #[error(transparent)]
    Endpoint(#[from] EndpointError),
    /// The deadline passed before the handshake was done.
    #[error("no connection before the deadline")]
    NoHandshake,
    /// The connection failed or broke.
    #[error("connection lost: {0}")]
    Connection(#[from] noq::ConnectionError),
    /// The receiver did not take the payload.
    #[error("cannot send: {0}")]
    Write(#[from] noq::WriteError),
    /// The payload, or the report of it, did not come whole.
    #[error("cannot receive: {0}")]
    Read(#[from] noq::ReadError),
    /// The stream was closed before its end.
    #[error("stream closed early")]
    Closed(#[from] noq::ClosedStream),
    /// The receiver's answer makes no sense.
    #[error("the receiver's report is malformed")]
    Report,
    /// What arrived is not what was sent.
    #[error("the payload arrived changed")]
    Changed,
}

/// Carries one flow through. Dropping the future closes its connection. Must be called within a tokio runtime.
pub async fn send(flow: Flow) -> Result<Outcome, BulkError> {
    if flow.payload.len().is_none() && flow.deadline.is_none() {
        return Err(BulkError::Endless);
    }
    let start = Instant::now();
    let deadline = flow.deadline.and_then(|limit| start.checked_add(limit));
    let client = Client::new(
        flow.fingerprint,
        ALPN,
        flow.controllers,
        endpoint::transport,
    )?;
    let (_endpoint, connecting) = client.connect(flow.server)?;
    let connection = before(deadline, connecting.into_future())
        .await
        .ok_or(BulkError::NoHandshake)??;
    let handshake = start.elapsed();

    let stripes = flow.payload.stripes();
    let carried = stripes
        .iter()
        .map(|stripe| carry(&connection, &flow.payload, *stripe, deadline));
    let reports = try_join_all(carried).await?;
    let elapsed = match deadline {
        Some(deadline) => Instant::now().min(deadline).duration_since(start),
        None => start.elapsed(),
    };
    let stats = Stats::of(&connection);
    connection.close(0u32.into(), b"");
    let bytes = reports.iter().map(|report| report.bytes).sum();
    let is_complete = reports.iter().all(|report| report.is_complete);
    // Off the runtime's threads, where other flows have their packets paced.
    let verify = move || {
        let mut both = stripes.iter().zip(&reports);
        both.all(|(stripe, report)| flow.payload.digest(*stripe, report.bytes) == report.digest)
    };
    if !tokio::task::spawn_blocking(verify).await.unwrap_or(false) {
        return Err(BulkError::Changed);
    }
    Ok(Outcome {
        bytes,
        is_complete,
        start,
        handshake,
        elapsed,
        stats,
    })
}

/// The future's output, or `None` once the deadline has passed.
async fn before<F: Future>(deadline: Option<Instant>, future: F) -> Option<F::Output> {
    match deadline {
        Some(deadline) => timeout_at(deadline.into(), future).await.ok(),
        None => Some(future.await),
    }
}

/// Carries one stripe through, or cuts it off at the deadline, and returns what the receiver says of it.
async fn carry(
    connection: &Connection,
    payload: &Payload,
    stripe: Stripe,
    deadline: Option<Instant>,
) -> Result<Report, BulkError> {
    let (mut to, mut from) = connection.open_bi().await?;
    let writing = async {
        write(&mut to, payload, stripe).await?;
        Ok::<_, BulkError>(to.finish()?)
    };
    let written = before(deadline, writing).await.transpose()?;
    let mut report = pin!(Report::read(&mut from));
    let in_time = match written {
        Some(()) => before(deadline, report.as_mut()).await,
        None => None,
    };
    match in_time {
        Some(report) => report,
        None => {
            // Fails only if everything has been acknowledged already; the report is then on its way all the same.
            let _ = to.reset(0u32.into());
            report.await
        }
    }
}

async fn write(
    to: &mut SendStream,
    payload: &Payload,
    stripe: Stripe,
) -> Result<(), noq::WriteError> {
    for offset in stripe.offsets() {
        let piece = payload.piece(offset, payload::PIECE);
        if piece.is_empty() {
            break;
        }
        to.write_chunk(piece).await?;
    }
    Ok(())
}

/// The receiver's answer.
struct Report {
    bytes: u64,
    is_complete: bool,
    digest: blake3::Hash,
}

/// Count, completeness, digest.
const REPORT_SIZE: usize = 8 + 1 + 32;

impl Report {
    fn encode(&self) -> [u8; REPORT_SIZE] {
        let mut encoded = [0; REPORT_SIZE];
        encoded[..8].copy_from_slice(&self.bytes.to_be_bytes());
        encoded[8] = self.is_complete.into();
        encoded[9..].copy_from_slice(self.digest.as_bytes());
        encoded
    }

    async fn read(from: &mut RecvStream) -> Result<Report, BulkError> {
        let mut encoded = [0; REPORT_SIZE];
        from.read_exact(&mut encoded)
            .await
            .map_err(|error| match error {
                noq::ReadExactError::FinishedEarly(_) => BulkError::Report,
                noq::ReadExactError::ReadError(error) => error.into(),
            })?;
        let (count, rest) = encoded.split_first_chunk().ok_or(BulkError::Report)?;
        let (is_complete, digest) = rest.split_first().ok_or(BulkError::Report)?;
        Ok(Report {
            bytes: u64::from_be_bytes(*count),
            is_complete: *is_complete != 0,
            digest: blake3::Hash::from_slice(digest).map_err(|_| BulkError::Report)?,
        })
    }
}
