//! Bulk flows between two endpoints, as experiments measure them.
//!
//! A sender connects, opens bidirectional streams, and writes a stripe of its payload on each. Payload leaves with the
//! last flight of the handshake. The receiver answers on each stream when the stripe ends, or when the sender's
//! deadline cuts it off. The answer has the number of bytes that the application has read, and their BLAKE3 digest,
//! which the sender verifies. So bytes count when they have reached the receiving application, in order within their
//! stripe, and not when they were sent or acknowledged.

mod lane;
mod payload;
mod report;
mod sender;
mod server;
mod unread;

pub use payload::Payload;
pub use server::{Server, serve};

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use noq_proto::{Connection, ConnectionError, PathId};
use tokio::sync::oneshot;

use crate::controller::Controllers;
use crate::driver::{self, ClientSocket, Driver, Lateness};
use crate::endpoint::{self, EndpointError, Fingerprint};
use sender::Sender;

const ALPN: &[u8] = b"fullpipe-bulk/1";

/// One bulk flow.
#[derive(Clone)]
pub struct Flow {
    /// The receiver's address.
    pub server: SocketAddr,
    /// The receiver's certificate.
    pub fingerprint: Fingerprint,
    /// Makes the flow's controller and its observer: see [`crate::controller`].
    pub controllers: Arc<dyn Controllers>,
    /// The data to send.
    pub payload: Payload,
    /// The time from the flow's start at which it is cut off. A payload without end needs one.
    pub deadline: Option<Duration>,
}

/// The result of a flow.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// Bytes that reached the receiving application, verified.
    pub bytes: u64,
    /// True if that is the whole payload, rather than what fitted before the deadline.
    pub is_complete: bool,
    /// When the flow started.
    pub start: Instant,
    /// From the start until the sender could send its first byte of payload.
    pub handshake: Duration,
    /// From the start until the receiver's confirmation of the last byte has come back, or the deadline.
    pub elapsed: Duration,
    /// The packets that were sent and lost.
    pub stats: Stats,
    /// The lateness of its datagrams.
    pub lateness: Lateness,
}

impl Outcome {
    /// The payload delivered per second over the whole flow, handshake included, in bits per second.
    pub fn goodput_bps(&self) -> f64 {
        self.bytes as f64 * 8.0 / self.elapsed.as_secs_f64()
    }
}

/// A flow's packets, as the sender's QUIC stack counts them, with handshake and probes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stats {
    /// UDP datagrams sent.
    pub udp_datagrams: u64,
    /// The bytes in them, without IP and UDP headers.
    pub udp_bytes: u64,
    /// QUIC packets sent.
    pub packets_sent: u64,
    /// QUIC packets declared lost.
    pub packets_lost: u64,
    /// Bytes of QUIC packets sent, without pure ACKs.
    pub bytes_sent: u64,
    /// Bytes of QUIC packets declared lost.
    pub bytes_lost: u64,
    /// Spurious loss detections.
    pub spurious_events: u64,
    /// The largest datagram at the end.
    pub datagram_size: u16,
}

impl Stats {
    fn of(connection: &mut Connection) -> Stats {
        let all = connection.stats();
        let path = connection.path_stats(PathId::ZERO).unwrap_or_default();
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

/// The bytes of a full packet that are not payload: a short header with an eight-byte connection ID and a packet number
/// of two to three bytes; a STREAM frame's type, stream ID, four-byte offset and length; and the AEAD's tag (RFC 9000,
/// "1-RTT Packet", "STREAM Frames"; RFC 9001, "AEAD Usage").
const PACKET_OVERHEAD: u16 = 1 + 8 + 2 + 1 + 1 + 4 + 2 + 16;

/// The payload's share of a full IP packet, with `datagram_size` bytes of UDP payload and `headers` bytes of IP and UDP
/// headers (28 for IPv4, 48 for IPv6).
pub fn payload_share(datagram_size: u16, headers: u16) -> f64 {
    let payload = datagram_size.saturating_sub(PACKET_OVERHEAD);
    f64::from(payload) / (f64::from(datagram_size) + f64::from(headers))
}

/// The error of a bulk flow.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BulkError {
    /// The payload has no end, and there is no deadline.
    #[error("a flow without an end needs a deadline")]
    Endless,
    /// The sending endpoint could not be set up.
    #[error(transparent)]
    Endpoint(#[from] EndpointError),
    /// The deadline passed before the handshake was complete.
    #[error("no connection before the deadline")]
    NoHandshake,
    /// The connection failed or broke.
    #[error("connection lost: {0}")]
    Connection(#[from] noq_proto::ConnectionError),
    /// The receiver did not take the payload.
    #[error("cannot send: {0}")]
    Write(#[from] noq_proto::WriteError),
    /// A stream could not be ended.
    #[error("cannot send: {0}")]
    Finish(#[from] noq_proto::FinishError),
    /// The receiver's report did not arrive whole.
    #[error("cannot receive: {0}")]
    Read(#[from] noq_proto::ReadError),
    /// The sending thread is gone.
    #[error("the sending thread has stopped")]
    Stopped,
    /// The receiver did not report what had arrived.
    #[error("the receiver does not report what has arrived")]
    Silent,
    /// There is no answer, and the last datagrams did not leave this machine.
    #[error("no answer, and nothing can be sent: {0}")]
    Unsent(io::Error),
    /// The receiver's report contradicts the flow.
    #[error("the receiver's report is malformed")]
    Report,
    /// The payload that arrived differs from the payload that was sent.
    #[error("the payload arrived changed")]
    Changed,
}

impl BulkError {
    /// Returns the same error, or [`BulkError::Unsent`] if there is no answer for that reason.
    fn or_unsent(self, unsent: Option<io::Error>) -> BulkError {
        match (self, unsent) {
            (
                BulkError::NoHandshake
                | BulkError::Silent
                | BulkError::Connection(ConnectionError::TimedOut),
                Some(error),
            ) => BulkError::Unsent(error),
            (error, _) => error,
        }
    }
}

/// A view of the lateness of a flow's datagrams.
#[derive(Debug, Clone)]
pub struct Punctuality(Arc<driver::Flow>);

impl Punctuality {
    /// Returns the lateness so far, also after the flow's end.
    pub fn lateness(&self) -> Lateness {
        self.0.lateness()
    }
}

/// Sends bulk flows from one thread, a burst of each in turn. Each flow has its own socket, or several share
/// [one](SendingThread::socket).
#[derive(Debug, Clone)]
pub struct SendingThread {
    driver: Arc<Driver>,
}

impl SendingThread {
    /// Starts the thread. It ends with the last clone of this value and the last flow.
    ///
    /// # Errors
    /// The system cannot start a thread.
    pub fn start() -> io::Result<SendingThread> {
        Ok(SendingThread {
            driver: Driver::start()?,
        })
    }

    /// Opens a socket for flows to addresses of the same family as `server`'s. `ecn` says whether their packets are
    /// ECN-capable; it may be true only if all their controllers [respond to marks](Controllers::responds_to_ecn).
    ///
    /// # Errors
    /// The system cannot open a socket.
    pub fn socket(&self, server: SocketAddr, ecn: bool) -> Result<SendingSocket, BulkError> {
        Ok(SendingSocket(Arc::new(
            self.driver.client_socket(server, ecn)?,
        )))
    }

    /// Sends one flow. Dropping the future closes its connection. Must be called within a tokio runtime.
    ///
    /// # Errors
    /// The flow fails.
    pub async fn send(&self, flow: Flow) -> Result<Outcome, BulkError> {
        self.send_watched(flow, |_| {}).await
    }

    /// Sends one flow, as [`SendingThread::send`] does. `watch` gets a view of the datagrams' lateness when the first
    /// ones leave.
    ///
    /// # Errors
    /// The flow fails.
    pub async fn send_watched(
        &self,
        flow: Flow,
        watch: impl FnOnce(Punctuality),
    ) -> Result<Outcome, BulkError> {
        let ecn = flow.controllers.responds_to_ecn();
        let socket = self.socket(flow.server, ecn)?;
        socket.send_watched(flow, watch).await
    }
}

/// Sends bulk flows over one socket, which is closed with the last clone of this value and the last flow.
#[derive(Debug, Clone)]
pub struct SendingSocket(Arc<ClientSocket>);

impl SendingSocket {
    /// Sends one flow: see [`SendingThread::send_watched`].
    ///
    /// # Errors
    /// The flow fails.
    pub async fn send_watched(
        &self,
        flow: Flow,
        watch: impl FnOnce(Punctuality),
    ) -> Result<Outcome, BulkError> {
        if flow.payload.len().is_none() && flow.deadline.is_none() {
            return Err(BulkError::Endless);
        }
        let start = Instant::now();
        let deadline = flow.deadline.and_then(|limit| start.checked_add(limit));
        let (told, end) = oneshot::channel();
        let sender = Sender::new(flow.payload.clone(), deadline, told);
        let (controllers, pacing) = driver::paced(flow.controllers);
        watch(Punctuality(pacing.clone()));
        let transport = Arc::new(endpoint::transport(controllers));
        let config = endpoint::client_config(flow.fingerprint, ALPN, transport)?;
        let call = (self.0).call(flow.server, config, pacing.clone(), Box::new(sender))?;
        let end = end.await.map_err(|_| BulkError::Stopped)?;
        drop(call);
        let sent = end.map_err(|error| error.or_unsent(pacing.take_error()))?;
        let ended = deadline.map_or(sent.ended, |deadline| sent.ended.min(deadline));
        let (payload, reports) = (flow.payload, sent.reports);
        let mut all = reports.iter().map(|report| report.bytes);
        let bytes = all.try_fold(0u64, u64::checked_add);
        let bytes = bytes.ok_or(BulkError::Report)?;
        let is_complete = reports.iter().all(|report| report.is_complete);
        let verify = move || {
            let stripes = payload.stripes();
            let mut both = stripes.iter().zip(&reports);
            both.all(|(stripe, report)| payload.digest(*stripe, report.bytes) == report.digest)
        };
        if !tokio::task::spawn_blocking(verify).await.unwrap_or(false) {
            return Err(BulkError::Changed);
        }
        Ok(Outcome {
            bytes,
            is_complete,
            start,
            handshake: sent.connected.saturating_duration_since(start),
            elapsed: ended.saturating_duration_since(start),
            stats: sent.stats,
            lateness: pacing.lateness(),
        })
    }
}

/// Sends one flow from its own thread: see [`SendingThread::send`].
///
/// # Errors
/// The flow fails.
pub async fn send(flow: Flow) -> Result<Outcome, BulkError> {
    let thread = SendingThread::start().map_err(EndpointError::Thread)?;
    thread.send(flow).await
}
