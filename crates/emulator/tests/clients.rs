//! How many clients a relay takes. Alone in its process, for the sockets that it needs.

mod common;

use std::collections::BTreeSet;

use common::{rtt, socket, start, wait_for};
use emulator::Sharing;

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
