//! Probes over real sockets, and the receiver's reaction to other peers.

use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::time::Duration;

use congestion::ControllerKind;
use noq::{ClientConfig, Connection, ConnectionError, Endpoint};
use quic::controller::factory;
use quic::endpoint::{self, Identity};
use quic::probe::{ProbeError, Prober, Token, TurnedAway, serve};
use quic::server::Server;
use tokio::time::timeout;

const TIMEOUT: Duration = Duration::from_secs(60);

fn server_with(token: &Token) -> Server {
    let identity = Identity::generate().unwrap();
    serve((Ipv4Addr::LOCALHOST, 0).into(), &identity, token).unwrap()
}

fn server() -> Server {
    server_with(&Token::none())
}

async fn connect(
    server: &Server,
    kind: ControllerKind,
    token: &Token,
) -> Result<Prober, ProbeError> {
    let controllers = factory(kind, 1, None);
    let connecting = Prober::connect(server.address(), server.fingerprint(), token, controllers);
    timeout(TIMEOUT, connecting).await.unwrap()
}

async fn prober(server: &Server, kind: ControllerKind) -> Prober {
    connect(server, kind, &Token::none()).await.unwrap()
}

/// Sends this many bytes, which must arrive.
async fn probe(prober: &Prober, bytes: u64) -> Duration {
    let probed = timeout(TIMEOUT, prober.probe(bytes)).await;
    probed.unwrap().unwrap()
}

/// A client at this address that speaks our protocol, without the proof.
struct Stranger {
    endpoint: Endpoint,
    config: ClientConfig,
    server: SocketAddr,
}

impl Stranger {
    fn at(address: [u8; 4], server: &Server) -> Stranger {
        let transport = Arc::new(endpoint::transport(factory(ControllerKind::Cubic, 1, None)));
        Stranger {
            endpoint: Endpoint::client((address, 0).into()).unwrap(),
            config: endpoint::client_config(server.fingerprint(), b"fullpipe-probe/2", transport)
                .unwrap(),
            server: server.address(),
        }
    }

    async fn connect(&self) -> Result<Connection, ConnectionError> {
        let connecting =
            self.endpoint
                .connect_with(self.config.clone(), self.server, endpoint::SERVER_NAME);
        timeout(TIMEOUT, connecting.unwrap()).await.unwrap()
    }
}

#[tokio::test]
async fn a_connection_carries_one_probe_after_the_other() {
    let server = server();
    for kind in ControllerKind::ALL {
        let prober = prober(&server, *kind).await;
        for bytes in [1, 65_536, 65_537, 3_000_001, 0] {
            let took = probe(&prober, bytes).await;
            assert!(took > Duration::ZERO, "{kind} {bytes}");
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
    // It tries another protocol under the same certificate, and a stream that is reset.
    let transport = Arc::new(endpoint::transport(factory(ControllerKind::Cubic, 1, None)));
    let here: SocketAddr = (Ipv4Addr::LOCALHOST, 0).into();
    let client = Endpoint::client(here).unwrap();
    let connect = |alpn: &[u8]| {
        let config = endpoint::client_config(server.fingerprint(), alpn, transport.clone());
        client
            .connect_with(config.unwrap(), server.address(), endpoint::SERVER_NAME)
            .unwrap()
    };
    assert!(connect(b"fullpipe-bulk/1").await.is_err());
    assert!(connect(b"fullpipe-probe/1").await.is_err());
    let connection = connect(b"fullpipe-probe/2").await.unwrap();
    let (mut to, mut from) = connection.open_bi().await.unwrap();
    // This is no proof, so the connection may be closed before all of it is written.
    let _ = to.write_all(&[1; 10_000]).await;
    let _ = to.reset(7u32.into());
    let answer = timeout(TIMEOUT, from.read_to_end(8)).await.unwrap();
    // The server ends the stream, and then the connection. The client may see either first.
    let is_empty = answer.as_ref().is_ok_and(Vec::is_empty);
    assert!(
        answer.is_err() || is_empty,
        "a reset stream gets {answer:?}"
    );
    let prober = prober(&server, ControllerKind::Bbr1).await;
    probe(&prober, 100_000).await;
}

#[tokio::test]
async fn a_server_that_has_gone_is_an_error() {
    let server = server();
    let prober = prober(&server, ControllerKind::Bbr1).await;
    prober.probe(1000).await.unwrap();
    drop(server);
    let failed = timeout(TIMEOUT, prober.probe(1000)).await.unwrap();
    assert!(
        matches!(
            failed,
            Err(ProbeError::Connection(_) | ProbeError::Write(_) | ProbeError::Read(_))
        ),
        "{failed:?}"
    );
}

#[tokio::test]
async fn a_token_is_required_and_the_same_on_both_sides() {
    let [token, other] =
        ["sixteen letters!", "seventeen letters"].map(|text| Token::parse(text).unwrap());
    let server = server_with(&token);
    for wrong in [&other, &Token::none()] {
        let refused = connect(&server, ControllerKind::Bbr1, wrong).await;
        let expected = TurnedAway::WrongToken;
        assert!(
            matches!(&refused, Err(ProbeError::TurnedAway(why)) if *why == expected),
            "{refused:?}"
        );
    }
    let prober = connect(&server, ControllerKind::Bbr1, &token)
        .await
        .unwrap();
    probe(&prober, 5_000_000).await;
    // A sender with a token is refused by a receiver without one.
    let open = self::server();
    let refused = connect(&open, ControllerKind::Bbr1, &token).await;
    assert!(
        matches!(refused, Err(ProbeError::TurnedAway(_))),
        "{refused:?}"
    );
}

#[tokio::test]
async fn nothing_is_taken_without_a_proof() {
    let server = server();
    let stranger = Stranger::at([127, 0, 0, 1], &server);
    let connection = stranger.connect().await.unwrap();
    let (mut to, _from) = connection.open_bi().await.unwrap();
    // The sender's side keeps this much. The receiver's window is 4 KiB, and it ends the stream when that exceeds a
    // proof.
    let _ = timeout(TIMEOUT, to.write_all(&[1; 8 << 20])).await.unwrap();
    timeout(TIMEOUT, connection.closed()).await.unwrap();
    let sent = connection.stats().udp_tx.bytes;
    assert!(sent < 64 << 10, "{sent}");
    // A second stream is not even opened, and there are no datagrams.
    let connection = stranger.connect().await.unwrap();
    let _first = connection.open_bi().await.unwrap();
    let second = timeout(Duration::from_millis(50), connection.open_bi());
    assert!(second.await.is_err());
    assert_eq!(connection.max_datagram_size(), None);
}

#[tokio::test]
async fn many_silent_connections_of_one_address_shut_nobody_out() {
    let server = server();
    let crowd = Stranger::at([127, 0, 0, 2], &server);
    let mut silent = Vec::new();
    for _ in 0..150 {
        // The host's connections compete with each other: some are refused, some are closed.
        silent.extend(crowd.connect().await.ok());
    }
    let open = silent.iter().filter(|one| one.close_reason().is_none());
    assert!(open.count() <= 64);
    let prober = prober(&server, ControllerKind::Bbr1).await;
    probe(&prober, 100_000).await;
}

#[tokio::test]
async fn senders_of_one_address_leave_a_place_for_another() {
    let server = server();
    let crowd = Stranger::at([127, 0, 0, 2], &server);
    let mut senders = Vec::new();
    while senders.len() < 64 {
        // They prove that there is no token, and are silent afterwards.
        let connection = crowd.connect().await.unwrap();
        let mut challenge = [0; 32];
        let label = b"EXPORTER-fullpipe-probe-2";
        connection
            .export_keying_material(&mut challenge, label, b"")
            .unwrap();
        let (mut to, mut from) = connection.open_bi().await.unwrap();
        to.write_all(&Token::none().proof(&challenge))
            .await
            .unwrap();
        to.finish().unwrap();
        let answer = timeout(TIMEOUT, from.read_to_end(1))
            .await
            .unwrap()
            .unwrap();
        assert_eq!(answer, [0]);
        senders.push(connection);
    }
    let prober = prober(&server, ControllerKind::Bbr1).await;
    probe(&prober, 100_000).await;
    timeout(TIMEOUT, senders[0].closed()).await.unwrap();
    assert!(senders[1..].iter().all(|one| one.close_reason().is_none()));
}
