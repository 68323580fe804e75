//! The maximum numbers of clients and of packets of a relay. The test has its own process, for the sockets and the
//! memory that it needs.

mod common;

use std::collections::BTreeSet;

use common::{rtt, socket, start, wait_for};
use emulator::Sharing;

#[test]
fn all_ports_of_one_address_leave_room_for_another() {
    let server = socket("127.0.0.1");
    let to = server.local_addr().unwrap();
    let relay = start("127.0.0.1:0", to, rtt(2), Sharing::PathPerClient);
    // Each client is an address and has a socket for a moment only: the process needs its sockets for the relay.
    let mut ports = BTreeSet::new();
    while ports.len() < 520 {
        let client = socket("127.0.0.1");
        let port = client.local_addr().unwrap().port();
        if ports.insert(port) {
            client
                .send_to(&port.to_be_bytes(), relay.local_addr())
                .unwrap();
            // Packets are sent no faster than they are read, whatever the size of the socket's buffer.
            wait_for(&relay, |counters| {
                counters.clients_seen + counters.refused_packets == ports.len() as u64
            });
        }
    }
    let before = relay.counters();
    // 512, or fewer where the system gives a process fewer sockets.
    assert!(before.clients_now > 0 && before.clients_now <= 512);
    assert_eq!(
        before.clients_seen,
        before.clients_now + before.clients_evicted
    );
    // The new client's packet must find room in the server's socket, which 512 packets may have filled.
    let mut buffer = [0; 16];
    server.set_nonblocking(true).unwrap();
    while server.recv_from(&mut buffer).is_ok() {}
    server.set_nonblocking(false).unwrap();
    let newcomer = socket("127.0.0.2");
    newcomer.send_to(b"let me in", relay.local_addr()).unwrap();
    loop {
        let (length, from) = server.recv_from(&mut buffer).unwrap();
        if &buffer[..length] == b"let me in" {
            server.send_to(b"welcome", from).unwrap();
            break;
        }
    }
    assert_eq!(newcomer.recv(&mut buffer).unwrap(), 7);
    let counters = relay.stop();
    assert_eq!(counters.clients_evicted, before.clients_evicted + 1);
    assert_eq!(counters.clients_now, before.clients_now);
    assert_eq!(counters.forward.entered_packets, counters.clients_seen);
}

#[test]
fn packets_take_no_more_memory_than_they_may() {
    let server = socket("127.0.0.1");
    let to = server.local_addr().unwrap();
    // Nothing arrives while the test runs.
    let relay = start("127.0.0.1:0", to, rtt(1_000_000), Sharing::OneBottleneck);
    let client = socket("127.0.0.1");
    let datagram = vec![0; 60_000];
    let mut sent = 0;
    while relay.counters().overload_drops == 0 {
        client.send_to(&datagram, relay.local_addr()).unwrap();
        sent += 1;
        assert!(sent < 1_000_000, "{:?}", relay.counters());
    }
    let counters = relay.stop();
    let inside = counters.forward.in_transit_packets * 60_028;
    assert!(inside <= 256 << 20, "{counters:?}");
    assert!(inside > 250 << 20, "{counters:?}");
    assert_eq!(
        counters.forward.entered_packets,
        counters.forward.in_transit_packets
    );
}
