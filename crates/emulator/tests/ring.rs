//! A loop that takes all the sockets that a process commonly has, in a process of its own.

mod common;

use common::{rtt, socket, start, wait_for};
use emulator::{RelayCounters, Sharing};

/// There are more different datagrams than the relays have places for their turns, each of its own client, or all of
/// one.
#[test]
fn a_ring_of_two_relays_with_many_datagrams_comes_to_rest() {
    const DATAGRAMS: u64 = 40;
    for sockets in [DATAGRAMS, 1] {
        let free = socket("127.0.0.1").local_addr().unwrap();
        let sharing = Sharing::OneBottleneck;
        let first = start("127.0.0.1:0", free, rtt(100), sharing);
        let second = start(&free.to_string(), first.local_addr(), rtt(100), sharing);
        let clients: Vec<_> = (0..sockets).map(|_| socket("127.0.0.1")).collect();
        for (number, client) in (0..DATAGRAMS).zip(clients.iter().cycle()) {
            let payload = [number as u8; 9];
            client.send_to(&payload, first.local_addr()).unwrap();
        }
        // Each loop ends in a relay that recognizes it, or has no place for it.
        let ended = |counters: &RelayCounters| {
            counters.loop_drops + counters.refused_packets + counters.forward.orphaned_packets
        };
        wait_for(&first, |counters| {
            ended(counters) + ended(&second.counters()) == DATAGRAMS
        });
        for counters in [first.stop(), second.stop()] {
            let entered = counters.forward.entered_packets;
            // If a port is used again, a turn may be missed.
            assert!(entered <= 2 * 64 * DATAGRAMS, "{counters:?}");
            assert_eq!(counters.forward.in_transit_packets, 0);
        }
    }
}
