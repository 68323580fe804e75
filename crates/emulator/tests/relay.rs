//! A relay between plain UDP programs. Times are asserted from below only: a busy machine may be late, never early.

mod common;

use std::io::ErrorKind;
use std::net::{SocketAddr, UdpSocket};
use std::thread;
use std::time::{Duration, Instant};

use common::{rtt, socket, start, wait_for};
use emulator::{DirectionCounters, Sharing};
use path::{Buffer, Capacity, Loss, Mtu, PathConfig};
use units::{Bytes, Rate, Ratio};

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

fn assert_nothing_missing(counters: &DirectionCounters) {
    assert_eq!(
        counters.entered_packets + counters.duplicated_packets,
        counters.delivered_packets
            + counters.buffer_drops
            + counters.random_losses
            + counters.policer_drops
            + counters.too_big_packets
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
    // At less than a packet per minute, nothing moves during the test.
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
fn a_queue_is_seen_to_drain_before_anything_arrives() {
    let server = socket("127.0.0.1");
    let mut path = rtt(120_000);
    // 2 ms each, and a minute until the first arrives.
    path.forward.capacity = Capacity::Rate(Rate::from_bits_per_sec(4_000_000));
    let to = server.local_addr().unwrap();
    let relay = start("127.0.0.1:0", to, path, Sharing::OneBottleneck);
    let client = socket("127.0.0.1");
    for _ in 0..20 {
        client.send_to(&[0; 972], relay.local_addr()).unwrap();
    }
    wait_for(&relay, |counters| counters.forward.entered_packets == 20);
    wait_for(&relay, |counters| {
        counters.forward.transmitted_packets >= 19 && relay.queued().packets == 0
    });
    assert_eq!(relay.queued().bytes, Bytes::ZERO);
    assert_eq!(relay.stop().forward.delivered_packets, 0);
}

#[test]
fn total_loss_delivers_nothing() {
    let server = socket("127.0.0.1");
    let mut path = PathConfig::default();
    path.forward.effects.loss = Loss::Independent(Ratio::ONE);
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
fn nobody_hears_of_what_is_damaged_or_too_big() {
    let server = socket("127.0.0.1");
    let mut path = PathConfig::default();
    path.forward.effects.corruption = Ratio::new(1, 2);
    path.forward.effects.mtu = Mtu::new(1_400);
    let relay = start(
        "127.0.0.1:0",
        server.local_addr().unwrap(),
        path,
        Sharing::OneBottleneck,
    );
    let client = socket("127.0.0.1");
    for size in [1_372, 1_373] {
        for _ in 0..20 {
            client.send_to(&vec![7; size], relay.local_addr()).unwrap();
        }
    }
    wait_for(&relay, |counters| {
        counters.forward.delivered_packets + counters.forward.too_big_packets == 40
    });
    let counters = relay.stop().forward;
    assert_nothing_missing(&counters);
    assert_eq!(counters.too_big_packets, 20);
    assert!((3..18).contains(&counters.corrupted_packets));
    server.set_nonblocking(true).unwrap();
    let mut buffer = [0; 2_000];
    let whole = std::iter::from_fn(|| server.recv(&mut buffer).ok().map(|size| (size, buffer)));
    let whole: Vec<_> = whole.collect();
    assert_eq!(whole.len() as u64, 20 - counters.corrupted_packets);
    assert!(
        whole
            .iter()
            .all(|(size, bytes)| *size == 1_372 && bytes[..1_372] == [7; 1_372])
    );
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
fn hundreds_of_clients_at_once() {
    const CLIENTS: usize = 300;
    const ROUNDS: usize = 3;
    let (server, thread) = echo("127.0.0.1", CLIENTS * ROUNDS);
    let relay = start("127.0.0.1:0", server, rtt(2), Sharing::PathPerClient);
    let clients = (0..CLIENTS)
        .map(|_| socket("127.0.0.1"))
        .collect::<Vec<_>>();
    for round in 0..ROUNDS {
        // These are as many at a time as fit the smallest of the sockets' buffers.
        for (wave, clients) in clients.chunks(100).enumerate() {
            let mark = |number: usize| [round as u8, wave as u8, number as u8];
            for (number, client) in clients.iter().enumerate() {
                client.send_to(&mark(number), relay.local_addr()).unwrap();
            }
            for (number, client) in clients.iter().enumerate() {
                let mut buffer = [0; 8];
                let length = client.recv(&mut buffer).unwrap();
                assert_eq!(buffer[..length], mark(number));
            }
        }
    }
    thread.join().unwrap();
    let counters = relay.stop();
    assert_eq!(counters.clients_seen, CLIENTS as u64);
    for direction in [&counters.forward, &counters.reverse] {
        assert_nothing_missing(direction);
        assert_eq!(direction.delivered_packets, (CLIENTS * ROUNDS) as u64);
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

/// On Linux, all of 127.0.0.0/8 belongs to this machine.
#[cfg(target_os = "linux")]
#[test]
fn a_client_may_turn_to_another_of_our_addresses() {
    let (server, thread) = echo("127.0.0.1", 2);
    let relay = start("0.0.0.0:0", server, rtt(2), Sharing::OneBottleneck);
    let client = socket("127.0.0.1");
    for ip in [[127, 0, 0, 1], [127, 0, 0, 2]] {
        let address = SocketAddr::from((ip, relay.local_addr().port()));
        client.send_to(b"?", address).unwrap();
        let (_, from) = client.recv_from(&mut [0; 8]).unwrap();
        assert_eq!(from, address);
    }
    thread.join().unwrap();
}

#[test]
fn ipv6_works_and_its_headers_are_counted() {
    if let Err(error) = UdpSocket::bind("[::1]:0") {
        skipping::skip!("relay over IPv6: no loopback: {error}");
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
