//! What our driver does with a network that is not kind, over real sockets.

mod nat;
mod strangers;
mod streams;

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use congestion::ControllerKind;
use noq::EndpointConfig;
use quic::controller::{Controllers, factory};
use quic::driver::{Accepts, Client, Connection, Endpoint};
use quic::endpoint::{self, Identity};

const ALPN: &[u8] = b"test";

/// After this long, a test fails rather than hangs.
const PATIENCE: Duration = Duration::from_secs(120);

fn controllers() -> Arc<dyn Controllers> {
    factory(ControllerKind::Bbr1, 1, None)
}

/// A server at a free port, which accepts what its test accepts.
fn server(identity: &Identity, config: EndpointConfig) -> Endpoint {
    let transport = Arc::new(endpoint::transport(controllers()));
    let accepts = Accepts {
        config: endpoint::server_config(identity, ALPN, transport).unwrap(),
        controllers: controllers(),
    };
    let socket = std::net::UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    Endpoint::new(socket, config, Some(accepts), false).unwrap()
}

fn client(identity: &Identity) -> Client {
    Client::new(
        identity.fingerprint(),
        ALPN,
        controllers(),
        endpoint::transport,
    )
    .unwrap()
}

/// Answers each stream of a connection with what it brought, until the connection is over.
async fn echo(connection: Connection) {
    while let Ok((mut to, mut from)) = connection.accept_bi().await {
        tokio::spawn(async move {
            while let Ok(Some(chunk)) = from.read_chunk(usize::MAX).await {
                if to.write_chunk(chunk).await.is_err() {
                    return;
                }
            }
        });
    }
}

/// Accepts whoever comes, for ever.
fn echo_all(server: &Endpoint) {
    let server = server.clone();
    tokio::spawn(async move {
        while let Some(incoming) = server.accept().await {
            tokio::spawn(async move {
                if let Ok(connection) = incoming.await {
                    echo(connection).await;
                }
            });
        }
    });
}

/// Sends so many bytes, and has them back.
async fn round_trip(connection: &Connection, bytes: usize) {
    let exchange = async {
        let (mut to, mut from) = connection.open_bi().await.unwrap();
        let sent: Vec<u8> = (0..bytes).map(|place| (place % 251) as u8).collect();
        let write = async {
            to.write_all(&sent).await.unwrap();
            to.finish().unwrap();
        };
        let (read, ()) = tokio::join!(from.read_to_end(bytes), write);
        assert!(read.unwrap() == sent);
    };
    tokio::time::timeout(PATIENCE, exchange).await.unwrap();
}
