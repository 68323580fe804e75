//! A thousand connections over one socket, each paced by its controller.

use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use congestion::{
    Ack, Connection, Controller, Lost, Phase, Rate, Recovery, Sent, Snapshot, State, Time,
};
use futures_util::future::try_join_all;
use noq::{EndpointConfig, TransportConfig};
use quic::controller::{Controllers, factory_with};
use quic::driver;
use quic::endpoint::{self, Identity, SERVER_NAME, Udp};

use super::{Failure, processor_time, spread};

const ALPN: &[u8] = b"bench";
const CONNECTIONS: usize = 1000;
const LASTS: Duration = Duration::from_secs(8);
static PIECE: [u8; 16 << 10] = [0; 16 << 10];

/// When packets left, of one connection.
type Log = Arc<Mutex<Vec<(Time, u64)>>>;

/// A window and a rate that nothing changes.
#[derive(Debug, Clone)]
struct Fixed {
    rate: Rate,
    mss: congestion::Bytes,
    log: Log,
}

impl Controller for Fixed {
    fn on_packet_sent(&mut self, sent: &Sent) {
        if let Ok(mut log) = self.log.lock() {
            log.push((sent.now, sent.bytes.get()));
        }
    }

    fn on_idle_restart(&mut self, _: Time) {}

    fn on_packet_lost(&mut self, _: &Lost) {}

    fn on_recovery(&mut self, _: Time, _: Recovery, _: congestion::Bytes) {}

    fn on_ack(&mut self, _: &Ack) {}

    fn on_timeout(&mut self, _: Time, _: congestion::Bytes) {}

    fn on_mtu_change(&mut self, mss: congestion::Bytes) {
        self.mss = mss;
    }

    fn cwnd(&self) -> congestion::Bytes {
        congestion::Bytes::new(64 << 10)
    }

    fn pacing_rate(&self) -> Rate {
        self.rate
    }

    fn send_quantum(&self) -> congestion::Bytes {
        self.mss
    }

    fn snapshot(&self) -> Snapshot {
        let state = State {
            name: "Fixed",
            phase: Phase::Avoidance,
        };
        Snapshot::new("fixed", state, self.cwnd(), self.rate)
    }
}

fn fixed(rate: Rate, logs: &Arc<Mutex<Vec<Log>>>) -> Arc<dyn Controllers> {
    let logs = logs.clone();
    let make = move |connection: Connection| {
        let log = Log::default();
        if let Ok(mut logs) = logs.lock() {
            logs.push(log.clone());
        }
        Fixed {
            rate,
            mss: connection.mss,
            log,
        }
    };
    factory_with(make, 1, None)
}

/// No connection holds more than it has in flight, and a little.
fn transport(controllers: Arc<dyn Controllers>) -> TransportConfig {
    let mut transport = endpoint::transport(controllers);
    transport.send_window(128 << 10).mtu_discovery_config(None);
    transport
}

/// `kbit` is what each sends in a second.
pub async fn race(runs: usize, kbit: usize) -> Result<(), Failure> {
    let rate = Rate::from_bits_per_sec(kbit as u64 * 1000);
    println!(
        "paced: {CONNECTIONS} connections at {rate} over one socket, {runs} runs of {LASTS:?}"
    );
    for _ in 0..runs {
        for name in ["noq", "ours"] {
            let logs = Arc::default();
            let used = match name {
                "noq" => noq(rate, &logs).await?,
                _ => ours(rate, &logs).await?,
            };
            report(name, rate, &logs, used);
        }
    }
    Ok(())
}

/// A receiver that discards what comes, the same for both.
fn receiver(identity: &Identity) -> Result<driver::Endpoint, Failure> {
    let quiet: Arc<dyn Controllers> = Arc::new(noq::congestion::CubicConfig::default());
    let config =
        endpoint::server_config(identity, ALPN, Arc::new(endpoint::transport(quiet.clone())))?;
    let accepts = driver::Accepts {
        config,
        controllers: quiet,
    };
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
    let endpoint = driver::Endpoint::new(socket, EndpointConfig::default(), Some(accepts), true)?;
    let acceptor = endpoint.clone();
    tokio::spawn(async move {
        while let Some(incoming) = acceptor.accept().await {
            tokio::spawn(async move {
                let connection = incoming.await.ok()?;
                let mut from = connection.accept_uni().await.ok()?;
                while let Ok(Some(_)) = from.read_chunk(1 << 16).await {}
                Some(())
            });
        }
    });
    Ok(endpoint)
}

async fn ours(rate: Rate, logs: &Arc<Mutex<Vec<Log>>>) -> Result<Duration, Failure> {
    let identity = Identity::generate()?;
    let receiver = receiver(&identity)?;
    let client = driver::Client::new(identity.fingerprint(), ALPN, fixed(rate, logs), transport)?;
    let endpoint = client.endpoint(receiver.local_addr())?;
    let mut connections = Vec::new();
    for _ in 0..CONNECTIONS {
        connections.push(
            client
                .connect_from(&endpoint, receiver.local_addr())?
                .await?,
        );
    }
    forget(logs);
    let used = processor_time();
    let flows = connections.iter().map(|connection| async {
        let mut to = connection.open_uni().await?;
        loop {
            to.write_chunk(Bytes::from_static(&PIECE)).await?;
        }
        #[expect(unreachable_code, reason = "says of which type errors are")]
        Ok::<(), Failure>(())
    });
    // Until the time is over.
    let over = tokio::time::timeout(LASTS, try_join_all(flows)).await;
    over.map_or(Ok(()), |ended| ended.map(drop))?;
    let used = processor_time().saturating_sub(used);
    endpoint.close(0u32.into(), b"");
    receiver.close(0u32.into(), b"");
    Ok(used)
}

async fn noq(rate: Rate, logs: &Arc<Mutex<Vec<Log>>>) -> Result<Duration, Failure> {
    let identity = Identity::generate()?;
    let receiver = receiver(&identity)?;
    let config = endpoint::client_config(
        identity.fingerprint(),
        ALPN,
        Arc::new(transport(fixed(rate, logs))),
    )?;
    let any: SocketAddr = (Ipv4Addr::UNSPECIFIED, 0).into();
    let endpoint = endpoint::bind(&Udp, any, None)?;
    let mut connections = Vec::new();
    for _ in 0..CONNECTIONS {
        let connecting =
            endpoint.connect_with(config.clone(), receiver.local_addr(), SERVER_NAME)?;
        connections.push(connecting.await?);
    }
    forget(logs);
    let used = processor_time();
    let flows = connections.iter().map(|connection| async {
        let mut to = connection.open_uni().await?;
        loop {
            to.write_chunk(Bytes::from_static(&PIECE)).await?;
        }
        #[expect(unreachable_code, reason = "says of which type errors are")]
        Ok::<(), Failure>(())
    });
    let over = tokio::time::timeout(LASTS, try_join_all(flows)).await;
    over.map_or(Ok(()), |ended| ended.map(drop))?;
    let used = processor_time().saturating_sub(used);
    endpoint.close(0u32.into(), b"");
    receiver.close(0u32.into(), b"");
    Ok(used)
}

/// The handshakes are not what is measured.
fn forget(logs: &Mutex<Vec<Log>>) {
    for log in logs.lock().iter().flat_map(|logs| logs.iter()) {
        if let Ok(mut log) = log.lock() {
            log.clear();
        }
    }
}

/// How much a connection was off its rate, and how late each packet left: after the time at which it was due by the packet
/// before it, where no more than half a packet's time is made up.
fn report(name: &str, rate: Rate, logs: &Mutex<Vec<Log>>, used: Duration) {
    let (mut errors, mut late) = (Vec::new(), Vec::new());
    for log in logs.lock().iter().flat_map(|logs| logs.iter()) {
        let Ok(log) = log.lock() else { continue };
        // The first second is the start's.
        let Some(start) = log.first().map(|(at, _)| at.as_nanos() + 1_000_000_000) else {
            continue;
        };
        let steady = log.iter().filter(|(at, _)| at.as_nanos() >= start);
        let steady: Vec<(u64, u64)> = steady.map(|(at, bytes)| (at.as_nanos(), *bytes)).collect();
        let (Some(first), Some(last)) = (steady.first(), steady.last()) else {
            continue;
        };
        let bytes: u64 = steady.iter().map(|(_, bytes)| bytes).sum::<u64>() - last.1;
        let due = bytes as f64 / rate.bytes_per_sec() as f64 * 1e9;
        errors.push((due / (last.0 - first.0).max(1) as f64 - 1.0).abs() * 100.0);
        let mut next = first.0;
        for (at, bytes) in steady {
            late.push(at.saturating_sub(next) as f64 / 1e6);
            let takes = bytes * 1_000_000_000 / rate.bytes_per_sec();
            next = next.max(at.saturating_sub(takes / 2)) + takes;
        }
    }
    late.sort_by(f64::total_cmp);
    let quantile = |q: f64| late.get((late.len() as f64 * q) as usize).copied();
    let (p50, p99) = (quantile(0.5).unwrap_or(0.0), quantile(0.99).unwrap_or(0.0));
    let within = errors.iter().filter(|error| **error <= 2.0).count();
    let (error, _, worst) = spread(errors.clone());
    println!(
        "{name:<5} rate error median {error:.2} % worst {worst:.2} %, {within} of {} within 2 %; late p50 {p50:.3} ms p99 {p99:.3} ms; {:.2} s of processor time in {LASTS:?}",
        errors.len(),
        used.as_secs_f64(),
    );
}
