//! Tests with strangers, and with connections that migrate.

use std::io::ErrorKind;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use congestion::ControllerKind;
use noq_proto::{Connection, ConnectionError, Event, Incoming};

use super::*;
use crate::bulk;
use crate::controller::factory;
use crate::endpoint::{self, Identity};
use crate::server;

const ALPN: &[u8] = b"test";
const HERE: (Ipv4Addr, u16) = (Ipv4Addr::LOCALHOST, 0);

/// Reports the result of a connection's handshake or its end.
struct Witness(mpsc::Sender<Result<(), ConnectionError>>);

impl Application for Witness {
    fn on_event(&mut self, event: Event, _: &mut Connection, _: Instant) {
        let told = match event {
            Event::Connected => Ok(()),
            Event::ConnectionLost { reason } => Err(reason),
            _ => return,
        };
        let _ = self.0.send(told);
    }
}

/// Treats every client as `verdict` says, and reports whether the clients' addresses were validated.
struct Decider<V> {
    verdict: V,
    proven: mpsc::Sender<bool>,
}

impl<V: FnMut(&Incoming) -> Verdict + Send> Admission for Decider<V> {
    fn admit(&mut self, incoming: Incoming, _: ConnectionCounts) -> Option<(Incoming, Verdict)> {
        let _ = self.proven.send(incoming.remote_address_validated());
        let verdict = (self.verdict)(&incoming);
        Some((incoming, verdict))
    }
}

fn accept() -> Verdict {
    Verdict::Accept(Box::new(Witness(mpsc::channel().0)))
}

/// Returns a client's result under such an admission, and the report of what decided on it.
fn admit(
    verdict: impl FnMut(&Incoming) -> Verdict + Send + 'static,
) -> (Result<(), ConnectionError>, Vec<bool>) {
    let identity = Identity::generate().unwrap();
    let transport = Arc::new(server::transport());
    let config = endpoint::server_config(&identity, ALPN, transport).unwrap();
    let configs = (identity.endpoint_config(), config);
    let (proven, seen) = mpsc::channel();
    let admission = Box::new(Decider { verdict, proven });
    let receiving = Driver::start().unwrap();
    let (address, _) = receiving.listen(HERE.into(), configs, admission).unwrap();
    let (controllers, flow) = paced(factory(ControllerKind::Bbr1, 1, None));
    let transport = Arc::new(endpoint::transport(controllers));
    let config = endpoint::client_config(identity.fingerprint(), ALPN, transport).unwrap();
    let (told, hear) = mpsc::channel();
    let sending = Driver::start().unwrap();
    let witness = Box::new(Witness(told));
    let socket = sending.client_socket(address, false).unwrap();
    let call = socket.call(address, config, flow, witness);
    let end = hear.recv().unwrap();
    drop((call, receiving));
    (end, seen.iter().collect())
}

#[test]
fn a_door_lets_in_turns_away_or_asks_for_proof() {
    let (end, seen) = admit(|_| accept());
    assert!(end.is_ok(), "{end:?}");
    assert_eq!(seen, [false]);
    let (end, seen) = admit(|incoming| {
        if incoming.may_retry() {
            Verdict::Retry
        } else {
            accept()
        }
    });
    assert!(end.is_ok(), "{end:?}");
    assert_eq!(seen, [false, true]);
    let (end, _) = admit(|_| Verdict::Refuse);
    assert!(
        matches!(end, Err(ConnectionError::ConnectionClosed(_))),
        "{end:?}"
    );
}

/// Strangers get no more data than they sent, and do not disturb others.
#[tokio::test]
async fn garbage_is_survived() {
    let server = bulk::serve(HERE.into()).unwrap();
    let stranger = UdpSocket::bind(HERE).unwrap();
    stranger.connect(server.address()).unwrap();
    let noise = |seed: u8, length: usize| -> Vec<u8> {
        let mut noise = vec![0; length];
        blake3::Hasher::new_keyed(&[seed; 32])
            .finalize_xof()
            .fill(&mut noise);
        noise
    };
    let mut sent = 0;
    for seed in 0..200 {
        for (first, length) in [(0x40, 40), (0x40, 1200), (0xc0, 1200), (0xff, 20), (0, 0)] {
            let mut datagram = noise(seed, length);
            if let Some(byte) = datagram.first_mut() {
                *byte = first | (*byte & 0x0f);
            }
            sent += stranger.send(&datagram).unwrap();
        }
    }
    let flow = bulk::Flow {
        server: server.address(),
        fingerprint: server.fingerprint(),
        controllers: factory(ControllerKind::Bbr1, 1, None),
        payload: bulk::Payload::Synthetic {
            seed: 1,
            bytes: Some(1_000_000),
        },
        deadline: None,
    };
    assert_eq!(bulk::send(flow).await.unwrap().bytes, 1_000_000);
    drop(server);
    assert!(received(&stranger) <= sent);
}

/// An unknown version is answered with the known ones (RFC 9000, "Version Negotiation Packet").
#[test]
fn an_unknown_version_is_answered() {
    let server = bulk::serve(HERE.into()).unwrap();
    let stranger = UdpSocket::bind(HERE).unwrap();
    let limit = Duration::from_secs(30);
    stranger.set_read_timeout(Some(limit)).unwrap();
    let mut datagram = vec![0; 1200];
    // The datagram has a long header, a version, and two connection IDs of eight bytes.
    datagram[..5].copy_from_slice(&[0xc0, 0x1a, 0x1a, 0x1a, 0x1a]);
    (datagram[5], datagram[14]) = (8, 8);
    // The answer would be longer than a datagram that is shorter than a first one.
    for length in [7, 23, 1199] {
        let short = &datagram[..length];
        stranger.send_to(short, server.address()).unwrap();
    }
    stranger.send_to(&datagram, server.address()).unwrap();
    let mut answer = [0; 2000];
    let length = stranger.recv(&mut answer).unwrap();
    assert!(length < 100, "{length}");
    assert_eq!((answer[0] & 0x80, &answer[1..5]), (0x80, &[0; 4][..]));
    drop(server);
    assert_eq!(received(&stranger), 0);
}

/// A thread that is gone is distinguished from a path that lets nothing through.
#[test]
fn a_panic_is_seen() {
    let identity = Identity::generate().unwrap();
    let transport = Arc::new(server::transport());
    let config = endpoint::server_config(&identity, ALPN, transport).unwrap();
    let driver = Driver::start().unwrap();
    let (proven, _) = mpsc::channel();
    let verdict = |_: &Incoming| -> Verdict { panic!("as this test wants") };
    let admission = Box::new(Decider { verdict, proven });
    let configs = (identity.endpoint_config(), config);
    let (address, _) = driver.listen(HERE.into(), configs, admission).unwrap();
    assert!(driver.is_running());
    let (controllers, flow) = paced(factory(ControllerKind::Bbr1, 1, None));
    let transport = Arc::new(endpoint::transport(controllers));
    let config = endpoint::client_config(identity.fingerprint(), ALPN, transport).unwrap();
    let sending = Driver::start().unwrap();
    let witness = Box::new(Witness(mpsc::channel().0));
    let socket = sending.client_socket(address, false).unwrap();
    let call = socket.call(address, config, flow, witness);
    let limit = Instant::now() + Duration::from_secs(60);
    while driver.is_running() && Instant::now() < limit {
        std::thread::sleep(Duration::from_millis(5));
    }
    drop(call);
    assert!(!driver.is_running());
}

/// The number of bytes that wait at a socket.
fn received(socket: &UdpSocket) -> usize {
    socket.set_nonblocking(true).unwrap();
    let mut buffer = [0; 1 << 16];
    let mut sum = 0;
    loop {
        match socket.recv(&mut buffer) {
            Ok(length) => sum += length,
            Err(error) if error.kind() == ErrorKind::WouldBlock => return sum,
            // An error report about a datagram that was sent to a closed server.
            Err(_) => {}
        }
    }
}

/// A first packet with a forged address makes the server send that address at most three times as much data, however
/// long the server tries.
#[test]
fn a_forged_address_gets_three_times_what_was_sent() {
    let server = bulk::serve(HERE.into()).unwrap();
    let middle = UdpSocket::bind(HERE).unwrap();
    let victim = UdpSocket::bind(HERE).unwrap();
    let (controllers, flow) = paced(factory(ControllerKind::Bbr1, 1, None));
    let transport = Arc::new(endpoint::transport(controllers));
    let config = endpoint::client_config(server.fingerprint(), b"fullpipe-bulk/1", transport);
    let driver = Driver::start().unwrap();
    let witness = Box::new(Witness(mpsc::channel().0));
    let to = middle.local_addr().unwrap();
    let socket = driver.client_socket(to, false).unwrap();
    let call = socket.call(to, config.unwrap(), flow, witness);
    let mut datagram = [0; 2000];
    let sent = middle.recv(&mut datagram).unwrap();
    drop(call);
    victim.send_to(&datagram[..sent], server.address()).unwrap();
    std::thread::sleep(Duration::from_secs(2));
    let got = received(&victim);
    assert!(got > 0 && got <= 3 * sent, "{got} of {sent}");
}

/// A relay that changes its port towards the server each time this many datagrams have gone there.
fn moving_relay(server: SocketAddr, moves_after: usize, is_over: Arc<AtomicBool>) -> SocketAddr {
    let front = UdpSocket::bind(HERE).unwrap();
    let address = front.local_addr().unwrap();
    front.set_nonblocking(true).unwrap();
    let open = move || {
        let back = UdpSocket::bind(HERE).unwrap();
        back.set_nonblocking(true).unwrap();
        back
    };
    std::thread::spawn(move || {
        let mut backs = vec![open()];
        let mut client = None;
        let mut count = 0;
        let mut buffer = [0; 1 << 16];
        while !is_over.load(Ordering::Relaxed) {
            let mut is_idle = true;
            while let Ok((length, from)) = front.recv_from(&mut buffer) {
                client = Some(from);
                count += 1;
                if count % moves_after == 0 {
                    backs.push(open());
                }
                let _ = backs.last().unwrap().send_to(&buffer[..length], server);
                is_idle = false;
            }
            for back in &backs {
                while let Ok((length, _)) = back.recv_from(&mut buffer) {
                    let _ = front.send_to(&buffer[..length], client.unwrap());
                    is_idle = false;
                }
            }
            if is_idle {
                std::thread::sleep(Duration::from_micros(200));
            }
        }
    });
    address
}

#[tokio::test]
async fn a_flow_survives_new_ports() {
    let server = bulk::serve(HERE.into()).unwrap();
    let is_over = Arc::new(AtomicBool::new(false));
    let relay = moving_relay(server.address(), 300, is_over.clone());
    let flow = bulk::Flow {
        server: relay,
        fingerprint: server.fingerprint(),
        controllers: factory(ControllerKind::Cubic, 1, None),
        payload: bulk::Payload::Synthetic {
            seed: 1,
            bytes: Some(2_000_000),
        },
        deadline: None,
    };
    let outcome = bulk::send(flow).await;
    is_over.store(true, Ordering::Relaxed);
    assert_eq!(outcome.unwrap().bytes, 2_000_000);
}

/// A server's port is free when the server is gone.
#[test]
fn an_address_is_free_again_after_its_server() {
    let server = bulk::serve(HERE.into()).unwrap();
    let address = server.address();
    assert!(bulk::serve(address).is_err());
    drop(server);
    assert_eq!(bulk::serve(address).unwrap().address(), address);
}

/// An environment without sockets.
struct Nowhere;

impl Environment for Nowhere {
    fn listening(&self, _: SocketAddr, _: &Waker) -> io::Result<Box<dyn DatagramSocket>> {
        Err(ErrorKind::AddrNotAvailable.into())
    }

    fn sending(&self, _: SocketAddr, _: bool, _: &Waker) -> io::Result<Box<dyn DatagramSocket>> {
        Err(ErrorKind::AddrNotAvailable.into())
    }

    fn clock(&self) -> fn() -> Instant {
        Instant::now
    }

    fn drive(&self, _: Worker) -> io::Result<(Waker, Option<JoinHandle<()>>)> {
        Ok((Arc::new(|| {}), None))
    }
}

/// Without its scope, a link-local address cannot be reached.
#[test]
fn a_link_local_address_keeps_its_scope() {
    let driver = Driver::start_on(Arc::new(Nowhere)).unwrap();
    for (given, used) in [
        ("[fe80::1%7]:4433", "[fe80::1%7]:4433"),
        ("[::ffff:192.0.2.1]:4433", "192.0.2.1:4433"),
    ] {
        let error = driver
            .client_socket(given.parse().unwrap(), false)
            .unwrap_err();
        let used: SocketAddr = used.parse().unwrap();
        assert!(
            matches!(error, EndpointError::Bind { address, .. } if address == used),
            "{error}"
        );
    }
}
