//! Tests of many connections over one socket, with their own clock.

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use congestion::Rate;
use noq_proto::{
    Connection, ConnectionStats, Dir, Event, Incoming, MtuDiscoveryConfig, StreamEvent,
};

use super::by_hand::{ALPN, End, Hand, Nobody, Wire, Writer, clock, pass, us};
use super::{
    Admission, Application, Call, ClientSocket, ConnectionCounts, Driver, Flow, Verdict, Worker,
    paced,
};
use crate::controller::factory_with;
use crate::endpoint::{self, Identity};

#[path = "../../benches/many/fixed.rs"]
mod fixed;

use fixed::Fixed;

/// The rate in bytes per second.
const RATE: u64 = 125_000;

/// Accepts everybody.
struct Everybody;

impl Admission for Everybody {
    fn admit(&mut self, incoming: Incoming, _: ConnectionCounts) -> Option<(Incoming, Verdict)> {
        Some((incoming, Verdict::Accept(Box::new(Nobody))))
    }
}

/// A driver, and a server for its connections.
struct World {
    driver: Arc<Driver>,
    worker: Worker,
    wire: Wire,
    identity: Identity,
    server: End,
}

impl World {
    fn new() -> World {
        World::with(Everybody)
    }

    fn with(admission: impl Admission + 'static) -> World {
        let (driver, worker, wire) = Hand::start();
        let identity = Identity::generate().unwrap();
        World {
            driver,
            worker,
            wire,
            server: End::server(&identity, admission),
            identity,
        }
    }

    fn client_socket(&self) -> ClientSocket {
        self.driver
            .client_socket(self.server.address, false)
            .unwrap()
    }

    fn call(
        &self,
        socket: &ClientSocket,
        application: impl Application + 'static,
    ) -> (Call, Arc<Flow>) {
        self.call_at(RATE, MtuDiscoveryConfig::default(), socket, application)
    }

    fn call_at(
        &self,
        rate: u64,
        discovery: MtuDiscoveryConfig,
        socket: &ClientSocket,
        application: impl Application + 'static,
    ) -> (Call, Arc<Flow>) {
        let fixed = move |connection| Fixed::new(Rate::from_bytes_per_sec(rate), connection);
        let (controllers, flow) = paced(factory_with(fixed, 1, None));
        let mut transport = endpoint::transport(controllers);
        transport.mtu_discovery_config(Some(discovery));
        let transport = Arc::new(transport);
        let config = endpoint::client_config(self.identity.fingerprint(), ALPN, transport);
        let to = self.server.address;
        let call = socket.call(to, config.unwrap(), flow.clone(), Box::new(application));
        (call.unwrap(), flow)
    }

    /// Lets time pass until the connection's statistics satisfy `is_so`. Returns the number of milliseconds.
    fn run_until(&mut self, call: &Call, is_so: impl Fn(&ConnectionStats) -> bool) -> usize {
        let mut count = 0;
        while !is_so(&call.shared.lock().stats()) {
            self.run(1);
            count += 1;
        }
        count
    }

    /// Lets this many milliseconds pass. The driver wakes up twice in each millisecond, and the server once in two
    /// milliseconds.
    fn run(&mut self, count: usize) {
        let here = (Ipv4Addr::LOCALHOST, 7).into();
        for half in 0..2 * count {
            pass(us(500));
            while let Some(Some(next)) = self.worker.turn()
                && next <= clock()
            {}
            self.server.wire.give(here, self.wire.sent());
            if half.is_multiple_of(4) {
                self.wire.give(self.server.address, self.server.turn());
            }
        }
    }

    /// The number of references to the wire.
    fn users(&self) -> usize {
        Arc::strong_count(&self.wire.0)
    }
}

#[test]
fn connections_over_one_socket_have_their_rates() {
    const COUNT: usize = 100;
    let mut world = World::new();
    let socket = world.client_socket();
    let calls: Vec<_> = (0..COUNT)
        .map(|_| world.call(&socket, Writer::of(1_000_000).0))
        .collect();
    let sent = || {
        calls
            .iter()
            .map(|(call, _)| call.shared.lock().stats().udp_tx.bytes)
    };
    world.run(300);
    let before: Vec<u64> = sent().collect();
    world.run(2_000);
    for (before, after) in before.into_iter().zip(sent()) {
        let share = (after - before) as f64 / (2 * RATE) as f64;
        assert!((share - 1.0).abs() < 0.02, "{share}");
    }
    for (_, flow) in &calls {
        let lateness = flow.lateness();
        assert!(
            lateness.datagrams > 170 && lateness.late == 0,
            "{lateness:?}"
        );
    }
}

/// The time that passes in a turn after the socket was read. All of 30 connections are late.
#[test]
fn what_has_come_does_not_wait_long_for_what_is_due() {
    let mut world = World::new();
    let socket = world.client_socket();
    let calls: Vec<_> = (0..30)
        .map(|_| world.call(&socket, Writer::of(1_000_000).0))
        .collect();
    world.run(300);
    let noise = vec![vec![0x40; 20]; 100];
    for (cost, is_behind, expected) in [
        // After each connection's turn, none has waited for long.
        (10, false, 300),
        (50, false, 1_000),
        // The received datagrams are late, too.
        (10, true, 200),
        (50, true, 200),
    ] {
        world.wire.held().cost = us(cost);
        world.wire.held().toll = us(if is_behind { 5 } else { 0 });
        let here = (Ipv4Addr::LOCALHOST, 9).into();
        world.wire.give(here, noise.clone());
        pass(us(50_000));
        let before = clock();
        world.worker.turn().unwrap();
        let read = if is_behind { us(200) } else { us(0) };
        assert_eq!(clock() - before - read, us(expected), "{cost} {is_behind}");
        world.wire.held().toll = us(0);
        world.run(50);
    }
    drop(calls);
}

/// A thread with work for nine tenths of its time loses the processor for 3 ms of every 100 ms. It sends before it reads
/// more, and is on time again soon. If it read as much as it sent, one sixth of the datagrams would be late.
#[test]
fn a_thread_that_was_late_is_soon_on_time_again() {
    let mut world = World::new();
    let socket = world.client_socket();
    let calls: Vec<_> = (0..250)
        .map(|_| {
            world.run(4);
            world.call(&socket, Writer::of(1_000_000).0)
        })
        .collect();
    world.run(1_500);
    world.wire.held().cost = us(44);
    world.wire.held().toll = us(36);
    let sum = || {
        let all = calls.iter().map(|(_, flow)| flow.lateness());
        all.fold((0, 0), |(datagrams, late), flow| {
            (datagrams + flow.datagrams, late + flow.late)
        })
    };
    let before = sum();
    let here = (Ipv4Addr::LOCALHOST, 7).into();
    let begin = clock();
    let (mut stall, mut answer) = (begin, begin);
    while clock() < begin + us(1_000_000) {
        if clock() >= stall {
            pass(us(3_000));
            stall += us(100_000);
        }
        let next = world.worker.turn().unwrap();
        world.server.wire.give(here, world.wire.sent());
        if clock() >= answer {
            world.wire.give(world.server.address, world.server.turn());
            answer = clock() + us(200);
        }
        let wait = next.map_or(answer, |next| next.min(answer));
        pass(wait.saturating_duration_since(clock()));
    }
    let after = sum();
    let share = (after.1 - before.1) as f64 / (after.0 - before.0) as f64;
    assert!(share < 0.08, "{share}");
}

/// The thread stands still for a second. The ACK waits behind datagrams that take longer to read than a turn has time.
#[test]
fn an_ack_that_has_arrived_comes_before_a_timer() {
    let mut world = World::new();
    let socket = world.client_socket();
    let (writer, left) = Writer::of(0);
    let (call, _) = world.call(&socket, writer);
    world.run(3_000);
    left.store(1_000, Ordering::Relaxed);
    call.shared.notify();
    world.worker.turn().unwrap();
    let before = call.shared.lock().stats();
    let [here, stranger] = [7, 9].map(|port| (Ipv4Addr::LOCALHOST, port).into());
    world.wire.give(stranger, vec![vec![0x40; 20]; 100]);
    world.server.wire.give(here, world.wire.sent());
    pass(us(30_000));
    let answer = world.server.turn();
    assert_eq!(answer.len(), 1);
    world.wire.give(world.server.address, answer);
    pass(us(1_000_000));
    world.wire.held().toll = us(5);
    let mut turns = 0;
    while call.shared.lock().stats().frame_rx.acks == before.frame_rx.acks {
        world.worker.turn().unwrap();
        turns += 1;
    }
    assert!(turns > 1);
    assert_eq!(call.shared.lock().stats().udp_tx, before.udp_tx);
}

/// An application with a deadline that takes this long to handle.
struct Sleeper(Option<Instant>, Duration);

impl Application for Sleeper {
    fn on_event(&mut self, _: Event, _: &mut Connection, _: Instant) {}

    fn deadline(&self) -> Option<Instant> {
        self.0
    }

    fn on_deadline(&mut self, _: &mut Connection, _: Instant) {
        pass(self.1);
        self.0 = None;
    }
}

#[test]
fn a_turn_handles_timers_for_a_limited_time() {
    let mut world = World::new();
    let socket = world.client_socket();
    let deadline = clock() + us(1_000_000);
    let calls: Vec<_> = (0..30)
        .map(|_| world.call(&socket, Sleeper(Some(deadline), us(50))))
        .collect();
    world.run(300);
    pass(deadline - clock());
    let mut turns = 0;
    while clock() < deadline + us(30 * 50) {
        let before = clock();
        world.worker.turn().unwrap();
        assert!(clock() - before <= us(200));
        turns += 1;
    }
    assert_eq!(turns, 8);
    drop(calls);
}

#[test]
fn a_large_datagram_takes_at_most_a_millisecond_of_the_rate() {
    for (rate, sizes) in [
        (1_000_000, 1_200..=1_452),
        (10_000_000, 1_453..=10_000),
        (100_000_000, 10_001..=60_000),
    ] {
        let mut world = World::new();
        let socket = world.client_socket();
        let mut discovery = MtuDiscoveryConfig::default();
        discovery.upper_bound(60_000);
        let (writer, _) = Writer::of(1_000_000);
        let (call, _) = world.call_at(rate, discovery, &socket, writer);
        world.run(5_000);
        let size = call.shared.lock().current_mtu();
        assert!(sizes.contains(&size), "{size} at {rate}");
    }
}

/// Writes everything at once.
struct Eager(usize);

impl Application for Eager {
    fn on_event(&mut self, event: Event, connection: &mut Connection, _: Instant) {
        if matches!(event, Event::Connected) {
            let stream = connection.streams().open(Dir::Uni).unwrap();
            let written = connection.send_stream(stream).write(&vec![7; self.0]);
            assert_eq!(written, Ok(self.0));
        }
    }
}

/// Neither does the window hold it back, nor is there a moment without data.
#[test]
fn a_connection_that_only_pacing_limits_finds_the_path_mtu() {
    let mut world = World::new();
    let socket = world.client_socket();
    let bytes = 3 * RATE as usize;
    let (call, flow) = world.call(&socket, Eager(bytes));
    world.run(2_000);
    {
        let mut connection = call.shared.lock();
        assert!(connection.stats().udp_tx.bytes < bytes as u64);
        assert_eq!(connection.current_mtu(), 1_452);
    }
    assert_eq!(flow.lateness().late, 0);
    // The probes neither use the rate nor add to it.
    let sent = || call.shared.lock().stats().udp_tx.bytes;
    let before = sent();
    world.run(500);
    let share = (sent() - before) as f64 / (RATE / 2) as f64;
    assert!((share - 1.0).abs() < 0.05, "{share}");
}

/// Answers the first data of a client with this many bytes.
struct Answer(usize);

impl Application for Answer {
    fn on_event(&mut self, event: Event, connection: &mut Connection, _: Instant) {
        if matches!(event, Event::Stream(StreamEvent::Opened { .. })) {
            let stream = connection.streams().open(Dir::Uni).unwrap();
            let written = connection.send_stream(stream).write(&vec![7; self.0]);
            assert_eq!(written, Ok(self.0));
        }
    }
}

/// Answers everybody.
struct Answering(usize);

impl Admission for Answering {
    fn admit(&mut self, incoming: Incoming, _: ConnectionCounts) -> Option<(Incoming, Verdict)> {
        Some((incoming, Verdict::Accept(Box::new(Answer(self.0)))))
    }
}

/// A connection that has sent a burst, has no more data, and may send the next burst after 200 ms. If `is_cut`, the
/// burst is lost. Also returns the connection's statistics before the burst.
fn slow(world: &mut World, is_cut: bool) -> (Call, ConnectionStats) {
    let socket = world.client_socket();
    let mut no_probes = MtuDiscoveryConfig::default();
    no_probes.upper_bound(1_200);
    let (writer, left) = Writer::of(0);
    let (call, _) = world.call_at(RATE / 10, no_probes, &socket, writer);
    world.run(3_000);
    let before = call.shared.lock().stats();
    world.wire.held().is_cut = is_cut;
    left.store(2_300, Ordering::Relaxed);
    call.shared.notify();
    let count = world.run_until(&call, |stats| stats.frame_tx.stream == 2);
    assert_eq!(count, 1);
    (call, before)
}

#[test]
fn an_ack_does_not_wait_for_the_next_burst() {
    // The first answer is acknowledged after `max_ack_delay`, and the second one at once.
    for (answer, most) in [(100, 30), (3_000, 3)] {
        let mut world = World::with(Answering(answer));
        let (call, before) = slow(&mut world, false);
        world.run_until(&call, |stats| stats.frame_rx.stream > 0);
        let waited = world.run_until(&call, |stats| stats.frame_tx.acks > before.frame_tx.acks);
        assert!(waited <= most, "{waited}");
    }
}

#[test]
fn a_probe_after_a_timeout_does_not_wait_for_the_next_burst() {
    let mut world = World::new();
    let (call, before) = slow(&mut world, true);
    let sent = before.udp_tx.datagrams + 2;
    let waited = world.run_until(&call, |stats| stats.udp_tx.datagrams > sent);
    assert!(waited < 100, "{waited}");
}

#[test]
fn an_end_does_not_wait_for_the_next_burst() {
    let mut world = World::new();
    let (call, _) = slow(&mut world, false);
    let shared = call.shared.clone();
    drop(call);
    world.run(1);
    assert_eq!(shared.lock().stats().frame_tx.connection_close, 1);
}

#[test]
fn a_socket_is_closed_with_its_last_connection() {
    let mut world = World::new();
    let nobody = world.users();
    let socket = world.client_socket();
    let [first, second] = [(), ()].map(|()| world.call(&socket, Nobody).0);
    drop(socket);
    world.run(100);
    let shared = first.shared.clone();
    drop(first);
    world.run(1_000);
    assert!(shared.lock().is_drained());
    assert!(!second.shared.lock().is_closed() && !second.shared.lock().is_handshaking());
    assert_eq!(world.users(), nobody + 1);
    drop(second);
    world.run(1_000);
    assert_eq!(world.users(), nobody);
    // No connection was opened from this one.
    drop(world.client_socket());
    world.run(1);
    assert_eq!(world.users(), nobody);
}

/// The handle of a closed connection is used again.
#[test]
fn the_end_of_one_that_is_over_is_not_the_next_ones() {
    let mut world = World::new();
    let socket = world.client_socket();
    let (first, _) = world.call(&socket, Nobody);
    world.run(100);
    first
        .shared
        .lock()
        .close(clock(), 0u32.into(), Default::default());
    first.shared.notify();
    world.run(1_000);
    let (second, _) = world.call(&socket, Nobody);
    assert_eq!(second.shared.id(), first.shared.id());
    world.run(100);
    drop(first);
    world.run(1);
    assert!(!second.shared.lock().is_closed());
}
