//! Datagrams with forged sources, whose answers would loop for ever.

mod common;

use std::collections::HashSet;
use std::iter;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use common::{rtt, socket, start, wait_for};
use emulator::Sharing;
use etherparse::PacketBuilder;
use socket2::{Domain, Protocol, Socket, Type};

/// Sends one datagram from `source` to `to`, both of IPv4.
fn forge(raw: &Socket, source: SocketAddr, to: SocketAddr) {
    let octets = |address: SocketAddr| match address.ip() {
        IpAddr::V4(ip) => ip.octets(),
        IpAddr::V6(_) => unreachable!("only IPv4 is forged here"),
    };
    let builder = PacketBuilder::ipv4(octets(source), octets(to), 64).udp(source.port(), to.port());
    let mut packet = Vec::new();
    builder.write(&mut packet, b"round and round").unwrap();
    raw.send_to(&packet, &to.into()).unwrap();
}

/// A server that used the relay as a client would get its own datagrams back, and answer them.
#[test]
fn the_server_is_no_client() {
    let server = socket("127.0.0.1");
    let to = server.local_addr().unwrap();
    let relay = start("127.0.0.1:0", to, rtt(0), Sharing::PathPerClient);
    server.send_to(b"hello", relay.local_addr()).unwrap();
    wait_for(&relay, |counters| counters.loop_drops == 1);
    let counters = relay.stop();
    assert_eq!(counters.forward.entered_packets, 0);
    assert_eq!(counters.clients_seen, 0);
}

/// Each relay is the other's server, and each turn makes a socket that is a new client of the other. The time of a turn
/// does not matter.
#[test]
fn a_ring_of_two_relays_comes_to_rest() {
    for millis in [0, 50] {
        let free = socket("127.0.0.1").local_addr().unwrap();
        let sharing = Sharing::PathPerClient;
        let first = start("127.0.0.1:0", free, rtt(millis), sharing);
        let second = start(&free.to_string(), first.local_addr(), rtt(millis), sharing);
        let client = socket("127.0.0.1");
        client
            .send_to(b"round and round", first.local_addr())
            .unwrap();
        // The first relay also has the client.
        wait_for(&first, |counters| counters.loop_drops == 1);
        let (first, second) = (first.stop(), second.stop());
        assert_eq!([first.clients_seen, second.clients_seen], [64, 64]);
        assert_eq!(first.forward.entered_packets, 64);
        assert_eq!(second.forward.entered_packets, 64);
        assert_eq!(second.loop_drops, 0);
    }
}

/// On Linux, all of 127.0.0.0/8 belongs to this machine.
#[cfg(target_os = "linux")]
#[test]
fn hosts_that_begin_alike_are_all_served_by_a_silent_server() {
    const HOSTS: u8 = 100;
    let server = socket("127.0.0.1");
    let to = server.local_addr().unwrap();
    let relay = start("127.0.0.1:0", to, rtt(0), Sharing::OneBottleneck);
    // This machine's datagrams from a port of the relay's are dropped, and a client of another address may get one.
    let mut ports = HashSet::new();
    for host in 1..=HOSTS {
        let client = iter::repeat_with(|| socket(&format!("127.0.0.{host}")))
            .find(|client| !ports.contains(&client.local_addr().unwrap().port()))
            .unwrap();
        client.send_to(b"requests:1|c", relay.local_addr()).unwrap();
        let (_, upstream) = server.recv_from(&mut [0; 16]).unwrap();
        ports.insert(upstream.port());
    }
    let counters = relay.stop();
    assert_eq!(counters.clients_seen, HOSTS.into());
    assert_eq!(counters.loop_drops, 0);
}

#[test]
fn no_datagram_comes_from_the_relay_itself() {
    let raw = match Socket::new(Domain::IPV4, Type::RAW, Some(Protocol::UDP)) {
        Ok(raw) => raw,
        Err(error) => {
            skipping::skip!("forged sources: no raw socket: {error}");
            return;
        }
    };
    raw.set_header_included_v4(true).unwrap();
    let server = socket("127.0.0.1");
    let to = server.local_addr().unwrap();
    for listen in ["127.0.0.1:0", "0.0.0.0:0", "[::]:0", "[::ffff:127.0.0.1]:0"] {
        let relay = start(listen, to, rtt(0), Sharing::OneBottleneck);
        let port = relay.local_addr().port();
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let client = socket("127.0.0.1");
        client.send_to(b"first", address).unwrap();
        let mut buffer = [0; 16];
        let (_, upstream) = server.recv_from(&mut buffer).unwrap();
        let forged = [address, to, upstream];
        for source in forged {
            forge(&raw, source, address);
        }
        wait_for(&relay, |counters| counters.loop_drops == 3);
        // Another client is still served.
        client.send_to(b"last", address).unwrap();
        let (length, _) = server.recv_from(&mut buffer).unwrap();
        assert_eq!(&buffer[..length], b"last", "{listen}");
        assert_eq!(relay.stop().clients_seen, 1, "{listen}");
    }
}
