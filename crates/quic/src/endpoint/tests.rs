//! Tests of who may connect to whom.

use std::net::Ipv4Addr;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Instant;

use noq_proto::congestion::CubicConfig;
use noq_proto::crypto::rustls::QuicServerConfig;
use noq_proto::{
    ConnectionError, DatagramEvent, Endpoint, EndpointConfig, FourTuple, ServerConfig,
    TransportConfig,
};
use rustls::sign::{CertifiedKey, SingleCertAndKey};

use super::identity::provider;
use super::*;
use crate::driver::System;

const ALPN: &[u8] = b"test";

fn quiet() -> Arc<TransportConfig> {
    Arc::new(transport(Arc::new(CubicConfig::default())))
}

/// Returns the result of a client that expects the certificate `pinned` and speaks `alpn`, at a server set up as
/// `server`.
async fn meet(
    server: ServerConfig,
    identity: &Identity,
    pinned: Fingerprint,
    alpn: &[u8],
) -> Result<(), ConnectionError> {
    let here = (Ipv4Addr::LOCALHOST, 0).into();
    let server = listen(Arc::new(System), here, server, identity).unwrap();
    let controllers = Arc::new(CubicConfig::default());
    let client = Client::new(Arc::new(System), pinned, alpn, controllers, transport).unwrap();
    let accepting = async { server.accept().await.unwrap().accept().await };
    let connection = client.connect(server.local_addr()).unwrap();
    let (connected, _) = tokio::join!(connection.connected(), accepting);
    connected
}

#[tokio::test]
async fn the_pinned_server_and_the_protocol_are_required() {
    let (own, other) = (Identity::generate().unwrap(), Identity::generate().unwrap());
    let server = || server_config(&own, ALPN, quiet()).unwrap();
    assert!(meet(server(), &own, own.fingerprint(), ALPN).await.is_ok());
    assert!(
        meet(server(), &own, other.fingerprint(), ALPN)
            .await
            .is_err()
    );
    assert!(
        meet(server(), &own, own.fingerprint(), b"else")
            .await
            .is_err()
    );
}

/// A certificate is public, so a server must prove that it has the key.
#[tokio::test]
async fn a_copied_certificate_is_not_enough() {
    let (own, thief) = (Identity::generate().unwrap(), Identity::generate().unwrap());
    let key = rustls::crypto::ring::sign::any_supported_type(&thief.key.clone_key().into());
    let shown = CertifiedKey::new(vec![own.certificate.clone()], key.unwrap());
    let mut tls = rustls::ServerConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&rustls::version::TLS13])
        .unwrap()
        .with_no_client_auth()
        .with_cert_resolver(Arc::new(SingleCertAndKey::from(shown)));
    tls.alpn_protocols = vec![ALPN.to_vec()];
    let server = ServerConfig::with_crypto(Arc::new(QuicServerConfig::try_from(tls).unwrap()));
    assert!(meet(server, &own, own.fingerprint(), ALPN).await.is_err());
}

/// Clients that wait for a decision take limited memory, even if they are strangers.
#[test]
fn clients_that_wait_for_a_decision_take_limited_memory() {
    let identity = Identity::generate().unwrap();
    let settings = Arc::new(identity.endpoint_config());
    let config = Arc::new(server_config(&identity, ALPN, quiet()).unwrap());
    let mut server = Endpoint::new(settings, Some(config), true);
    let mut client = Endpoint::new(Arc::new(EndpointConfig::default()), None, true);
    let config = client_config(identity.fingerprint(), ALPN, quiet()).unwrap();
    let now = Instant::now();
    let path = FourTuple::from_remote((Ipv4Addr::LOCALHOST, 1).into());
    let mut waiting = Vec::new();
    for _ in 0..1_100 {
        let connected = client.connect(now, config.clone(), path.remote(), SERVER_NAME);
        let mut datagram = Vec::new();
        let (_, mut connection) = connected.unwrap();
        let sent = connection.poll_transmit(now, NonZeroUsize::MIN, &mut datagram);
        assert!(sent.is_some());
        for _ in 0..20 {
            let datagram = datagram.as_slice().into();
            let event = server.handle(now, path, None, datagram, &mut Vec::new());
            if let Some(DatagramEvent::NewConnection(incoming)) = event {
                waiting.push(incoming);
            }
        }
    }
    assert_eq!(waiting.len(), 1_024);
    let kept = server.incoming_buffer_bytes();
    assert!(kept > 0 && kept <= 1 << 20, "{kept}");
    waiting.into_iter().for_each(|one| server.ignore(one));
}

#[test]
fn fingerprints_are_written_and_read() {
    let fingerprint = Identity::generate().unwrap().fingerprint();
    assert_eq!(fingerprint.to_string().parse(), Ok(fingerprint));
    for text in [
        "",
        "00",
        &"0g".repeat(32),
        &"00".repeat(33),
        &"+0".repeat(32),
    ] {
        assert_eq!(text.parse::<Fingerprint>(), Err(FingerprintError));
    }
}
