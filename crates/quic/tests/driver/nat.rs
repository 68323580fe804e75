//! A forwarder between a client and a server, like a NAT: the server sees its port.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use noq::{ConnectionError, EndpointConfig};
use quic::endpoint::Identity;
use tokio::net::UdpSocket;
use tokio::task::JoinHandle;

use super::{PATIENCE, client, echo_all, round_trip, server};

/// Forwards between one client and a server.
struct Nat {
    inside: Arc<UdpSocket>,
    client: Arc<Mutex<Option<SocketAddr>>>,
    outside: Arc<Mutex<(Arc<UdpSocket>, SocketAddr)>>,
    back: JoinHandle<()>,
    sent: Arc<AtomicU64>,
    returned: Arc<AtomicU64>,
}

impl Nat {
    async fn to(server: SocketAddr) -> Nat {
        let inside = Arc::new(UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap());
        let (sent, returned) = <(Arc<AtomicU64>, Arc<AtomicU64>)>::default();
        let client: Arc<Mutex<Option<SocketAddr>>> = Arc::default();
        let first = Arc::new(UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap());
        let outside = Arc::new(Mutex::new((first.clone(), server)));
        let (from, to, who, count) = (
            inside.clone(),
            outside.clone(),
            client.clone(),
            sent.clone(),
        );
        tokio::spawn(async move {
            let mut buffer = vec![0; 1 << 16];
            while let Ok((length, peer)) = from.recv_from(&mut buffer).await {
                *who.lock().unwrap() = Some(peer);
                count.fetch_add(length as u64, Ordering::SeqCst);
                let (socket, server) = to.lock().unwrap().clone();
                let _ = socket.send_to(&buffer[..length], server).await;
            }
        });
        let mut nat = Nat {
            inside,
            client,
            outside,
            back: tokio::spawn(async {}),
            sent,
            returned,
        };
        nat.listen(first, true);
        nat
    }

    fn address(&self) -> SocketAddr {
        self.inside.local_addr().unwrap()
    }

    /// Passes on what comes back, if it `passes`.
    fn listen(&mut self, outside: Arc<UdpSocket>, passes: bool) {
        self.back.abort();
        let (inside, client) = (self.inside.clone(), self.client.clone());
        let count = self.returned.clone();
        self.back = tokio::spawn(async move {
            let mut buffer = vec![0; 1 << 16];
            while let Ok((length, _)) = outside.recv_from(&mut buffer).await {
                count.fetch_add(length as u64, Ordering::SeqCst);
                let peer = *client.lock().unwrap();
                if let Some(peer) = peer.filter(|_| passes) {
                    let _ = inside.send_to(&buffer[..length], peer).await;
                }
            }
        });
    }

    /// The client's packets come from another port from now on, and go to `server`.
    async fn rebind(&mut self, server: SocketAddr) {
        let socket = Arc::new(UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap());
        *self.outside.lock().unwrap() = (socket.clone(), server);
        self.listen(socket, true);
    }
}

/// A connection outlives its port. In the middle of a transfer it may not: noq's receiver gives up on a new path whose
/// challenge gets no answer within three probe timeouts, and a sender whose window is full with what the old port swallowed
/// answers late.
#[tokio::test]
async fn a_connection_moves_to_a_new_port() {
    let identity = Identity::generate().unwrap();
    let server = server(&identity, EndpointConfig::default());
    echo_all(&server);
    let mut nat = Nat::to(server.local_addr()).await;
    let (_endpoint, connecting) = client(&identity).connect(nat.address()).unwrap();
    let connection = connecting.await.unwrap();
    round_trip(&connection, 100_000).await;
    for _ in 0..5 {
        nat.rebind(server.local_addr()).await;
        round_trip(&connection, 100_000).await;
    }
}

/// A server that was killed and started again tells the peers of its former self (RFC 9000, "Stateless Reset").
#[tokio::test]
async fn a_server_that_knows_nothing_says_so() {
    let identity = Identity::generate().unwrap();
    let config = || {
        // Both have the keys of one server, as one with a saved identity has.
        let mut config = EndpointConfig::new(Arc::new(ring::hmac::Key::new(
            ring::hmac::HMAC_SHA256,
            &[7; 32],
        )));
        config.cid_generator(Arc::new(|| {
            Box::new(noq_proto::HashedConnectionIdGenerator::from_key(7))
        }));
        config
    };
    let before = server(&identity, config());
    echo_all(&before);
    let mut nat = Nat::to(before.local_addr()).await;
    let (_endpoint, connecting) = client(&identity).connect(nat.address()).unwrap();
    let connection = connecting.await.unwrap();
    round_trip(&connection, 1000).await;
    let after = server(&identity, config());
    nat.rebind(after.local_addr()).await;
    let asking = async {
        loop {
            connection.ping();
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
    };
    let over = async {
        tokio::select! {
            error = connection.closed() => error,
            () = asking => unreachable!(),
        }
    };
    let error = tokio::time::timeout(PATIENCE, over).await.unwrap();
    assert_eq!(error, ConnectionError::Reset);
}

/// Whoever has not proven its address gets no more than three times what it sends (RFC 9000, "Address Validation during
/// Connection Establishment").
#[tokio::test]
async fn nobody_can_be_flooded_through_us() {
    let identity = Identity::generate().unwrap();
    let server = server(&identity, EndpointConfig::default());
    echo_all(&server);
    let mut nat = Nat::to(server.local_addr()).await;
    let socket = nat.outside.lock().unwrap().0.clone();
    // The client hears nothing, as one whose address another one uses.
    nat.listen(socket, false);
    let (_endpoint, connecting) = client(&identity).connect(nat.address()).unwrap();
    let waiting = tokio::time::timeout(std::time::Duration::from_secs(3), connecting.into_future());
    assert!(waiting.await.is_err());
    let (sent, returned) = (
        nat.sent.load(Ordering::SeqCst),
        nat.returned.load(Ordering::SeqCst),
    );
    assert!(returned > 0);
    assert!(returned <= 3 * sent, "{returned} for {sent}");
}
