//! Bulk goodput over loopback, without a path: our driver against noq's own endpoint, each with `bbr1`, our CUBIC and
//! noq's own CUBIC.
//!
//! `cargo bench -p fullpipe-quic --bench loopback [-- RUNS [MEGABYTES]]`: all take turns in one process, so that other
//! work on the machine affects all. They send to the same receiver, and search the path MTU up to the same size, which
//! is printed.

use std::error::Error;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use congestion::ControllerKind;
use futures_util::future::try_join_all;
use noq::congestion::CubicConfig;
use quic::bulk::{Flow, Payload, Server, send, serve};
use quic::controller::{Controllers, factory};
use quic::endpoint::{self, SERVER_NAME, STREAMS};

/// The receiver's protocol.
const ALPN: &[u8] = b"fullpipe-bulk/1";

fn main() -> Result<(), Box<dyn Error>> {
    let numbers: Vec<usize> = std::env::args()
        .filter_map(|arg| arg.parse().ok())
        .collect();
    let runs = numbers.first().copied().unwrap_or(11).max(1);
    let megabytes = numbers.get(1).copied().unwrap_or(256).max(1);
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?
        .block_on(race(runs, megabytes))
}

/// The sender under test.
#[derive(Clone, Copy)]
enum Mover {
    Noq,
    Ours,
}

/// A transfer's goodput in Mbit/s, and the size of its datagrams.
type Measured = (f64, u16);

async fn race(runs: usize, megabytes: usize) -> Result<(), Box<dyn Error>> {
    let server = serve((Ipv4Addr::LOCALHOST, 0).into())?;
    let data = Bytes::from(vec![7; megabytes * 1_000_000]);
    let controllers = ["noq's cubic", "cubic", "bbr1"];
    let rows = controllers.map(|name| [(name, Mover::Noq), (name, Mover::Ours)]);
    let rows = rows.as_flattened();
    let mut seen = vec![Vec::new(); rows.len()];
    // The first round warms up and is not counted.
    for run in 0..=runs {
        for ((name, mover), seen) in rows.iter().zip(&mut seen) {
            let controllers: Arc<dyn Controllers> = match *name {
                "bbr1" => factory(ControllerKind::Bbr1, run as u64, None),
                "cubic" => factory(ControllerKind::Cubic, run as u64, None),
                _ => Arc::new(CubicConfig::default()),
            };
            let one = match mover {
                Mover::Noq => noqs(&server, controllers, data.clone()).await?,
                Mover::Ours => ours(&server, controllers, data.clone()).await?,
            };
            if run > 0 {
                seen.push(one);
            }
        }
    }
    println!("{runs} runs of {megabytes} MB over loopback, goodput in Mbit/s");
    println!("                            median    least     most  ratio  datagrams");
    let mut noqs_median = 0.0;
    for ((name, mover), mut seen) in rows.iter().zip(seen) {
        seen.sort_by(|one, other| one.0.total_cmp(&other.0));
        let (median, size) = seen[seen.len() / 2];
        let (least, most) = (seen[0].0, seen[seen.len() - 1].0);
        let mover = match mover {
            Mover::Noq => {
                noqs_median = median;
                "noq's endpoint"
            }
            Mover::Ours => "our driver",
        };
        let ratio = median / noqs_median;
        println!(
            "{name:<12}{mover:<15}{median:7.0}  {least:7.0}  {most:7.0}  {ratio:5.3}  {size:5} B"
        );
    }
    Ok(())
}

/// A transfer by our driver.
async fn ours(
    server: &Server,
    controllers: Arc<dyn Controllers>,
    data: Bytes,
) -> Result<Measured, Box<dyn Error>> {
    let outcome = send(Flow {
        server: server.address(),
        fingerprint: server.fingerprint(),
        controllers,
        payload: Payload::Given(data),
        deadline: None,
    })
    .await?;
    Ok((outcome.goodput_bps() / 1e6, outcome.stats.datagram_size))
}

/// The same transfer by noq's endpoint.
async fn noqs(
    server: &Server,
    controllers: Arc<dyn Controllers>,
    data: Bytes,
) -> Result<Measured, Box<dyn Error>> {
    let start = Instant::now();
    let local: SocketAddr = (Ipv4Addr::UNSPECIFIED, 0).into();
    let client = noq::Endpoint::client(local)?;
    let mut transport = endpoint::transport(controllers);
    // Our flows write to one stream at a time, too.
    transport.send_fairness(false);
    let config = endpoint::client_config(server.fingerprint(), ALPN, Arc::new(transport))?;
    let connection = client
        .connect_with(config, server.address(), SERVER_NAME)?
        .await?;
    let part = data.len().div_ceil(STREAMS as usize);
    let parts = (0..data.len()).step_by(part);
    let stripes = parts.map(|begin| data.slice(begin..data.len().min(begin + part)));
    try_join_all(stripes.map(|stripe| transfer(&connection, stripe))).await?;
    let goodput = data.len() as f64 * 8.0 / start.elapsed().as_secs_f64();
    let stats = connection.path_stats(noq::PathId::ZERO);
    let size = stats.ok_or("no path")?.current_mtu;
    connection.close(0u32.into(), b"");
    Ok((goodput / 1e6, size))
}

/// Sends a stripe, and waits until the receiver says that it has arrived.
async fn transfer(connection: &noq::Connection, stripe: Bytes) -> Result<(), Box<dyn Error>> {
    let (mut stream, mut answer) = connection.open_bi().await?;
    stream.write_chunk(stripe).await?;
    stream.finish()?;
    answer.read_to_end(1_000).await?;
    Ok(())
}
