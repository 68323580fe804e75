//! A foreign QUIC stack with its default settings works through the relay.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use emulator::{Relay, RelayConfig, Sharing};
use noq::{ClientConfig, Endpoint, ServerConfig};
use path::{Buffer, Capacity, Effects, LinkConfig, Loss, PathConfig};
use units::{Bytes, Rate, Ratio};

const PAYLOAD: usize = 1_000_000;

/// A path of 50 Mbit/s, 10 ms, a buffer of 4 BDP and 1 % loss of the client's packets.
fn lossy() -> PathConfig {
    let back = LinkConfig {
        delay: units::Duration::from_millis(5),
        ..LinkConfig::default()
    };
    PathConfig {
        forward: LinkConfig {
            capacity: Capacity::Rate(Rate::from_bits_per_sec(50_000_000)),
            buffer: Buffer::Bytes(Bytes::new(250_000)),
            effects: Effects {
                loss: Loss::Independent(Ratio::new(1, 100)),
                ..back.effects
            },
            ..back.clone()
        },
        reverse: back,
    }
}

#[tokio::test]
async fn a_transfer_completes_over_a_lossy_path() {
    let any: SocketAddr = "127.0.0.1:0".parse().unwrap();
    let identity = rcgen::generate_simple_self_signed(["localhost".to_string()]).unwrap();
    let certificate = identity.cert.der().clone();
    let key = rustls::pki_types::PrivatePkcs8KeyDer::from(identity.signing_key.serialize_der());
    let server = Endpoint::server(
        ServerConfig::with_single_cert(vec![certificate.clone()], key.into()).unwrap(),
        any,
    )
    .unwrap();
    let relay = Relay::start(RelayConfig {
        listen: any,
        to: server.local_addr().unwrap(),
        path: lossy(),
        seed: 1,
        sharing: Sharing::OneBottleneck,
    })
    .unwrap();

    let received = tokio::spawn(async move {
        let connection = server.accept().await.unwrap().await.unwrap();
        let mut stream = connection.accept_uni().await.unwrap();
        let payload = stream.read_to_end(2 * PAYLOAD).await.unwrap();
        connection.close(0u32.into(), b"whole");
        server.wait_all_draining().await;
        payload
    });
    let mut roots = rustls::RootCertStore::empty();
    roots.add(certificate).unwrap();
    let client = Endpoint::client(any).unwrap();
    client
        .set_default_client_config(ClientConfig::with_root_certificates(Arc::new(roots)).unwrap());
    let payload = (0..PAYLOAD).map(|i| (i % 251) as u8).collect::<Vec<_>>();
    let transfer = async {
        let connection = client
            .connect(relay.local_addr(), "localhost")
            .unwrap()
            .await
            .unwrap();
        let mut stream = connection.open_uni().await.unwrap();
        stream.write_all(&payload).await.unwrap();
        stream.finish().unwrap();
        connection.closed().await;
        received.await.unwrap()
    };
    // Only a transfer that hangs reaches this limit, on any machine.
    let arrived = tokio::time::timeout(Duration::from_secs(50), transfer)
        .await
        .unwrap();
    assert!(arrived == payload);

    let counters = relay.stop();
    assert!(counters.forward.random_losses > 0);
    assert!(counters.forward.delivered_bytes > PAYLOAD as u64);
    assert!(counters.reverse.delivered_packets > 0);
    assert_eq!(counters.clients_seen, 1);
}
