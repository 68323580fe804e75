//! Strangers with garbage, in crowds, and in silence.

use std::net::{Ipv4Addr, UdpSocket};

use noq::{ConnectionError, EndpointConfig};
use quic::endpoint::Identity;

use super::{client, echo, echo_all, round_trip, server};

/// Numbers that look random (SplitMix64).
fn noise(seed: &mut u64) -> u64 {
    *seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *seed;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[tokio::test]
async fn garbage_disturbs_nobody() {
    let identity = Identity::generate().unwrap();
    let server = server(&identity, EndpointConfig::default());
    echo_all(&server);
    let (_endpoint, connecting) = client(&identity).connect(server.local_addr()).unwrap();
    let connection = connecting.await.unwrap();
    let stranger = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let mut seed = 1;
    for round in 0..20_u32 {
        for _ in 0..250 {
            let length = 1 + (noise(&mut seed) % 1500) as usize;
            let mut datagram: Vec<u8> = (0..length).map(|_| noise(&mut seed) as u8).collect();
            // Among them Initial packets of version 1, and ones of versions that nobody speaks.
            if round % 3 == 1 {
                datagram[0] = 0xc0 | (datagram[0] & 0x3f);
                let version = 1_u32.to_be_bytes();
                for (place, byte) in datagram.iter_mut().skip(1).zip(version) {
                    *place = byte;
                }
            }
            stranger.send_to(&datagram, server.local_addr()).unwrap();
        }
        round_trip(&connection, 10_000).await;
    }
}

/// More than noq keeps waiting at a time of one peer, and each for itself.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn thousands_of_handshakes() {
    let identity = Identity::generate().unwrap();
    let server = server(&identity, EndpointConfig::default());
    echo_all(&server);
    let client = client(&identity);
    let endpoint = client.endpoint(server.local_addr()).unwrap();
    let mut last = None;
    for _ in 0..20 {
        let connecting: Vec<_> = (0..100)
            .map(|_| client.connect_from(&endpoint, server.local_addr()).unwrap())
            .collect();
        for connecting in connecting {
            last = Some(connecting.await.unwrap());
        }
    }
    round_trip(&last.take().unwrap(), 10_000).await;
    // All have been dropped: both sides get to know.
    let quiet = async {
        endpoint.wait_all_draining().await;
        server.wait_all_draining().await;
    };
    tokio::time::timeout(super::PATIENCE, quiet).await.unwrap();
}

/// Those who begin and say nothing more do not keep others out.
#[tokio::test]
async fn silent_strangers_are_outlived() {
    let identity = Identity::generate().unwrap();
    let server = server(&identity, EndpointConfig::default());
    // The first datagram of a client, as one that goes away sends it.
    let listener = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    for _ in 0..300 {
        let (_endpoint, _connecting) = client(&identity)
            .connect(listener.local_addr().unwrap())
            .unwrap();
        let mut first = [0; 1500];
        let (length, _) = listener.recv_from(&mut first).unwrap();
        listener
            .send_to(&first[..length], server.local_addr())
            .unwrap();
    }
    echo_all(&server);
    let (_endpoint, connecting) = client(&identity).connect(server.local_addr()).unwrap();
    round_trip(&connecting.await.unwrap(), 100_000).await;
}

#[tokio::test]
async fn a_server_may_ask_for_a_proof_of_address() {
    let identity = Identity::generate().unwrap();
    let server = server(&identity, EndpointConfig::default());
    let accepting = async {
        let incoming = server.accept().await.unwrap();
        assert!(incoming.may_retry());
        incoming.retry();
        let incoming = server.accept().await.unwrap();
        assert!(!incoming.may_retry());
        incoming.await.unwrap()
    };
    let (_endpoint, connecting) = client(&identity).connect(server.local_addr()).unwrap();
    let (accepted, connected) = tokio::join!(accepting, connecting.into_future());
    tokio::spawn(echo(accepted));
    round_trip(&connected.unwrap(), 1000).await;
}

#[tokio::test]
async fn who_is_not_wanted_learns_it() {
    let identity = Identity::generate().unwrap();
    let server = server(&identity, EndpointConfig::default());
    let connect = || client(&identity).connect(server.local_addr()).unwrap();
    let is_refused = |error: ConnectionError| match error {
        ConnectionError::ConnectionClosed(close) => {
            close.error_code == noq::TransportErrorCode::CONNECTION_REFUSED
        }
        _ => false,
    };
    // By a word, and by being forgotten.
    for by_word in [true, false] {
        let (_endpoint, connecting) = connect();
        let refusing = async {
            let incoming = server.accept().await.unwrap();
            if by_word {
                incoming.refuse();
            }
        };
        let (connected, ()) = tokio::join!(connecting.into_future(), refusing);
        assert!(is_refused(connected.unwrap_err()));
    }
    // And once the server is closed.
    server.close(0u32.into(), b"");
    let (_endpoint, connecting) = connect();
    assert!(is_refused(connecting.await.unwrap_err()));
    assert!(server.accept().await.is_none());
}
