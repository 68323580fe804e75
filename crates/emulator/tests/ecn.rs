//! ECN codepoints survive the relay, and its queue marks.

use std::io::IoSliceMut;
use std::net::UdpSocket;
use std::time::Duration;

use emulator::{Relay, RelayConfig, Sharing};
use noq_udp::{EcnCodepoint, RecvMeta, Transmit, UdpSocketState};
use path::{Capacity, Discipline, Effects, LinkConfig, PathConfig, Red};
use units::{Bytes, Rate};

#[test]
fn codepoints_pass_both_ways() {
    let server = UdpSocket::bind("127.0.0.1:0").unwrap();
    let client = UdpSocket::bind("127.0.0.1:0").unwrap();
    let relay = Relay::start(RelayConfig {
        listen: "127.0.0.1:0".parse().unwrap(),
        to: server.local_addr().unwrap(),
        path: PathConfig::default(),
        seed: 1,
        sharing: Sharing::OneBottleneck,
    })
    .unwrap();
    for ecn in [
        None,
        Some(EcnCodepoint::Ect0),
        Some(EcnCodepoint::Ect1),
        Some(EcnCodepoint::Ce),
    ] {
        send(&client, relay.local_addr(), ecn);
        let arrived = receive(&server);
        assert_eq!(arrived.ecn, ecn);
        send(&server, arrived.addr, ecn);
        assert_eq!(receive(&client).ecn, ecn);
    }
}

#[test]
fn a_queue_marks_the_capable_and_drops_the_others() {
    let server = UdpSocket::bind("127.0.0.1:0").unwrap();
    let client = UdpSocket::bind("127.0.0.1:0").unwrap();
    // A datagram takes 272 ms. The first is transmitted at once, the second waits, and the others find it waiting.
    let relay = Relay::start(RelayConfig {
        listen: "127.0.0.1:0".parse().unwrap(),
        to: server.local_addr().unwrap(),
        path: PathConfig {
            forward: LinkConfig {
                capacity: Capacity::Rate(Rate::from_bits_per_sec(1_000)),
                effects: Effects {
                    queue: Discipline::Red(Red::threshold(Bytes::new(1))),
                    ..Effects::default()
                },
                ..LinkConfig::default()
            },
            ..PathConfig::default()
        },
        seed: 1,
        sharing: Sharing::OneBottleneck,
    })
    .unwrap();
    let sent = [
        None,
        Some(EcnCodepoint::Ect0),
        None,
        Some(EcnCodepoint::Ect1),
    ];
    for ecn in sent {
        send(&client, relay.local_addr(), ecn);
    }
    let received = [(); 3].map(|()| receive(&server).ecn);
    assert_eq!(
        received,
        [None, Some(EcnCodepoint::Ect0), Some(EcnCodepoint::Ce)]
    );
    let forward = relay.stop().forward;
    assert_eq!((forward.buffer_drops, forward.marked_packets), (1, 1));
}

fn send(socket: &UdpSocket, destination: std::net::SocketAddr, ecn: Option<EcnCodepoint>) {
    let transmit = Transmit {
        destination,
        ecn,
        contents: b"marked",
        segment_size: None,
        src_ip: None,
    };
    let state = UdpSocketState::new(socket.into()).unwrap();
    state.try_send(socket.into(), &transmit).unwrap();
}

fn receive(socket: &UdpSocket) -> RecvMeta {
    let state = UdpSocketState::new(socket.into()).unwrap();
    socket.set_nonblocking(false).unwrap();
    socket
        .set_read_timeout(Some(Duration::from_secs(20)))
        .unwrap();
    let mut buffer = [0; 64];
    let mut meta = [RecvMeta::default()];
    let mut slices = [IoSliceMut::new(&mut buffer)];
    state.recv(socket.into(), &mut slices, &mut meta).unwrap();
    meta[0]
}
