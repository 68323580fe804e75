//! Bulk flows over real sockets.

use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use congestion::{AnyController, ControllerKind};
use quic::bulk::{BulkError, Flow, Payload, SendingThread, Server, send, serve};
use quic::controller::{factory, factory_with};
use quic::endpoint::{self, Fingerprint, Identity};
use quic::observer::{Observer, Sample};

#[derive(Default)]
struct Last(Mutex<Option<Sample>>);

impl Observer for Last {
    fn on_sample(&self, sample: &Sample) {
        *self.0.lock().unwrap() = Some(*sample);
    }
}

fn flow(server: &Server, kind: ControllerKind, payload: Payload) -> Flow {
    Flow {
        server: server.address(),
        fingerprint: server.fingerprint(),
        controllers: factory(kind, 1, None),
        payload,
        deadline: None,
    }
}

fn noise(bytes: u64) -> Payload {
    Payload::Synthetic {
        seed: 1,
        bytes: Some(bytes),
    }
}

#[tokio::test]
async fn a_payload_arrives_whole() {
    let server = serve((Ipv4Addr::LOCALHOST, 0).into()).unwrap();
    let given = Payload::Given(Bytes::from(vec![7; 1_234_567]));
    for kind in ControllerKind::ALL {
        for payload in [given.clone(), noise(1_234_567)] {
            let last = Arc::new(Last::default());
            let flow = Flow {
                controllers: factory(*kind, 1, Some(last.clone())),
                ..flow(&server, *kind, payload)
            };
            let outcome = send(flow).await.unwrap();
            assert_eq!(outcome.bytes, 1_234_567);
            assert!(outcome.is_complete);
            assert!(outcome.handshake <= outcome.elapsed);
            assert!(outcome.stats.udp_bytes > 1_234_567);
            assert!(outcome.stats.packets_sent >= outcome.stats.udp_datagrams);
            assert!(outcome.stats.bytes_sent <= outcome.stats.udp_bytes);
            let last = last.0.lock().unwrap().expect("no sample");
            assert_eq!(last.snapshot.controller, kind.name());
            assert!(last.sent.get() >= 1_234_567);
            assert!(last.rate.total_delivered <= last.sent);
        }
    }
}

#[tokio::test]
async fn an_empty_payload_arrives_too() {
    let server = serve((Ipv6Addr::LOCALHOST, 0).into()).unwrap();
    let outcome = send(flow(&server, ControllerKind::Bbr1, noise(0)))
        .await
        .unwrap();
    assert_eq!((outcome.bytes, outcome.is_complete), (0, true));
}

#[tokio::test]
async fn a_deadline_cuts_off() {
    let server = serve((Ipv4Addr::LOCALHOST, 0).into()).unwrap();
    let deadline = Duration::from_secs(1);
    let endless = Payload::Synthetic {
        seed: 2,
        bytes: None,
    };
    let outcome = send(Flow {
        deadline: Some(deadline),
        ..flow(&server, ControllerKind::Bbr1, endless.clone())
    })
    .await
    .unwrap();
    assert!(outcome.bytes > 0);
    assert!(!outcome.is_complete);
    assert_eq!(outcome.elapsed, deadline);
    let error = send(flow(&server, ControllerKind::Bbr1, endless))
        .await
        .unwrap_err();
    assert!(matches!(error, BulkError::Endless), "{error}");
}

#[tokio::test]
async fn many_flows_at_once() {
    let server = serve((Ipv4Addr::LOCALHOST, 0).into()).unwrap();
    let flows: Vec<_> = (0..20)
        .map(|i| {
            tokio::spawn(send(flow(
                &server,
                ControllerKind::ALL[i % 3],
                noise(100_000 + i as u64),
            )))
        })
        .collect();
    for (i, flow) in flows.into_iter().enumerate() {
        assert_eq!(flow.await.unwrap().unwrap().bytes, 100_000 + i as u64);
    }
}

#[tokio::test]
async fn flows_share_a_socket() {
    let server = serve((Ipv4Addr::LOCALHOST, 0).into()).unwrap();
    let thread = SendingThread::start().unwrap();
    let socket = thread.socket(server.address(), false).unwrap();
    let mut flows = tokio::task::JoinSet::new();
    for bytes in 100_000..100_020 {
        let flow = flow(&server, ControllerKind::Bbr1, noise(bytes));
        let socket = socket.clone();
        flows.spawn(async move { (bytes, socket.send_watched(flow, |_| {}).await) });
    }
    drop((thread, socket));
    while let Some(flow) = flows.join_next().await {
        let (bytes, outcome) = flow.unwrap();
        assert_eq!(outcome.unwrap().bytes, bytes);
    }
}

#[tokio::test]
async fn another_certificate_is_refused() {
    let server = serve((Ipv4Addr::LOCALHOST, 0).into()).unwrap();
    let error = send(Flow {
        fingerprint: Fingerprint::from_bytes([0; 32]),
        ..flow(&server, ControllerKind::Bbr1, noise(1000))
    })
    .await
    .unwrap_err();
    assert!(matches!(error, BulkError::Connection(_)), "{error}");
}

/// A dropped flow closes its connection. The server continues with others, and keeps nothing.
#[tokio::test]
async fn a_dropped_flow_is_over() {
    let server = serve((Ipv4Addr::LOCALHOST, 0).into()).unwrap();
    let (started, mut start) = tokio::sync::mpsc::unbounded_channel();
    let endless = Flow {
        // The controller is made with the connection.
        controllers: factory_with(
            move |connection| {
                let _ = started.send(());
                AnyController::new(ControllerKind::Bbr1, connection)
            },
            1,
            None,
        ),
        deadline: Some(Duration::from_secs(3600)),
        ..flow(&server, ControllerKind::Bbr1, noise(u64::MAX))
    };
    let task = tokio::spawn(send(endless));
    start.recv().await.unwrap();
    task.abort();
    assert!(task.await.unwrap_err().is_cancelled());
    assert!(start.recv().await.is_none());
    let outcome = send(flow(&server, ControllerKind::Bbr1, noise(1000)))
        .await
        .unwrap();
    assert_eq!(outcome.bytes, 1000);
}

#[tokio::test]
async fn a_server_that_stops_ends_its_flows() {
    let server = serve((Ipv4Addr::LOCALHOST, 0).into()).unwrap();
    let endless = Flow {
        deadline: Some(Duration::from_secs(3600)),
        ..flow(&server, ControllerKind::Bbr1, noise(u64::MAX))
    };
    let task = tokio::spawn(send(endless));
    tokio::time::sleep(Duration::from_millis(100)).await;
    drop(server);
    let error = task.await.unwrap().unwrap_err();
    assert!(
        matches!(error, BulkError::Write(_) | BulkError::Connection(_)),
        "{error}"
    );
}

/// The system sends nothing to a broadcast address without a request.
#[tokio::test]
async fn packets_that_cannot_be_sent_are_an_error_that_says_so() {
    let server = serve((Ipv4Addr::LOCALHOST, 0).into()).unwrap();
    let error = send(Flow {
        server: (Ipv4Addr::BROADCAST, 9).into(),
        deadline: Some(Duration::from_millis(100)),
        ..flow(&server, ControllerKind::Bbr1, noise(1000))
    })
    .await
    .unwrap_err();
    assert!(matches!(error, BulkError::Unsent(_)), "{error}");
}

/// The lateness of datagrams is known after a flow is dropped.
#[tokio::test]
async fn the_lateness_of_a_dropped_flow_is_known() {
    let server = serve((Ipv4Addr::LOCALHOST, 0).into()).unwrap();
    let (told, hear) = tokio::sync::oneshot::channel();
    let flow = flow(&server, ControllerKind::Bbr1, noise(u64::MAX));
    let thread = SendingThread::start().unwrap();
    let task = tokio::spawn(async move {
        let watch = |punctuality| told.send(punctuality).unwrap();
        thread.send_watched(flow, watch).await
    });
    let punctuality = hear.await.unwrap();
    while punctuality.lateness().datagrams < 100 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    task.abort();
    assert!(task.await.unwrap_err().is_cancelled());
    assert!(punctuality.lateness().datagrams >= 100);
}

/// A receiver that reports on each stream that this many bytes have arrived.
fn liar(bytes: u64, is_complete: bool) -> (std::net::SocketAddr, Fingerprint) {
    let identity = Identity::generate().unwrap();
    let transport = Arc::new(noq::TransportConfig::default());
    let config = endpoint::server_config(&identity, b"fullpipe-bulk/1", transport).unwrap();
    let endpoint = noq::Endpoint::server(config, (Ipv4Addr::LOCALHOST, 0).into()).unwrap();
    let address = endpoint.local_addr().unwrap();
    tokio::spawn(async move {
        while let Some(incoming) = endpoint.accept().await {
            let connection = incoming.await.unwrap();
            while let Ok((mut to, mut from)) = connection.accept_bi().await {
                tokio::spawn(async move {
                    let _ = from.read_to_end(usize::MAX).await;
                    let mut report = [0; 41];
                    report[..8].copy_from_slice(&bytes.to_be_bytes());
                    report[8] = is_complete.into();
                    let _ = to.write_all(&report).await;
                    let _ = to.finish();
                    let _ = to.stopped().await;
                });
            }
        }
    });
    (address, identity.fingerprint())
}

/// A report cannot make its sender hash data that it never sent, or accept a part as everything.
#[tokio::test]
async fn a_report_that_cannot_be_true_is_refused() {
    for (bytes, is_complete) in [(u64::MAX / 16, false), (u64::MAX, false), (0, true)] {
        let (address, fingerprint) = liar(bytes, is_complete);
        let flow = Flow {
            server: address,
            fingerprint,
            controllers: factory(ControllerKind::Bbr1, 1, None),
            payload: noise(100_000),
            deadline: None,
        };
        let error = send(flow).await.unwrap_err();
        assert!(matches!(error, BulkError::Report), "{bytes}: {error}");
    }
}
