//! Hosts with their own clock, whose datagrams the test moves.

use std::cell::Cell;
use std::collections::{HashMap, VecDeque};
use std::io;
use std::mem::take;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use congestion::ControllerKind;
use noq_proto::{
    Connection, Dir, Endpoint, EndpointConfig, Event, FourTuple, Incoming, StreamId, Transmit,
};
use rustix::io::Errno;

use super::application::{Admission, Application, ConnectionCounts, Verdict};
use super::command::{Command, CommandSender};
use super::datagram_socket::{Datagram, DatagramSocket};
use super::environment::Environment;
use super::flow::Flow;
use super::host::{Host, Turn};
use super::session::Session;
use super::shared_connection::SharedConnection;
use super::waker::Waker;
use super::worker::Worker;
use super::{Driver, paced};
use crate::controller::factory;
use crate::endpoint::{self, Identity, SERVER_NAME};
use crate::server;

pub(super) const ALPN: &[u8] = b"test";

thread_local! {
    static NOW: Cell<Option<Instant>> = const { Cell::new(None) };
}

pub(super) fn clock() -> Instant {
    let now = NOW.get().unwrap_or_else(Instant::now);
    NOW.set(Some(now));
    now
}

pub(super) fn pass(span: Duration) {
    NOW.set(Some(clock() + span));
}

pub(super) const fn us(count: u64) -> Duration {
    Duration::from_micros(count)
}

/// The state of a socket.
#[derive(Default)]
pub(super) struct Held {
    came: VecDeque<Datagram>,
    /// Bursts, each with the size of its datagrams.
    sent: Vec<(usize, Vec<u8>)>,
    /// The number of bytes that were sent to each address.
    bytes: HashMap<SocketAddr, usize>,
    /// The number of sends that still fail for lack of room.
    full: usize,
    /// True if sent datagrams vanish.
    pub(super) is_cut: bool,
    /// The time that it takes to send a burst.
    pub(super) cost: Duration,
    /// The time that it takes to receive a datagram.
    pub(super) toll: Duration,
}

#[derive(Default, Clone)]
pub(super) struct Wire(pub(super) Arc<Mutex<Held>>);

impl Wire {
    pub(super) fn held(&self) -> MutexGuard<'_, Held> {
        self.0.lock().unwrap()
    }

    /// Takes the datagrams that were sent.
    pub(super) fn sent(&self) -> Vec<Vec<u8>> {
        let mut datagrams = Vec::new();
        for (size, burst) in take(&mut self.held().sent) {
            datagrams.extend(burst.chunks(size).map(<[u8]>::to_vec));
        }
        datagrams
    }

    /// Delivers datagrams.
    pub(super) fn give(&self, from: SocketAddr, datagrams: Vec<Vec<u8>>) {
        let came = datagrams.into_iter().map(|datagram| Datagram {
            at: clock(),
            path: FourTuple::new(from, None),
            ecn: None,
            payload: datagram.as_slice().into(),
        });
        self.held().came.extend(came);
    }
}

impl DatagramSocket for Wire {
    fn local_addr(&self) -> io::Result<SocketAddr> {
        Ok((Ipv4Addr::LOCALHOST, 1).into())
    }

    fn read(&mut self, take: &mut dyn FnMut(Datagram)) -> bool {
        let mut held = self.held();
        let count = held.came.len().min(8);
        pass(held.toll * count as u32);
        held.came.drain(..count).for_each(take);
        count > 0
    }

    fn send(&self, transmit: &Transmit, contents: &[u8]) -> io::Result<()> {
        let mut held = self.held();
        pass(held.cost);
        if held.full > 0 {
            held.full -= 1;
            let no_buffers = Errno::NOBUFS.raw_os_error();
            return Err(io::Error::from_raw_os_error(no_buffers));
        }
        if held.is_cut {
            return Ok(());
        }
        let size = transmit.segment_size.unwrap_or(contents.len());
        held.sent.push((size, contents.to_vec()));
        *held.bytes.entry(transmit.destination).or_default() += contents.len();
        Ok(())
    }

    fn most_datagrams(&self, _: u16) -> usize {
        10
    }

    fn may_fragment(&self) -> bool {
        false
    }
}

/// An environment with one wire, where the test gives the driver its turns.
#[derive(Default)]
pub(super) struct Hand {
    wire: Wire,
    worker: Mutex<Option<Worker>>,
}

impl Hand {
    /// Starts a driver. Also returns its worker, and its wire.
    pub(super) fn start() -> (Arc<Driver>, Worker, Wire) {
        let hand = Arc::new(Hand::default());
        let driver = Driver::start_on(hand.clone()).unwrap();
        let worker = hand.worker.lock().unwrap().take();
        (driver, worker.unwrap(), hand.wire.clone())
    }
}

impl Environment for Hand {
    fn listening(&self, _: SocketAddr, _: &Waker) -> io::Result<Box<dyn DatagramSocket>> {
        Err(io::ErrorKind::AddrNotAvailable.into())
    }

    fn sending(&self, _: SocketAddr, _: bool, _: &Waker) -> io::Result<Box<dyn DatagramSocket>> {
        Ok(Box::new(self.wire.clone()))
    }

    fn clock(&self) -> fn() -> Instant {
        clock
    }

    fn drive(&self, worker: Worker) -> io::Result<(Waker, Option<JoinHandle<()>>)> {
        *self.worker.lock().unwrap() = Some(worker);
        Ok((Arc::new(|| {}), None))
    }
}

pub(super) struct End {
    host: Host,
    pub(super) wire: Wire,
    pub(super) address: SocketAddr,
    /// The connection that it has opened.
    shared: Option<SharedConnection>,
    flow: Option<Arc<Flow>>,
}

impl End {
    fn new(address: SocketAddr, endpoint: Endpoint, admission: Option<Box<dyn Admission>>) -> End {
        let wire = Wire::default();
        let endpoint = Arc::new(Mutex::new(endpoint));
        End {
            host: Host::new((0, commands()), Box::new(wire.clone()), endpoint, admission),
            wire,
            address,
            shared: None,
            flow: None,
        }
    }

    pub(super) fn server(identity: &Identity, admission: impl Admission + 'static) -> End {
        let transport = Arc::new(server::transport());
        let config = endpoint::server_config(identity, ALPN, transport).unwrap();
        let settings = Arc::new(identity.endpoint_config());
        let endpoint = Endpoint::new(settings, Some(Arc::new(config)), true);
        let address = (Ipv4Addr::LOCALHOST, 4433).into();
        End::new(address, endpoint, Some(Box::new(admission)))
    }

    fn client(
        port: u16,
        server: &End,
        identity: &Identity,
        application: impl Application + 'static,
    ) -> End {
        let (controllers, flow) = paced(factory(ControllerKind::Bbr1, 1, None));
        let transport = Arc::new(endpoint::transport(controllers));
        let config = endpoint::client_config(identity.fingerprint(), ALPN, transport).unwrap();
        let mut endpoint = Endpoint::new(Arc::new(EndpointConfig::default()), None, true);
        let connected = endpoint.connect(clock(), config, server.address, SERVER_NAME);
        let (handle, connection) = connected.unwrap();
        let mut end = End::new((Ipv4Addr::LOCALHOST, port).into(), endpoint, None);
        let shared = SharedConnection::new(connection, (0, handle), commands());
        let paced = Some(flow.clone());
        let session = Session::new(shared.clone(), Box::new(application), paced, clock());
        end.host.join(session);
        end.shared = Some(shared);
        end.flow = Some(flow);
        end
    }

    fn connection(&self) -> MutexGuard<'_, Connection> {
        self.shared.as_ref().unwrap().lock()
    }

    /// Gives its connection something to send.
    fn ping(&mut self) {
        self.connection().ping();
        for session in self.host.sessions.values_mut() {
            session.look(clock());
        }
    }

    /// The expiry of its next timer.
    pub(super) fn timer(&self) -> Option<Instant> {
        self.host.sessions.values().filter_map(Session::timer).min()
    }

    /// Processes the datagrams that have arrived, and does what is due. Returns the datagrams that it sends.
    pub(super) fn turn(&mut self) -> Vec<Vec<u8>> {
        self.host.receive(|_| {});
        let handles: Vec<_> = self.host.sessions.keys().copied().collect();
        let mut contents = Vec::new();
        for handle in handles {
            let session = self.host.sessions.get_mut(&handle).unwrap();
            if session.timer().is_some_and(|at| at <= clock()) {
                session.expire(clock());
            }
            self.host.settle(handle, clock());
            while matches!(self.host.send(handle, clock(), &mut contents), Turn::Sent) {}
        }
        self.wire.sent()
    }
}

/// The commands of a driver that does not exist.
fn commands() -> Arc<CommandSender> {
    Arc::new(CommandSender::new(mpsc::channel().0, clock))
}

/// Lets this many milliseconds pass. A round trip takes one.
fn exchange(client: &mut End, server: &mut End, times: usize) {
    for _ in 0..times {
        pass(us(1_000));
        server.wire.give(client.address, client.turn());
        client.wire.give(server.address, server.turn());
    }
}

/// An application that does nothing.
pub(super) struct Nobody;

impl Application for Nobody {
    fn on_event(&mut self, _: Event, _: &mut Connection, _: Instant) {}
}

/// Writes this many bytes in pieces.
pub(super) struct Writer {
    stream: Option<StreamId>,
    left: Arc<AtomicUsize>,
}

impl Writer {
    pub(super) fn of(bytes: usize) -> (Writer, Arc<AtomicUsize>) {
        let left = Arc::new(AtomicUsize::new(bytes));
        let stream = None;
        (
            Writer {
                stream,
                left: left.clone(),
            },
            left,
        )
    }
}

impl Application for Writer {
    fn on_event(&mut self, event: Event, connection: &mut Connection, _: Instant) {
        if matches!(event, Event::Connected) {
            self.stream = connection.streams().open(Dir::Uni);
        }
    }

    fn refill(&mut self, connection: &mut Connection) -> bool {
        let left = self.left.load(Ordering::Relaxed);
        let Some(stream) = self.stream.filter(|_| left > 0) else {
            return false;
        };
        let piece = vec![7; left.min(60_000)];
        let written = connection.send_stream(stream).write(&piece).unwrap();
        self.left.fetch_sub(written, Ordering::Relaxed);
        true
    }
}

/// Accepts the first client. Each look at a client takes a tenth of a millisecond.
struct Slow(Arc<AtomicUsize>);

impl Admission for Slow {
    fn admit(&mut self, incoming: Incoming, _: ConnectionCounts) -> Option<(Incoming, Verdict)> {
        pass(us(100));
        let verdict = match self.0.fetch_add(1, Ordering::Relaxed) {
            0 => Verdict::Accept(Box::new(Nobody)),
            _ => Verdict::Ignore,
        };
        Some((incoming, verdict))
    }
}

/// A connection over which this many bytes are to be written. Also returns how many are left.
fn pair(bytes: usize) -> (End, End, Arc<AtomicUsize>) {
    let identity = Identity::generate().unwrap();
    let server = End::server(&identity, Slow(Arc::default()));
    let (writer, left) = Writer::of(bytes);
    let client = End::client(7, &server, &identity, writer);
    (client, server, left)
}

/// Gives a server the first datagrams of this many strangers.
fn give_strangers(count: usize, server: &End, identity: &Identity) {
    for port in 0..count {
        let port = 1_000 + port as u16;
        let mut stranger = End::client(port, server, identity, Nobody);
        server.wire.give(stranger.address, stranger.turn());
    }
}

#[test]
fn flows_do_not_wait_for_strangers() {
    const STRANGERS: usize = 30;
    let identity = Identity::generate().unwrap();
    let met = Arc::new(AtomicUsize::new(0));
    let mut server = End::server(&identity, Slow(met.clone()));
    let mut client = End::client(7, &server, &identity, Nobody);
    exchange(&mut client, &mut server, 100);
    assert_eq!(met.load(Ordering::Relaxed), 1);
    give_strangers(STRANGERS, &server, &identity);
    client.ping();
    server.wire.give(client.address, client.turn());
    let mut heard = 0;
    server.host.receive(|_| heard += 1);
    assert_eq!((heard, met.load(Ordering::Relaxed)), (1, 2));
    for count in 3..=STRANGERS + 1 {
        assert!(server.host.has_rest());
        server.host.receive(|_| heard += 1);
        assert_eq!((heard, met.load(Ordering::Relaxed)), (1, count));
    }
    assert!(!server.host.has_rest());
}

/// A forged address of a client does not delay the client's datagrams.
#[test]
fn a_flow_does_not_wait_for_those_who_forge_its_address() {
    let (mut client, mut server, _) = pair(0);
    exchange(&mut client, &mut server, 100);
    give_strangers(30, &server, &Identity::generate().unwrap());
    server.wire.give(client.address, vec![vec![0xe0; 100]]);
    client.ping();
    server.wire.give(client.address, client.turn());
    let mut heard = 0;
    server.host.receive(|_| heard += 1);
    assert_eq!(heard, 1);
}

/// Accepts a client, and writes to it.
struct Giver(Option<Writer>);

impl Admission for Giver {
    fn admit(&mut self, incoming: Incoming, _: ConnectionCounts) -> Option<(Incoming, Verdict)> {
        let writer = self.0.take().unwrap();
        Some((incoming, Verdict::Accept(Box::new(writer))))
    }
}

/// An attacker on the path forwards a client's datagrams from another address. The client sends nothing more. noq sends
/// a whole datagram if the limit of three times the received bytes is not exhausted, however little is left.
#[test]
fn a_forged_migration_gets_one_datagram_more_than_three_times_what_was_sent() {
    let identity = Identity::generate().unwrap();
    let (writer, _) = Writer::of(1_900_000);
    let mut server = End::server(&identity, Giver(Some(writer)));
    let mut client = End::client(7, &server, &identity, Nobody);
    exchange(&mut client, &mut server, 6);
    pass(us(1_000));
    let datagrams = client.turn();
    let given: usize = datagrams.iter().map(Vec::len).sum();
    let victim = (Ipv4Addr::LOCALHOST, 9).into();
    server.wire.give(victim, datagrams);
    for _ in 0..5_000 {
        pass(us(1_000));
        server.turn();
    }
    let got = server.wire.held().bytes[&victim];
    assert!(got > 0 && got <= 3 * given + 1_200, "{got} of {given}");
}

/// A client sends little from many addresses, which may not be its own.
#[test]
fn many_forged_migrations_get_three_times_what_was_sent() {
    let (mut client, mut server, _) = pair(0);
    exchange(&mut client, &mut server, 100);
    let mut given = 0;
    for port in 1_000..1_900 {
        pass(us(1_000));
        client.ping();
        let datagrams = client.turn();
        given += datagrams.iter().map(Vec::len).sum::<usize>();
        server
            .wire
            .give((Ipv4Addr::LOCALHOST, port).into(), datagrams);
        server.turn();
    }
    let held = server.wire.held();
    let others = held.bytes.iter().filter(|(to, _)| **to != client.address);
    let got: usize = others.map(|(_, bytes)| bytes).sum();
    assert!(got > 0 && got <= 3 * given + 1_200, "{got} of {given}");
}

/// A NAT gives a client that sends data a new port every few milliseconds.
#[test]
fn a_client_that_sends_data_may_move_on_at_once() {
    let (mut client, mut server, left) = pair(0);
    exchange(&mut client, &mut server, 100);
    for port in 1_000..1_010 {
        client.address.set_port(port);
        left.store(2_000, Ordering::Relaxed);
        client.ping();
        exchange(&mut client, &mut server, 10);
        let held = server.wire.held();
        assert!(held.bytes.contains_key(&client.address), "{port}");
    }
}

/// An application whose beginning takes a tenth of a millisecond.
struct Costly(Arc<AtomicUsize>);

impl Application for Costly {
    fn begin(&mut self, _: SharedConnection) {
        pass(us(100));
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    fn on_event(&mut self, _: Event, _: &mut Connection, _: Instant) {}
}

/// Keeps the clients waiting, and passes them on.
struct Keeper(mpsc::Sender<Incoming>);

impl Admission for Keeper {
    fn admit(&mut self, incoming: Incoming, _: ConnectionCounts) -> Option<(Incoming, Verdict)> {
        self.0.send(incoming).unwrap();
        None
    }
}

#[test]
fn flows_do_not_wait_for_those_who_are_let_in() {
    let identity = Identity::generate().unwrap();
    let (keep, guests) = mpsc::channel();
    let mut server = End::server(&identity, Keeper(keep));
    give_strangers(12, &server, &identity);
    server.host.receive(|_| {});
    let (commands, orders) = mpsc::channel();
    let mut worker = Worker::new(orders, clock);
    commands
        .send(Command::Add(0, Box::new(server.host)))
        .unwrap();
    let count = Arc::new(AtomicUsize::new(0));
    for guest in guests.try_iter() {
        let accept = Verdict::Accept(Box::new(Costly(count.clone())));
        let decision = Command::Decide(0, Box::new((guest, accept)));
        commands.send(decision).unwrap();
    }
    for seen in [2, 4, 6, 8, 10] {
        assert_eq!(worker.turn(), Some(Some(clock())));
        assert_eq!(count.load(Ordering::Relaxed), seen);
    }
    // Nor do other commands wait.
    commands.send(Command::Stop).unwrap();
    assert_eq!(worker.turn(), None);
    assert_eq!(count.load(Ordering::Relaxed), 10);
}

/// A listener that is closed stays closed.
#[test]
fn whoever_is_let_in_after_the_end_is_refused() {
    let identity = Identity::generate().unwrap();
    let (keep, guests) = mpsc::channel();
    let mut server = End::server(&identity, Keeper(keep));
    give_strangers(1, &server, &identity);
    server.host.receive(|_| {});
    server.host.shut();
    let accept = Verdict::Accept(Box::new(Nobody));
    let decided = server.host.decide(guests.recv().unwrap(), accept, clock());
    assert_eq!((decided, server.wire.sent().len()), (None, 1));
}

/// The kernel has no buffers, and does not report when it has some.
#[test]
fn what_the_kernel_has_no_room_for_is_kept_and_sent() {
    let (mut client, mut server, left) = pair(600_000);
    while left.load(Ordering::Relaxed) > 400_000 {
        exchange(&mut client, &mut server, 1);
    }
    let before = client.connection().stats().udp_tx.datagrams;
    let lateness = |client: &End| client.flow.as_ref().unwrap().lateness();
    assert_eq!(lateness(&client).late, 0);
    client.wire.held().full = 2;
    let mut sent = 0;
    while client.wire.held().full == 2 {
        pass(us(1_000));
        sent += client.turn().len();
        client.wire.give(server.address, server.turn());
    }
    // The next attempt comes after a while.
    assert!(client.host.next(clock()).unwrap() > clock());
    assert!(client.host.resend(clock()).is_empty());
    assert_eq!(client.wire.held().full, 1);
    for waited in [0, 1] {
        pass(us(1_000));
        assert_eq!(client.host.resend(clock()).len(), waited);
    }
    let kept = client.wire.sent();
    let taken = client.connection().stats().udp_tx.datagrams - before;
    assert_eq!(kept.len() as u64, taken - sent as u64);
    assert!(!kept.is_empty());
    // They were on time, and the kernel had no room for two milliseconds.
    assert_eq!(lateness(&client).late, kept.len() as u64);
}

/// A probe of the path MTU leaves when nothing else waits. For noq, an application limit has then begun, until more
/// data leaves. That data must not leave later than the probe.
#[test]
fn a_probe_of_the_path_mtu_is_no_application_limit() {
    let (mut client, mut server, left) = pair(1_800_000);
    let mut probes = 0;
    while left.load(Ordering::Relaxed) > 0 {
        let mut sent = Vec::new();
        for _ in 0..100 {
            pass(us(10));
            let mtu = usize::from(client.connection().current_mtu());
            let mut datagrams = client.turn();
            let is_probe = |datagram: &Vec<u8>| datagram.len() > mtu;
            if let Some(place) = datagrams.iter().position(is_probe) {
                probes += 1;
                let session = client.host.sessions.values().next().unwrap();
                let is_window_full = session.due().is_none();
                assert!(place + 1 < datagrams.len() || is_window_full, "{probes}");
            }
            sent.append(&mut datagrams);
        }
        server.wire.give(client.address, sent);
        client.wire.give(server.address, server.turn());
    }
    assert!(probes > 1);
}
