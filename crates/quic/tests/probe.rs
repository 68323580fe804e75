//! Probes over real sockets, and what a receiver does with peers that are no probers.

use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::time::Duration;

use congestion::Kind;
use quic::controller::factory;
use quic::endpoint::{self, Identity};
use quic::probe::{ProbeError, Prober, serve};
use quic::server::Server;
use tokio::time::timeout;

const PATIENCE: Duration = Duration::from_secs(60);

fn server() -> Server {
    let identity = Identity::generate().unwrap();
    serve((Ipv4Addr::LOCALHOST, 0).into(), &identity).unwrap()
}

async fn prober(server: &Server, kind: Kind) -> Prober {
    let controllers = factory(kind, 1, None);
    Prober::connect(server.address(), server.fingerprint(), controllers)
        .await
        .unwrap()
}

#[tokio::test]
async fn a_connection_carries_one_probe_after_the_other() {
    let server = server();
    for kind in Kind::ALL {
        let prober = prober(&server, *kind).await;
        for bytes in [1, 65_536, 65_537, 3_000_001, 0] {
            let took = timeout(PATIENCE, prober.probe(bytes)).await.unwrap();
            assert!(took.unwrap() > Duration::ZERO, "{kind} {bytes}");
        }
    }
}

#[tokio::test]
async fn garbage_and_strangers_leave_a_server_as_it_was() {
    let server = server();
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    for length in [0, 1, 20, 1200, 1452] {
        let garbage: Vec<u8> = (0..length)
            .map(|place| (place * 37 % 251) as u8 | 0xc0)
            .collect();
        socket.send_to(&garbage, server.address()).unwrap();
    }
    // Another protocol under the same certificate, and a stream that is reset.
    let transport = Arc::new(endpoint::transport(factory(Kind::Cubic, 1, None)));
    let here: SocketAddr = (Ipv4Addr::LOCALHOST, 0).into();
    let client = endpoint::bind(here, None).unwrap();
    let connect = |alpn: &[u8]| {
        let config = endpoint::client_config(server.fingerprint(), alpn, transport.clone());
        client
            .connect_with(config.unwrap(), server.address(), endpoint::SERVER_NAME)
            .unwrap()
    };
    assert!(connect(b"fullpipe-bulk/1").await.is_err());
    let connection = connect(b"fullpipe-probe/1").await.unwrap();
    let (mut to, mut from) = connection.open_bi().await.unwrap();
    to.write_all(&[1; 10_000]).await.unwrap();
    to.reset(7u32.into()).unwrap();
    let answer = timeout(PATIENCE, from.read_to_end(8)).await.unwrap();
    assert!(answer.is_err(), "a reset stream gets no answer");
    let prober = prober(&server, Kind::Bbr1).await;
    timeout(PATIENCE, prober.probe(100_000))
        .await
        .unwrap()
        .unwrap();
}

#[tokio::test]
async fn a_server_that_has_gone_is_an_error() {
    let server = server();
    let prober = prober(&server, Kind::Bbr1).await;
    prober.probe(1000).await.unwrap();
    drop(server);
    let failed = timeout(PATIENCE, prober.probe(1000)).await.unwrap();
    assert!(
        matches!(
            failed,
            Err(ProbeError::Connection(_) | ProbeError::Write(_) | ProbeError::Read(_))
        ),
        "{failed:?}"
    );
}
