//! Our controllers in noq's own endpoint, for programs that have one.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use congestion::ControllerKind;
use noq::{Endpoint, TransportConfig};
use quic::controller::factory;
use quic::endpoint::{self, Identity};
use quic::observer::{Observer, Sample};

const ALPN: &[u8] = b"test";
const BYTES: usize = 3_000_000;

#[derive(Default)]
struct Delivered(AtomicU64);

impl Observer for Delivered {
    fn on_sample(&self, sample: &Sample) {
        let delivered = sample.rate.total_delivered.get();
        self.0.fetch_max(delivered, Ordering::Relaxed);
    }
}

#[tokio::test]
async fn every_controller_carries_a_transfer_of_noqs_endpoint() {
    let here: SocketAddr = (Ipv4Addr::LOCALHOST, 0).into();
    let identity = Identity::generate().unwrap();
    let quiet = Arc::new(TransportConfig::default());
    let config = endpoint::server_config(&identity, ALPN, quiet).unwrap();
    let server = Endpoint::server(config, here).unwrap();
    let client = Endpoint::client(here).unwrap();
    for kind in ControllerKind::ALL {
        let observer = Arc::new(Delivered::default());
        let mut transport = TransportConfig::default();
        transport.congestion_controller_factory(factory(*kind, 1, Some(observer.clone())));
        let config = endpoint::client_config(identity.fingerprint(), ALPN, Arc::new(transport));
        let to = server.local_addr().unwrap();
        let connecting = client.connect_with(config.unwrap(), to, endpoint::SERVER_NAME);
        let send = async {
            let connection = connecting.unwrap().await.unwrap();
            let mut stream = connection.open_uni().await.unwrap();
            stream.write_all(&vec![7; BYTES]).await.unwrap();
            stream.finish().unwrap();
            stream.stopped().await.unwrap();
        };
        let receive = async {
            let connection = server.accept().await.unwrap().await.unwrap();
            let mut stream = connection.accept_uni().await.unwrap();
            let got = stream.read_to_end(BYTES).await.unwrap().len();
            connection.closed().await;
            got
        };
        let ((), got) = tokio::join!(send, receive);
        assert_eq!(got, BYTES, "{kind}");
        let delivered = observer.0.load(Ordering::Relaxed);
        assert!(delivered >= BYTES as u64 * 9 / 10, "{kind}: {delivered}");
    }
}
