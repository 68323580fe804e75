//! A relay between plain UDP programs. Times are asserted from below only: a busy machine may be late, never early.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::net::{SocketAddr, UdpSocket};
use std::thread;
use std::time::{Duration, Instant};

use emulator::{DirectionCounters, Relay, RelayConfig, RelayCounters, RelayError, Sharing};
use path::{Buffer, Capacity, LinkConfig, Loss, PathConfig};
use units::{Bytes, Rate, Ratio};

/// Long enough for any machine; reached only when a test fails.
const PATIENCE: Duration = Duration::from_secs(20);

/// A socket on a free port of `ip` that gives up reading after [`PATIENCE`].
fn socket(ip: &str) -> UdpSocket {
    let socket = UdpSocket::bind((ip, 0)).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    socket
}

/// A server on `ip` that sends back `count` datagrams.
fn echo(ip: &str, count: usize) -> (SocketAddr, thread::JoinHandle<()>) {
    let server = socket(ip);
    let address = server.local_addr().unwrap();
    let thread = thread::spawn(move || {
        let mut buffer = vec![0; 65_536];
        for _ in 0..count {
            let (length, from) = server.recv_from(&mut buffer).unwrap();
            server.send_to(&buffer[..length], from).unwrap();
        }
    });
    (address, thread)
}

fn start(listen: &str, to: SocketAddr, path: PathConfig, sharing: Sharing) -> Relay {
    Relay::start(RelayConfig {
        listen: listen.parse().unwrap(),
        to,
        path,
        seed: 1,
        sharing,
    })
    .unwrap()
}

fn rtt(millis: u64) -> PathConfig {
    let link = LinkConfig {
        delay: units::Duration::from_millis(millis / 2),
        ..LinkConfig::default()
    };
    PathConfig {
        forward: link.clone(),
        reverse: link,
    }
}

/// Waits until `condition` holds of the counters.
fn wait_for(relay: &Relay, condition: impl Fn(&RelayCounters) -> bool) {
    let start = Instant::now();
    while !condition(&relay.counters()) {
        assert!(start.elapsed() < PATIENCE, "{:?}", relay.counters());
        thread::sleep(Duration::from_micros(100));
    }
}

fn assert_nothing_missing(counters: &DirectionCounters) {
    assert_eq!(
        counters.entered_packets + counters.duplicated_packets,
        counters.delivered_packets
            + counters.buffer_drops
            + counters.random_losses
            + counters.policer_drops
            + counters.in_transit_packets,
        "{counters:?}"
    );
}

#[test]
fn datagrams_pass_unchanged_in_order_and_are_counted() {
    let sizes = [0, 1, 100, 1_200, 1_472, 9_000, 65_507, 33];
    let (server, thread) = echo("127.0.0.1", sizes.len());
    let relay = start("127.0.0.1:0", server, rtt(4), Sharing::OneBottleneck);
    let client = socket("127.0.0.1");
    client.connect(relay.local_addr()).unwrap();
    let datagrams = (1..)
        .zip(sizes)
        .map(|(number, size)| vec![number; size])
        .collect::<Vec<_>>();
    for datagram in &datagrams {
        client.send(datagram).unwrap();
    }
    let mut buffer = vec![0; 65_536];
    for datagram in &datagrams {
        let length = client.recv(&mut buffer).unwrap();
        assert_eq!(&buffer[..length], datagram);
    }
    thread.join().unwrap();
    let counters = relay.stop();
    let payload = sizes.iter().sum::<usize>() as u64;
    for direction in [&counters.forward, &counters.reverse] {
        assert_nothing_missing(direction);
        assert_eq!(direction.entered_packets, 8);
        assert_eq!(direction.delivered_packets, 8);
        // Each datagram carries 28 bytes of IPv4 and UDP headers.
        assert_eq!(direction.entered_bytes, payload + 8 * 28);
        assert_eq!(direction.delivered_bytes, payload + 8 * 28);
        assert_eq!(direction.send_errors, 0);
    }
    assert_eq!(counters.clients_seen, 1);
    assert_eq!(counters.socket_overflows, 0);
}

#[test]
fn nothing_comes_back_before_the_round_trip_time() {
    let (server, thread) = echo("127.0.0.1", 5);
    let relay = start("127.0.0.1:0", server, rtt(30), Sharing::OneBottleneck);
    let client = socket("127.0.0.1");
    client.connect(relay.local_addr()).unwrap();
    for number in 0..5 {
        let sent = Instant::now();
        client.send(&[number]).unwrap();
        client.recv(&mut [0; 8]).unwrap();
        assert!(sent.elapsed() >= Duration::from_millis(30));
    }
    thread.join().unwrap();
}

#[test]
fn a_burst_takes_its_serialization_time() {
    const PACKETS: usize = 50;
    let (server, thread) = echo("127.0.0.1", PACKETS);
    let mut path = PathConfig::default();
    // 1 250 bytes with headers at 10 Mbit/s: 1 ms each.
    path.forward.capacity = Capacity::Rate(Rate::from_bits_per_sec(10_000_000));
    let relay = start("127.0.0.1:0", server, path, Sharing::OneBottleneck);
    let client = socket("127.0.0.1");
    client.connect(relay.local_addr()).unwrap();
    let sent = Instant::now();
    for _ in 0..PACKETS {
        client.send(&[0; 1_222]).unwrap();
    }
    for number in 1..=PACKETS {
        client.recv(&mut [0; 2_000]).unwrap();
        assert!(sent.elapsed() >= Duration::from_millis(number as u64));
    }
    thread.join().unwrap();
    let counters = relay.stop();
    assert_eq!(counters.forward.busy_ns, 50_000_000);
}

#[test]
fn a_full_buffer_drops_and_the_queue_can_be_watched() {
    let server = socket("127.0.0.1");
    let mut path = PathConfig::default();
    // Slow enough that nothing moves while the test looks: over a minute a packet.
    path.forward.capacity = Capacity::Rate(Rate::from_bits_per_sec(80));
    path.forward.buffer = Buffer::Packets(10);
    let relay = start(
        "127.0.0.1:0",
        server.local_addr().unwrap(),
        path,
        Sharing::OneBottleneck,
    );
    let client = socket("127.0.0.1");
    for _ in 0..30 {
        client.send_to(&[0; 972], relay.local_addr()).unwrap();
    }
    wait_for(&relay, |counters| counters.forward.entered_packets == 30);
    let queued = relay.queued();
    assert_eq!(queued.packets, 10);
    assert_eq!(queued.bytes, Bytes::new(10_000));
    let counters = relay.stop();
    assert_nothing_missing(&counters.forward);
    // One is being transmitted, ten wait.
    assert_eq!(counters.forward.buffer_drops, 19);
    assert_eq!(counters.forward.in_transit_packets, 11);
}

#[test]
fn total_loss_delivers_nothing() {
    let server = socket("127.0.0.1");
    let mut path = PathConfig::default();
    path.forward.loss = Loss::Independent(Ratio::ONE);
    let relay = start(
        "127.0.0.1:0",
        server.local_addr().unwrap(),
        path,
        Sharing::OneBottleneck,
    );
    let client = socket("127.0.0.1");
    for _ in 0..20 {
        client.send_to(b"lost", relay.local_addr()).unwrap();
    }
    wait_for(&relay, |counters| counters.forward.random_losses == 20);
    let counters = relay.stop();
    assert_nothing_missing(&counters.forward);
    assert_eq!(counters.forward.delivered_packets, 0);
    server.set_nonblocking(true).unwrap();
    let received = server.recv(&mut [0; 16]);
    assert_eq!(received.unwrap_err().kind(), ErrorKind::WouldBlock);
}

#[test]
fn clients_do_not_mix() {
    const CLIENTS: u8 = 5;
    const EACH: u8 = 20;
    for sharing in [Sharing::OneBottleneck, Sharing::PathPerClient] {
        let (server, thread) = echo("127.0.0.1", usize::from(CLIENTS * EACH));
        let relay = start("127.0.0.1:0", server, rtt(2), sharing);
        let clients = (0..CLIENTS)
            .map(|_| socket("127.0.0.1"))
            .collect::<Vec<_>>();
        for number in 0..EACH {
            for (client, mark) in clients.iter().zip(0..) {
                client.send_to(&[mark, number], relay.local_addr()).unwrap();
            }
        }
        for (client, mark) in clients.iter().zip(0..) {
            for number in 0..EACH {
                let mut buffer = [0; 8];
                let length = client.recv(&mut buffer).unwrap();
                assert_eq!(buffer[..length], [mark, number]);
            }
        }
        thread.join().unwrap();
        let counters = relay.stop();
        assert_nothing_missing(&counters.forward);
        assert_nothing_missing(&counters.reverse);
        assert_eq!(counters.clients_seen, u64::from(CLIENTS));
        assert_eq!(counters.reverse.delivered_packets, 100);
    }
}

#[test]
fn clients_have_queues_of_their_own_only_if_asked() {
    for (sharing, waiting) in [(Sharing::OneBottleneck, 7), (Sharing::PathPerClient, 6)] {
        let server = socket("127.0.0.1");
        let mut path = PathConfig::default();
        path.forward.capacity = Capacity::Rate(Rate::from_bits_per_sec(80));
        let to = server.local_addr().unwrap();
        let relay = start("127.0.0.1:0", to, path, sharing);
        for client in [socket("127.0.0.1"), socket("127.0.0.1")] {
            for _ in 0..4 {
                client.send_to(&[0; 972], relay.local_addr()).unwrap();
            }
        }
        wait_for(&relay, |counters| counters.forward.entered_packets == 8);
        // All but those being transmitted: one for each bottleneck.
        assert_eq!(relay.queued().packets, waiting);
    }
}

#[test]
fn a_dead_server_may_come_back() {
    let server = socket("127.0.0.1");
    let to = server.local_addr().unwrap();
    drop(server);
    let relay = start("127.0.0.1:0", to, rtt(2), Sharing::OneBottleneck);
    let client = socket("127.0.0.1");
    client.connect(relay.local_addr()).unwrap();
    for _ in 0..3 {
        client.send(b"anyone?").unwrap();
    }
    wait_for(&relay, |counters| {
        counters.forward.delivered_packets == 3 && counters.unreachable_reports > 0
    });
    let server = UdpSocket::bind(to).unwrap();
    server.set_read_timeout(Some(PATIENCE)).unwrap();
    client.send(b"hello").unwrap();
    let mut buffer = [0; 16];
    let (length, from) = server.recv_from(&mut buffer).unwrap();
    assert_eq!(&buffer[..length], b"hello");
    server.send_to(b"here", from).unwrap();
    let length = client.recv(&mut buffer).unwrap();
    assert_eq!(&buffer[..length], b"here");
    assert_eq!(relay.stop().forward.send_errors, 0);
}

#[test]
fn replies_come_from_the_address_that_was_sent_to() {
    let (server, thread) = echo("127.0.0.1", 1);
    let relay = start("0.0.0.0:0", server, rtt(2), Sharing::OneBottleneck);
    let client = socket("127.0.0.1");
    let port = relay.local_addr().port();
    client.send_to(b"?", ("127.0.0.1", port)).unwrap();
    let (_, from) = client.recv_from(&mut [0; 8]).unwrap();
    assert_eq!(from, SocketAddr::from(([127, 0, 0, 1], port)));
    thread.join().unwrap();
}

#[test]
fn ipv6_works_and_its_headers_are_counted() {
    if let Err(error) = UdpSocket::bind("[::1]:0") {
        eprintln!("SKIPPED: no IPv6 loopback here ({error})");
        return;
    }
    let (server, thread) = echo("::1", 2);
    let relay = start("[::]:0", server, rtt(2), Sharing::OneBottleneck);
    let port = relay.local_addr().port();
    // An IPv6 client, and an IPv4 one of the same dual-stack socket.
    for ip in ["::1", "127.0.0.1"] {
        let client = socket(ip);
        client.connect((ip, port)).unwrap();
        client.send(b"six").unwrap();
        let mut buffer = [0; 8];
        assert_eq!(client.recv(&mut buffer).unwrap(), 3);
        assert_eq!(&buffer[..3], b"six");
    }
    thread.join().unwrap();
    assert_eq!(relay.stop().forward.entered_bytes, 2 * (3 + 48));
}

#[test]
fn starting_fails_with_a_reason() {
    let server = socket("127.0.0.1");
    let taken = socket("127.0.0.1");
    let fine = RelayConfig {
        listen: "127.0.0.1:0".parse().unwrap(),
        to: server.local_addr().unwrap(),
        path: PathConfig::default(),
        seed: 1,
        sharing: Sharing::OneBottleneck,
    };

    let mut busy = fine.clone();
    busy.listen = taken.local_addr().unwrap();
    let address = busy.listen.to_string();
    let error = Relay::start(busy).unwrap_err();
    assert!(matches!(error, RelayError::Listen { .. }), "{error}");
    assert!(error.to_string().contains(&address), "{error}");

    let mut nowhere = fine.clone();
    nowhere.to = "127.0.0.1:0".parse().unwrap();
    let error = Relay::start(nowhere).unwrap_err();
    assert!(matches!(error, RelayError::Unreachable { .. }), "{error}");

    let free = socket("127.0.0.1").local_addr().unwrap();
    let mut round = fine.clone();
    round.listen = free;
    round.to = free;
    let error = Relay::start(round).unwrap_err();
    assert!(matches!(error, RelayError::OwnAddress { .. }), "{error}");

    let mut impossible = fine;
    impossible.path.forward.capacity = Capacity::Rate(Rate::ZERO);
    let error = Relay::start(impossible).unwrap_err();
    assert!(matches!(error, RelayError::Path(_)), "{error}");
}

#[test]
fn stopping_frees_the_port_whatever_is_on_the_way() {
    let server = socket("127.0.0.1");
    let to = server.local_addr().unwrap();
    let relay = start("127.0.0.1:0", to, rtt(60_000), Sharing::OneBottleneck);
    let address = relay.local_addr();
    socket("127.0.0.1").send_to(b"slow", address).unwrap();
    wait_for(&relay, |counters| counters.forward.entered_packets == 1);
    assert_eq!(relay.stop().forward.in_transit_packets, 1);
    UdpSocket::bind(address).unwrap();

    let dropped = start("127.0.0.1:0", to, rtt(2), Sharing::OneBottleneck);
    let address = dropped.local_addr();
    drop(dropped);
    UdpSocket::bind(address).unwrap();
}

#[test]
fn too_many_clients_are_refused_and_counted() {
    let server = socket("127.0.0.1");
    let to = server.local_addr().unwrap();
    let relay = start("127.0.0.1:0", to, rtt(2), Sharing::PathPerClient);
    // One socket at a time: a client is an address, and the process needs its sockets for the relay.
    let mut ports = BTreeSet::new();
    while ports.len() < 520 {
        let client = socket("127.0.0.1");
        if ports.insert(client.local_addr().unwrap().port()) {
            client.send_to(b"me too", relay.local_addr()).unwrap();
            // Not faster than it is read, whatever the size of its socket's buffer.
            wait_for(&relay, |counters| {
                counters.clients_seen + counters.refused_packets == ports.len() as u64
            });
        }
    }
    let counters = relay.stop();
    // 512, or fewer where the system gives a process fewer sockets.
    assert!(counters.clients_seen > 0 && counters.clients_seen <= 512);
    assert_eq!(counters.forward.entered_packets, counters.clients_seen);
}
