//! Tests of a driver's connection over an emulated path, with their own clock.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use congestion::{Bytes, ControllerKind, Time};
use noq_proto::{Connection, Dir, Event, Incoming, StreamEvent, StreamId};
use path::{Buffer, Capacity, LinkConfig, Path, PathConfig};

use super::by_hand::{ALPN, End, Hand, Wire, clock, pass};
use super::{
    Admission, Application, Call, ClientSocket, ConnectionCounts, Driver, Flow, Verdict, Worker,
    paced,
};
use crate::bulk;
use crate::controller::factory;
use crate::endpoint::{self, Identity};

/// The bytes of the headers of IPv4 and UDP.
const HEADERS: u16 = 28;

/// Always has more data, on as many streams as the receiver's window needs.
#[derive(Default)]
struct Endless(Vec<StreamId>);

impl Application for Endless {
    fn on_event(&mut self, event: Event, connection: &mut Connection, _: Instant) {
        if matches!(event, Event::Connected) {
            let mut open = || connection.streams().open(Dir::Uni).unwrap();
            self.0 = (0..endpoint::STREAMS).map(|_| open()).collect();
        }
    }

    fn refill(&mut self, connection: &mut Connection) -> bool {
        let mut write = |stream| connection.send_stream(stream).write(&[7; 16 << 10]);
        let written: Vec<_> = self.0.iter().map(|stream| write(*stream)).collect();
        written.iter().any(|written| written.is_ok())
    }
}

/// Counts what it reads.
struct Reader(Vec<StreamId>, Arc<AtomicU64>);

impl Application for Reader {
    fn on_event(&mut self, event: Event, connection: &mut Connection, _: Instant) {
        if !matches!(
            event,
            Event::Stream(StreamEvent::Opened { .. } | StreamEvent::Readable { .. })
        ) {
            return;
        }
        while let Some(stream) = connection.streams().accept(Dir::Uni) {
            self.0.push(stream);
        }
        for stream in &self.0 {
            let mut stream = connection.recv_stream(*stream);
            let mut chunks = stream.read(true).unwrap();
            while let Ok(Some(chunk)) = chunks.next(usize::MAX) {
                self.1
                    .fetch_add(chunk.bytes.len() as u64, Ordering::Relaxed);
            }
            let _ = chunks.finalize();
        }
    }
}

/// Accepts every client, and counts the received bytes.
struct Readers(Arc<AtomicU64>);

impl Admission for Readers {
    fn admit(&mut self, incoming: Incoming, _: ConnectionCounts) -> Option<(Incoming, Verdict)> {
        let reader = Reader(Vec::new(), self.0.clone());
        Some((incoming, Verdict::Accept(Box::new(reader))))
    }
}

/// A bulk connection, its receiver, and the path between them.
struct World {
    start: Instant,
    path: Path<Vec<u8>>,
    worker: Worker,
    wire: Wire,
    server: End,
    received: Arc<AtomicU64>,
    call: Call,
    flow: Arc<Flow>,
    _kept: (Arc<Driver>, ClientSocket),
}

impl World {
    fn new(kind: ControllerKind, path: PathConfig) -> World {
        let (driver, worker, wire) = Hand::start();
        let identity = Identity::generate().unwrap();
        let received = Arc::new(AtomicU64::new(0));
        let server = End::server(&identity, Readers(received.clone()));
        let (controllers, flow) = paced(factory(kind, 1, None));
        let transport = Arc::new(endpoint::transport(controllers));
        let config = endpoint::client_config(identity.fingerprint(), ALPN, transport).unwrap();
        let socket = driver.client_socket(server.address, false).unwrap();
        let application = Box::new(Endless::default());
        let call = socket.call(server.address, config, flow.clone(), application);
        World {
            start: clock(),
            path: Path::new(path, 1).unwrap(),
            worker,
            wire,
            server,
            received,
            call: call.unwrap(),
            flow,
            _kept: (driver, socket),
        }
    }

    fn now(&self) -> Time {
        Time::ZERO + (clock() - self.start).into()
    }

    /// Lets time pass until `end`, from one event to the next.
    fn run_until(&mut self, end: Time) {
        let here: SocketAddr = (Ipv4Addr::LOCALHOST, 7).into();
        let there = self.server.address;
        while self.now() < end {
            let now = self.now();
            let Path { forward, reverse } = &mut self.path;
            let size = |datagram: &[u8]| Bytes::new(datagram.len() as u64 + u64::from(HEADERS));
            while let Some(arrival) = forward.receive(now) {
                self.server.wire.give(here, vec![arrival.packet]);
            }
            while let Some(arrival) = reverse.receive(now) {
                self.wire.give(there, vec![arrival.packet]);
            }
            for datagram in self.server.turn() {
                reverse.send(now, size(&datagram), datagram);
            }
            let next = self.worker.turn().unwrap();
            for datagram in self.wire.sent() {
                forward.send(now, size(&datagram), datagram);
            }
            let time = |at: Instant| Time::ZERO + (at.saturating_duration_since(self.start)).into();
            let timers = next.into_iter().chain(self.server.timer()).map(time);
            let arrivals = [forward.next_event(), reverse.next_event()];
            let next = timers.chain(arrivals.into_iter().flatten()).min();
            let next = next.unwrap_or(end).clamp(now, end);
            pass(Duration::from_nanos(next.since(now).as_nanos()));
        }
    }

    /// The receiver's goodput within a span, as a share of the capacity of a link with this rate.
    fn share(&mut self, (from, to): (u64, u64), bits_per_sec: u64) -> f64 {
        let at = |ms| Time::ZERO + congestion::Duration::from_millis(ms);
        self.run_until(at(from));
        let before = self.received.load(Ordering::Relaxed);
        self.run_until(at(to));
        let bytes = self.received.load(Ordering::Relaxed) - before;
        let size = self.call.shared.lock().current_mtu();
        let limit = bits_per_sec as f64 * bulk::payload_share(size, HEADERS);
        bytes as f64 * 8e3 / (to - from) as f64 / limit
    }
}

/// A path with a buffer of two BDPs.
fn path(bits_per_sec: u64, rtt_ms: u64) -> PathConfig {
    let rate = congestion::Rate::from_bits_per_sec(bits_per_sec);
    let rtt = congestion::Duration::from_millis(rtt_ms);
    let way = LinkConfig {
        delay: rtt / 2,
        ..LinkConfig::default()
    };
    PathConfig {
        forward: LinkConfig {
            capacity: Capacity::Rate(rate),
            buffer: Buffer::Bytes(rate.bytes_in(rtt) * 2),
            ..way.clone()
        },
        reverse: way,
    }
}

#[test]
fn bbr_fills_a_fast_and_long_path() {
    const RATE: u64 = 1_000_000_000;
    for kind in [ControllerKind::Bbr1, ControllerKind::Bbr3] {
        let mut world = World::new(kind, path(RATE, 100));
        let share = world.share((3_000, 5_000), RATE);
        println!("{kind}: {share:.4}");
        // Data that arrived out of order before the span may be read within it.
        assert!((0.95..=1.01).contains(&share), "{kind}: {share}");
        // When the rate rises, the next burst may be due already.
        let lateness = world.flow.lateness();
        assert!(lateness.late * 1_000 < lateness.datagrams, "{lateness:?}");
    }
}
