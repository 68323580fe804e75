//! The receiving side of bulk flows, on the driver's thread.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use noq_proto::{
    Connection, Dir, Event, Incoming, ReadError, StreamEvent, StreamId, TransportConfig, VarInt,
};

use super::ALPN;
use super::report::Report;
use super::unread::{MIN_WINDOW_BYTES, Share, Unread};
use crate::driver::{Admission, Application, ConnectionCounts, Driver, SharedConnection, Verdict};
use crate::endpoint::{self, EndpointError, Fingerprint, Identity, STREAMS};
use crate::server;

/// The maximum number of connections at a time.
const MAX_CONNECTIONS: usize = 4096;

/// The number of connections with an incomplete handshake from which on a new client must validate its address first.
const UNPROVEN_BEFORE_RETRY: usize = 1024;

/// The bytes hashed at a time. BLAKE3 hashes up to 16 parts of 1 kB at once if the first one begins at a multiple of 16
/// kB.
const HASH_PIECE_BYTES: usize = 16 << 10;

/// A running receiver. When it is dropped, it closes its connections.
#[derive(Debug)]
pub struct Server {
    driver: Arc<Driver>,
    address: SocketAddr,
    fingerprint: Fingerprint,
}

impl Server {
    /// True if it is still receiving. Without being dropped, it ends only after a panic.
    pub fn is_running(&self) -> bool {
        self.driver.is_running()
    }

    /// The address at which it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The fingerprint by which a sender recognizes it.
    pub fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }
}

/// Receives bulk flows at `address` (port 0: any free port) until it is dropped, and reports to each sender what has
/// arrived. It makes its own certificate.
///
/// # Errors
/// The address is in use, or the certificate could not be made.
pub fn serve(address: SocketAddr) -> Result<Server, EndpointError> {
    let identity = Identity::generate()?;
    let transport = Arc::new(transport());
    let config = endpoint::server_config(&identity, ALPN, transport)?;
    let driver = Driver::start().map_err(EndpointError::Thread)?;
    let configs = (identity.endpoint_config(), config);
    let (address, _) = driver.listen(address, configs, Box::new(Everybody(Unread::new())))?;
    Ok(Server {
        driver,
        address,
        fingerprint: identity.fingerprint(),
    })
}

/// A peer may open only bidirectional streams, and no more of them than a flow has. Each takes 2 kB for its hash, and
/// one packet opens all streams that are allowed. The receive window grows when a connection has its [`Share`].
fn transport() -> TransportConfig {
    let mut transport = server::transport();
    transport
        .max_concurrent_uni_streams(VarInt::from_u32(0))
        .max_concurrent_bidi_streams(VarInt::from_u32(STREAMS))
        .receive_window(VarInt::from_u32(MIN_WINDOW_BYTES))
        .datagram_receive_buffer_size(None);
    transport
}

/// Accepts every client while there is room.
struct Everybody(Unread);

impl Admission for Everybody {
    fn admit(
        &mut self,
        incoming: Incoming,
        counts: ConnectionCounts,
    ) -> Option<(Incoming, Verdict)> {
        let verdict = if counts.connections >= MAX_CONNECTIONS {
            Verdict::Refuse
        } else if counts.unproven >= UNPROVEN_BEFORE_RETRY && incoming.may_retry() {
            Verdict::Retry
        } else {
            Verdict::Accept(Box::new(Receiver::new(self.0.share(), Instant::now())))
        };
        Some((incoming, verdict))
    }
}

/// The longest time in which a connection may bring no data. Otherwise an idle client would keep its place for ever.
const IDLE_TIMEOUT: Duration = Duration::from_secs(30);

/// A connection's streams.
struct Receiver {
    streams: HashMap<StreamId, Taking>,
    /// The stream that was read last.
    current: Option<StreamId>,
    /// Bytes of that stream that are not hashed yet. Thousands of connections have tens of thousands of streams, so a
    /// piece for each stream would take a gigabyte.
    piece: Vec<u8>,
    /// The bytes that all streams have brought.
    bytes: u64,
    /// The time at which the connection ends, unless it brings data before.
    deadline: Option<Instant>,
    /// Its share of the room for unread data.
    share: Share,
}

/// The received part of a stream.
#[derive(Default)]
struct Taking {
    hasher: blake3::Hasher,
    bytes: u64,
}

/// The end of a stream.
enum End {
    Complete,
    CutOff,
}

impl Taking {
    /// Adds bytes to the piece, and hashes the piece when it is full.
    fn add(&mut self, mut bytes: &[u8], piece: &mut Vec<u8>) {
        loop {
            let room = HASH_PIECE_BYTES - (self.bytes % HASH_PIECE_BYTES as u64) as usize;
            let Some((first, rest)) = bytes.split_at_checked(room) else {
                break;
            };
            piece.extend_from_slice(first);
            self.bytes += room as u64;
            self.hash(piece);
            bytes = rest;
        }
        piece.extend_from_slice(bytes);
        self.bytes += bytes.len() as u64;
    }

    fn hash(&mut self, piece: &mut Vec<u8>) {
        self.hasher.update(piece);
        piece.clear();
    }

    /// Reads what has arrived of the stream. Returns its end, if that has come.
    fn read(
        &mut self,
        stream: StreamId,
        connection: &mut Connection,
        piece: &mut Vec<u8>,
    ) -> Option<End> {
        let mut stream = connection.recv_stream(stream);
        // This fails if the stream has ended before.
        let mut chunks = stream.read(true).ok()?;
        loop {
            match chunks.next(usize::MAX) {
                Ok(Some(chunk)) => self.add(&chunk.bytes, piece),
                Ok(None) => return Some(End::Complete),
                Err(ReadError::Reset(_)) => return Some(End::CutOff),
                Err(ReadError::Blocked) => return None,
            }
        }
    }

    fn report(mut self, end: &End, piece: &mut Vec<u8>) -> Report {
        self.hash(piece);
        Report {
            bytes: self.bytes,
            is_complete: matches!(end, End::Complete),
            digest: self.hasher.finalize(),
        }
    }
}

impl Receiver {
    fn new(share: Share, now: Instant) -> Receiver {
        Receiver {
            share,
            streams: HashMap::new(),
            current: None,
            piece: Vec::new(),
            bytes: 0,
            deadline: now.checked_add(IDLE_TIMEOUT),
        }
    }

    /// Ends the connection.
    fn end(&mut self, connection: &mut Connection, now: Instant) {
        self.deadline = None;
        self.streams.clear();
        self.piece.clear();
        connection.close(now, VarInt::from_u32(1), Default::default());
    }

    /// Reads a stream, and reports it at its end, or at the sender's reset. Returns true if the sender follows the
    /// protocol.
    fn read(&mut self, stream: StreamId, connection: &mut Connection) -> bool {
        if self.current != Some(stream) && self.streams.contains_key(&stream) {
            let before = self.current.replace(stream);
            if let Some(before) = before.and_then(|before| self.streams.get_mut(&before)) {
                before.hash(&mut self.piece);
            }
        }
        let Some(taking) = self.streams.get_mut(&stream) else {
            return true;
        };
        let before = taking.bytes;
        let end = taking.read(stream, connection, &mut self.piece);
        self.bytes += taking.bytes - before;
        let Some(end) = end else {
            return true;
        };
        let Some(taking) = self.streams.remove(&stream) else {
            return true;
        };
        let report = taking.report(&end, &mut self.piece).encode();
        let mut to = connection.send_stream(stream);
        match to.write(&report) {
            Ok(written) if written == report.len() => to.finish().is_ok(),
            // A stream without room for the report belongs to a sender that does not want it.
            _ => false,
        }
    }

    fn read_all(&mut self, event: &Event, connection: &mut Connection) -> bool {
        match *event {
            Event::Stream(StreamEvent::Opened { dir: Dir::Bi }) => loop {
                let Some(stream) = connection.streams().accept(Dir::Bi) else {
                    return true;
                };
                self.streams.insert(stream, Taking::default());
                if !self.read(stream, connection) {
                    return false;
                }
            },
            Event::Stream(StreamEvent::Readable { id }) => self.read(id, connection),
            _ => true,
        }
    }
}

impl Application for Receiver {
    fn begin(&mut self, shared: SharedConnection) {
        let window = VarInt::from_u32(self.share.window_bytes());
        shared.lock().set_receive_window(window);
    }

    fn on_event(&mut self, event: Event, connection: &mut Connection, now: Instant) {
        let before = self.bytes;
        if !self.read_all(&event, connection) {
            self.end(connection, now);
        }
        if matches!(event, Event::ConnectionLost { .. }) {
            self.deadline = None;
        } else if self.deadline.is_some() && self.bytes > before {
            self.deadline = now.checked_add(IDLE_TIMEOUT);
        }
    }

    fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    fn on_deadline(&mut self, connection: &mut Connection, now: Instant) {
        self.end(connection, now);
    }
}

#[cfg(test)]
mod tests {
    use super::super::sender::tests::connection;
    use super::*;

    /// Two streams take turns, each with the bytes that arrive at once.
    #[test]
    fn streams_share_a_piece() {
        let data: Vec<u8> = (0..100_000_u32).map(|at| at.to_le_bytes()[1]).collect();
        for size in [
            1,
            1_400,
            HASH_PIECE_BYTES - 1,
            HASH_PIECE_BYTES,
            HASH_PIECE_BYTES + 1,
            70_000,
        ] {
            let mut takings = [Taking::default(), Taking::default()];
            let mut piece = Vec::new();
            for part in data.chunks(size) {
                for taking in &mut takings {
                    taking.add(part, &mut piece);
                    assert!(piece.len() < HASH_PIECE_BYTES);
                    taking.hash(&mut piece);
                }
            }
            for taking in takings {
                let report = taking.report(&End::Complete, &mut piece);
                assert_eq!(report.bytes, 100_000);
                assert_eq!(report.digest, blake3::hash(&data));
            }
            assert!(piece.capacity() <= 2 * HASH_PIECE_BYTES);
        }
        let mut alone = Taking::default();
        let mut piece = Vec::new();
        data.chunks(1_400)
            .for_each(|part| alone.add(part, &mut piece));
        let report = alone.report(&End::Complete, &mut piece);
        assert_eq!(report.digest, blake3::hash(&data));
    }

    #[test]
    fn a_connection_that_brings_nothing_is_ended() {
        let now = Instant::now();
        let later = |seconds| now + Duration::from_secs(seconds);
        let mut connection = connection(now);
        let mut receiver = Receiver::new(Unread::new().share(), now);
        // Neither its handshake nor a stream without data postpones the deadline.
        receiver.on_event(Event::Connected, &mut connection, later(1));
        assert_eq!(receiver.deadline(), Some(later(30)));
        let opened = Event::Stream(StreamEvent::Opened { dir: Dir::Bi });
        receiver.on_event(opened, &mut connection, later(2));
        assert_eq!(receiver.deadline(), Some(later(30)));
        receiver.on_deadline(&mut connection, later(30));
        assert_eq!(receiver.deadline(), None);
        assert!(connection.is_closed());
    }
}
