//! Two noq endpoints and the path between them, in virtual time.
//!
//! noq's state machines take the time as an argument, so a transfer of half a minute runs in a second. The path, the
//! controllers and noq's own choices are seeded. TLS draws its keys from the system, which changes the handshake's
//! packets by a few bytes (the length of a signature). So runs agree closely, but not exactly.

mod kit;

use std::net::{Ipv4Addr, SocketAddr};
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use bytes::{Bytes as Data, BytesMut};
use congestion::ControllerKind;
use congestion::{Bytes, Duration, Rate, Ratio, Time};
use noq_proto::{
    Connection, ConnectionHandle, DatagramEvent, Dir, EcnCodepoint, Endpoint, EndpointConfig,
    FourTuple, PathId, StreamId,
};
use path::{Buffer, Capacity, Effects, LinkConfig, Loss, Path, PathConfig};
use quic::controller::Controllers;
use quic::endpoint::{self, Identity};
use quic::observer::{Observer, Sample};
use quic::{bulk, controller};

const ALPN: &[u8] = b"test";

/// IPv4 and UDP.
const HEADERS: u16 = 28;

/// noq's tokio driver takes this many at a time.
const MAX_DATAGRAMS: NonZeroUsize = NonZeroUsize::new(10).unwrap();

/// A symmetric path with loss in the data's direction.
pub fn simple_path(rate: &str, rtt_ms: u64, buffer_bdp: u64, loss: &str) -> PathConfig {
    let rate: Rate = rate.parse().unwrap();
    let rtt = Duration::from_millis(rtt_ms);
    let loss: Ratio = loss.parse().unwrap();
    let way = LinkConfig {
        delay: rtt / 2,
        ..LinkConfig::default()
    };
    PathConfig {
        forward: LinkConfig {
            capacity: Capacity::Rate(rate),
            buffer: Buffer::Bytes(rate.bytes_in(rtt) * buffer_bdp),
            effects: Effects {
                loss: Loss::Independent(loss),
                ..way.effects
            },
            ..way.clone()
        },
        reverse: way,
    }
}

/// Keeps every sample.
#[derive(Default)]
pub struct Samples(pub Mutex<Vec<Sample>>);

impl Observer for Samples {
    fn on_sample(&self, sample: &Sample) {
        self.0.lock().unwrap().push(*sample);
    }
}

impl Samples {
    /// The quantile `q` of the round-trip times, in milliseconds.
    pub fn rtt_ms(&self, q: f64) -> f64 {
        let samples = self.0.lock().unwrap();
        let mut rtts: Vec<f64> = samples
            .iter()
            .filter_map(|s| s.rtt.map(Duration::as_millis_f64))
            .collect();
        rtts.sort_by(f64::total_cmp);
        rtts[((rtts.len() - 1) as f64 * q) as usize]
    }
}

/// A datagram on the path.
pub type Datagram = (Vec<u8>, Option<EcnCodepoint>);

struct Host {
    endpoint: Endpoint,
    address: SocketAddr,
    connection: Option<(ConnectionHandle, Connection)>,
    outbox: Vec<Datagram>,
}

impl Host {
    fn new(port: u16, seed: u8, server: Option<noq_proto::ServerConfig>) -> Host {
        let mut config = EndpointConfig::default();
        config.rng_seed(Some([seed; 32]));
        Host {
            endpoint: Endpoint::new(Arc::new(config), server.map(Arc::new), true),
            address: (Ipv4Addr::LOCALHOST, port).into(),
            connection: None,
            outbox: Vec::new(),
        }
    }

    fn connection(&mut self) -> &mut Connection {
        &mut self.connection.as_mut().expect("not connected").1
    }

    fn timeout(&self) -> Option<Instant> {
        self.connection.as_ref()?.1.poll_timeout()
    }

    fn receive(&mut self, now: Instant, from: SocketAddr, (datagram, ecn): &Datagram) {
        let mut buffer = Vec::new();
        let event = self.endpoint.handle(
            now,
            FourTuple::from_remote(from),
            *ecn,
            BytesMut::from(&datagram[..]),
            &mut buffer,
        );
        match event {
            Some(DatagramEvent::NewConnection(incoming)) => {
                let accepted = self.endpoint.accept(incoming, now, &mut buffer, None);
                self.connection = Some(accepted.expect("refused"));
            }
            Some(DatagramEvent::ConnectionEvent(_, event)) => self.connection().handle_event(event),
            Some(DatagramEvent::Response(_)) | None => {}
        }
    }

    /// Sends what can be sent now, as noq's tokio driver does, and leaves it in the outbox.
    fn transmit(&mut self, now: Instant) {
        let Some((handle, connection)) = &mut self.connection else {
            return;
        };
        loop {
            let mut buffer = Vec::new();
            while let Some(batch) = connection.poll_transmit(now, MAX_DATAGRAMS, &mut buffer) {
                let size = batch.segment_size.unwrap_or(batch.size).max(1);
                for datagram in buffer[..batch.size].chunks(size) {
                    self.outbox.push((datagram.to_vec(), batch.ecn));
                }
                buffer.clear();
            }
            let mut answered = false;
            while let Some(event) = connection.poll_endpoint_events() {
                if let Some(event) = self.endpoint.handle_event(*handle, event) {
                    connection.handle_event(event);
                    answered = true;
                }
            }
            if !answered {
                return;
            }
        }
    }
}

/// A datagram on the way to the receiver.
#[derive(Debug, Clone, Copy)]
pub struct Departure {
    pub at: Time,
    pub size: u64,
    /// True if the network may mark it.
    pub is_ecn_capable: bool,
}

/// A sender, a receiver and the path between them.
pub struct World {
    pub now: Time,
    pub path: Path<Datagram>,
    /// Datagrams that have left the sender.
    pub departures: Vec<Departure>,
    /// Bytes that have reached the receiving application.
    pub received: u64,
    /// The time at which the end of the stream reached the receiving application.
    pub finished_at: Option<Time>,
    base: Instant,
    sender: Host,
    receiver: Host,
    outgoing: Vec<StreamId>,
    incoming: Vec<StreamId>,
    ended: usize,
    backlog: u64,
    finish: bool,
    /// Timers fire at multiples of this, as in a runtime.
    pub tick: Duration,
    /// Larger datagrams vanish.
    pub max_datagram: u64,
    /// True if the sender's packets vanish.
    pub is_cut: bool,
    /// True if the sender's ECN-capable packets get marked "congestion experienced".
    pub marks: bool,
    /// True if noq decides which packets of the sender's socket are ECN-capable ([`endpoint::Client`]).
    ecn: bool,
}

impl World {
    pub fn new(path: PathConfig, seed: u64, controllers: Arc<dyn Controllers>) -> World {
        let ecn = controllers.responds_to_ecn();
        let transport = endpoint::transport(controllers);
        let identity = Identity::generate().unwrap();
        let receiving = endpoint::transport(controller::factory(ControllerKind::Cubic, seed, None));
        let server = endpoint::server_config(&identity, ALPN, Arc::new(receiving)).unwrap();
        let client =
            endpoint::client_config(identity.fingerprint(), ALPN, Arc::new(transport)).unwrap();
        let base = Instant::now();
        let receiver = Host::new(4433, 2, Some(server));
        let mut sender = Host::new(1234, seed as u8, None);
        let connection =
            sender
                .endpoint
                .connect(base, client, receiver.address, endpoint::SERVER_NAME);
        sender.connection = Some(connection.unwrap());
        World {
            now: Time::ZERO,
            path: Path::new(path, seed).unwrap(),
            departures: Vec::new(),
            received: 0,
            finished_at: None,
            base,
            sender,
            receiver,
            outgoing: Vec::new(),
            incoming: Vec::new(),
            ended: 0,
            backlog: 0,
            finish: false,
            tick: Duration::ZERO,
            max_datagram: u64::MAX,
            is_cut: false,
            marks: false,
            ecn,
        }
    }

    /// The application has `bytes` more to send.
    pub fn write(&mut self, bytes: u64) {
        self.backlog = self.backlog.saturating_add(bytes);
    }

    /// The application sends `bytes` and no more.
    pub fn write_last(&mut self, bytes: u64) {
        self.write(bytes);
        self.finish = true;
    }

    pub fn sender_stats(&mut self) -> noq_proto::PathStats {
        self.sender.connection().path_stats(PathId::ZERO).unwrap()
    }

    /// Runs for a span of virtual time.
    pub fn run(&mut self, span: Duration) {
        let end = self.now + span;
        self.run_while(end, |_| true);
        self.now = end;
    }

    /// Runs until the stream's end has reached the receiver; `false` if that takes longer than `limit`.
    pub fn run_to_end(&mut self, limit: Duration) -> bool {
        let end = self.now + limit;
        self.run_while(end, |world| world.finished_at.is_none());
        self.finished_at.is_some()
    }

    fn run_while(&mut self, end: Time, go_on: impl Fn(&World) -> bool) {
        self.step();
        while go_on(self) {
            match self.next_event() {
                Some(next) if next <= end => self.now = self.now.max(next),
                _ => return,
            }
            self.step();
        }
    }

    fn instant(&self) -> Instant {
        self.base + std::time::Duration::from_nanos(self.now.as_nanos())
    }

    fn next_event(&self) -> Option<Time> {
        let timers = [self.sender.timeout(), self.receiver.timeout()];
        let timers = timers.into_iter().flatten().map(|at| {
            let at = Time::ZERO + at.saturating_duration_since(self.base).into();
            self.on_tick(at)
        });
        let arrivals = [
            self.path.forward.next_event(),
            self.path.reverse.next_event(),
        ];
        timers.chain(arrivals.into_iter().flatten()).min()
    }

    fn on_tick(&self, at: Time) -> Time {
        match self.tick.as_nanos() {
            0 => at,
            tick => Time::from_nanos(at.as_nanos().div_ceil(tick) * tick),
        }
    }

    fn step(&mut self) {
        let now = self.instant();
        let (sender, receiver) = (self.sender.address, self.receiver.address);
        while let Some(arrival) = self.path.forward.receive(self.now) {
            self.receiver.receive(now, sender, &arrival.packet);
        }
        while let Some(arrival) = self.path.reverse.receive(self.now) {
            self.sender.receive(now, receiver, &arrival.packet);
        }
        for host in [&mut self.sender, &mut self.receiver] {
            if host.timeout().is_some_and(|at| at <= now) {
                host.connection().handle_timeout(now);
            }
        }
        self.write_backlog();
        self.read();
        self.sender.transmit(now);
        for (datagram, ecn) in self.sender.outbox.drain(..) {
            let size = datagram.len() as u64;
            let ecn = ecn.filter(|_| self.ecn);
            self.departures.push(Departure {
                at: self.now,
                size,
                is_ecn_capable: ecn.is_some(),
            });
            if size > self.max_datagram || self.is_cut {
                continue;
            }
            let ecn = match ecn {
                Some(_) if self.marks => Some(EcnCodepoint::Ce),
                ecn => ecn,
            };
            let size = Bytes::new(size + u64::from(HEADERS));
            self.path.forward.send(self.now, size, (datagram, ecn));
        }
        self.receiver.transmit(now);
        for (datagram, ecn) in self.receiver.outbox.drain(..) {
            let size = Bytes::new(datagram.len() as u64 + u64::from(HEADERS));
            self.path.reverse.send(self.now, size, (datagram, ecn));
        }
    }

    fn write_backlog(&mut self) {
        let connection = self.sender.connection();
        while let Some(event) = connection.poll() {
            if let noq_proto::Event::ConnectionLost { reason } = event {
                panic!("connection lost: {reason}");
            }
        }
        if connection.is_handshaking() {
            return;
        }
        while self.outgoing.len() < endpoint::STREAMS as usize {
            let stream = connection.streams().open(Dir::Uni).unwrap();
            self.outgoing.push(stream);
        }
        // Writes a piece on each stream in turn, until none takes one.
        let zeros = Data::from_static(&[0; 16 << 10]);
        let mut blocked = 0;
        while self.backlog > 0 && blocked < self.outgoing.len() {
            let count = self.backlog.min(zeros.len() as u64);
            let piece = &mut [zeros.slice(..count as usize)];
            let stream = self.outgoing[0];
            match connection
                .send_stream(stream)
                .write_chunks(&mut piece.as_mut_slice())
            {
                Ok(written) => {
                    self.backlog -= written as u64;
                    blocked = 0;
                }
                Err(_) => blocked += 1,
            }
            self.outgoing.rotate_left(1);
        }
        if self.backlog == 0 && std::mem::take(&mut self.finish) {
            for stream in &self.outgoing {
                connection.send_stream(*stream).finish().unwrap();
            }
        }
    }

    fn read(&mut self) {
        let Some((_, connection)) = &mut self.receiver.connection else {
            return;
        };
        while connection.poll().is_some() {}
        while let Some(stream) = connection.streams().accept(Dir::Uni) {
            self.incoming.push(stream);
        }
        for stream in &self.incoming {
            let mut stream = connection.recv_stream(*stream);
            let Ok(mut chunks) = stream.read(true) else {
                continue;
            };
            loop {
                match chunks.next(usize::MAX) {
                    Ok(Some(chunk)) => self.received += chunk.bytes.len() as u64,
                    Ok(None) => {
                        self.ended += 1;
                        break;
                    }
                    Err(_) => break,
                }
            }
            let _ = chunks.finalize();
        }
        if self.ended == endpoint::STREAMS as usize {
            self.finished_at.get_or_insert(self.now);
        }
    }
}

/// The goodput that a path with this rate and loss allows, in bits per second.
pub fn limit_bps(world: &mut World, rate: &str, loss: &str) -> f64 {
    let rate: Rate = rate.parse().unwrap();
    let loss: Ratio = loss.parse().unwrap();
    let size = world.sender_stats().current_mtu;
    rate.bits_per_sec() as f64 * (1.0 - loss.as_f64()) * bulk::payload_share(size, HEADERS)
}
