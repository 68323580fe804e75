//! The senders: our driver, or noq's own endpoint.

use std::error::Error;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use congestion::Rate;
use quic::bulk::{Flow, Payload, SendingThread};
use quic::controller::{Controllers, factory_with};
use quic::endpoint::{self, Fingerprint, SERVER_NAME, STREAMS};
use tokio::task::{JoinHandle, JoinSet};

use crate::fixed::Fixed;
use crate::observation::{Flows, Late, Observation, Span, Summary};

/// The rate in bits per second.
const RATE: u64 = 1_000_000;

/// The receiver's protocol.
const ALPN: &[u8] = b"fullpipe-bulk/1";

/// Connections that always have more data than they can send.
pub struct Plan {
    pub server: SocketAddr,
    pub fingerprint: Fingerprint,
    pub connections: u32,
    /// The time between the starts of two connections.
    pub gap: Duration,
    pub span: Span,
}

impl Plan {
    fn watch(&self, flows: &Arc<Flows>) -> JoinHandle<(Duration, Late)> {
        let (span, flows) = (self.span, flows.clone());
        tokio::spawn(async move { span.watch(&flows).await })
    }

    fn seen(&self) -> Vec<Arc<Observation>> {
        let seen = || Arc::new(Observation::new(self.span));
        std::iter::repeat_with(seen)
            .take(self.connections as usize)
            .collect()
    }

    /// Returns so much data that no connection reaches the end of a stripe. All connections share it.
    fn data(&self) -> Bytes {
        let span = self.span.end.saturating_duration_since(Instant::now());
        let bytes = RATE / 8 * (span.as_secs() + 2) * u64::from(STREAMS);
        vec![7; bytes as usize].into()
    }
}

fn controllers(seen: &Arc<Observation>) -> Arc<dyn Controllers> {
    let rate = Rate::from_bits_per_sec(RATE);
    let make = move |connection| Fixed::new(rate, connection);
    factory_with(make, 1, Some(seen.clone()))
}

/// All connections from our driver.
pub async fn ours(plan: &Plan) -> Result<Summary, Box<dyn Error>> {
    let told = Arc::new(Flows::default());
    let watching = plan.watch(&told);
    let socket = SendingThread::start()?.socket(plan.server, false)?;
    let (seen, data) = (plan.seen(), plan.data());
    let mut flows = JoinSet::new();
    for seen in &seen {
        let flow = Flow {
            server: plan.server,
            fingerprint: plan.fingerprint,
            controllers: controllers(seen),
            payload: Payload::Given(data.clone()),
            deadline: Some(plan.span.end.saturating_duration_since(Instant::now())),
        };
        let (socket, told) = (socket.clone(), told.clone());
        let watch = move |flow| told.lock().unwrap().push(flow);
        flows.spawn(async move { socket.send_watched(flow, watch).await });
        tokio::time::sleep(plan.gap).await;
    }
    let watched = watching.await?;
    while let Some(outcome) = flows.join_next().await {
        outcome??;
    }
    Ok(Summary::new(&seen, RATE as f64, watched, plan.span))
}

/// All connections from one noq endpoint.
pub async fn noqs(plan: &Plan) -> Result<Summary, Box<dyn Error>> {
    let watching = plan.watch(&Arc::default());
    let client = noq::Endpoint::client((Ipv4Addr::UNSPECIFIED, 0).into())?;
    let (seen, data) = (plan.seen(), plan.data());
    let mut flows: JoinSet<Result<(), Box<dyn Error + Send + Sync>>> = JoinSet::new();
    for seen in &seen {
        let transport = Arc::new(endpoint::transport(controllers(seen)));
        let config = endpoint::client_config(plan.fingerprint, ALPN, transport)?;
        let connecting = client.connect_with(config, plan.server, SERVER_NAME)?;
        let data = data.clone();
        flows.spawn(async move {
            let connection = connecting.await?;
            // It does as our flows, which write to one stream until it takes no more.
            let (mut stream, _answer) = connection.open_bi().await?;
            stream.write_chunk(data).await?;
            // It ends when all connections end.
            connection.closed().await;
            Ok(())
        });
        tokio::time::sleep(plan.gap).await;
    }
    let watched = watching.await?;
    client.close(0u32.into(), b"");
    flows.shutdown().await;
    Ok(Summary::new(&seen, RATE as f64, watched, plan.span))
}
