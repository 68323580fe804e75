//! Ports that are in use, free, or nobody's. Separate from tests that use many ports and might take these.

mod common;

use std::net::{SocketAddr, UdpSocket};

use common::{TIMEOUT, rtt, socket, start, wait_for};
use emulator::{Relay, RelayConfig, RelayError, Sharing};
use path::{Capacity, PathConfig};
use units::Rate;

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
    server.set_read_timeout(Some(TIMEOUT)).unwrap();
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
    for (listen, to) in [
        ("127.0.0.1", "127.0.0.1"),
        ("0.0.0.0", "127.0.0.2"),
        ("127.0.0.1", "0.0.0.0"),
        ("127.0.0.1", "::ffff:127.0.0.1"),
    ] {
        let mut round = fine.clone();
        round.listen.set_ip(listen.parse().unwrap());
        round.listen.set_port(free.port());
        round.to = SocketAddr::new(to.parse().unwrap(), free.port());
        let error = Relay::start(round).unwrap_err();
        assert!(matches!(error, RelayError::OwnAddress { .. }), "{error}");
    }

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
