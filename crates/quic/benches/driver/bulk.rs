//! One connection, as fast as it goes. Both stacks do the same: sixteen streams of zeros, which the receiver counts. The
//! datagrams are equally large.

use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use congestion::ControllerKind;
use futures_util::future::try_join_all;
use noq::EndpointConfig;
use noq::congestion::CubicConfig;
use quic::controller::{Controllers, factory};
use quic::driver;
use quic::endpoint::{self, Fingerprint, Identity, STREAMS, Udp};

use super::{Failure, processor_time, spread};

const ALPN: &[u8] = b"bench";

/// What a stream carries, a piece at a time.
const PIECES: u64 = 512;
static PIECE: [u8; 64 << 10] = [0; 64 << 10];

const BYTES: u64 = PIECES * PIECE.len() as u64 * STREAMS as u64;

pub async fn race(runs: usize) -> Result<(), Failure> {
    let identity = Identity::generate()?;
    let here: SocketAddr = (Ipv4Addr::LOCALHOST, 0).into();
    let quiet = || Arc::new(endpoint::transport(Arc::new(CubicConfig::default())));

    let config = endpoint::server_config(&identity, ALPN, quiet())?;
    let noq = endpoint::bind(&Udp, here, Some((config, &identity)))?;
    let noq_address = noq.local_addr()?;
    tokio::spawn(count_noq(noq));

    let accepts = driver::Accepts {
        config: endpoint::server_config(&identity, ALPN, quiet())?,
        controllers: Arc::new(CubicConfig::default()),
    };
    let socket = UdpSocket::bind(here)?;
    let ours = driver::Endpoint::new(socket, EndpointConfig::default(), Some(accepts), true)?;
    let our_address = ours.local_addr();
    tokio::spawn(count_ours(ours));

    let names = [
        "noq, its cubic",
        "noq, bbr1",
        "ours, its cubic",
        "ours, bbr1",
    ];
    let mut goodputs = names.map(|_| Vec::new());
    let mut costs = names.map(|_| Vec::new());
    // The first round warms up and is not counted.
    for run in 0..=runs {
        for (place, name) in names.iter().enumerate() {
            let controllers: Arc<dyn Controllers> = if name.ends_with("bbr1") {
                factory(ControllerKind::Bbr1, run as u64, None)
            } else {
                Arc::new(CubicConfig::default())
            };
            let (start, used) = (Instant::now(), processor_time());
            if name.starts_with("noq") {
                send_noq(noq_address, identity.fingerprint(), controllers).await?;
            } else {
                send_ours(our_address, identity.fingerprint(), controllers).await?;
            }
            if run > 0 {
                let seconds = start.elapsed().as_secs_f64();
                goodputs[place].push(BYTES as f64 * 8.0 / seconds / 1e6);
                let used = processor_time().saturating_sub(used).as_secs_f64();
                costs[place].push(used / (BYTES as f64 / 1e9));
            }
        }
    }
    println!("bulk: {runs} runs of {BYTES} bytes over loopback");
    let noq = goodputs.each_ref().map(|all| spread(all.clone()).0);
    for (place, name) in names.iter().enumerate() {
        let (median, least, most) = spread(goodputs[place].clone());
        let (cost, ..) = spread(costs[place].clone());
        println!(
            "{name:<16} median {median:6.0} Mbit/s  min {least:6.0}  max {most:6.0}  ratio {:.2}  {cost:.2} s of processor time/GB",
            median / noq[place % 2],
        );
    }
    Ok(())
}

async fn send_noq(
    to: SocketAddr,
    fingerprint: Fingerprint,
    controllers: Arc<dyn Controllers>,
) -> Result<(), Failure> {
    let sockets = Arc::new(Udp);
    let client =
        endpoint::Client::new(sockets, fingerprint, ALPN, controllers, endpoint::transport)?;
    let (_endpoint, connecting) = client.connect(to)?;
    let connection = connecting.await?;
    let carry = || async {
        let (mut to, mut from) = connection.open_bi().await?;
        for _ in 0..PIECES {
            to.write_chunk(Bytes::from_static(&PIECE)).await?;
        }
        to.finish()?;
        from.read_exact(&mut [0]).await?;
        Ok::<_, Failure>(())
    };
    try_join_all((0..STREAMS).map(|_| carry())).await?;
    connection.close(0u32.into(), b"");
    Ok(())
}

async fn count_noq(endpoint: noq::Endpoint) {
    while let Some(incoming) = endpoint.accept().await {
        tokio::spawn(async move {
            let connection = incoming.await.ok()?;
            while let Ok((mut to, mut from)) = connection.accept_bi().await {
                tokio::spawn(async move {
                    while let Ok(Some(_)) = from.read_chunk(PIECE.len()).await {}
                    to.write_all(&[1]).await.ok()
                });
            }
            Some(())
        });
    }
}

async fn send_ours(
    to: SocketAddr,
    fingerprint: Fingerprint,
    controllers: Arc<dyn Controllers>,
) -> Result<(), Failure> {
    let client = driver::Client::new(fingerprint, ALPN, controllers, endpoint::transport)?;
    let (_endpoint, connecting) = client.connect(to)?;
    let connection = connecting.await?;
    let carry = || async {
        let (mut to, mut from) = connection.open_bi().await?;
        for _ in 0..PIECES {
            to.write_chunk(Bytes::from_static(&PIECE)).await?;
        }
        to.finish()?;
        from.read_exact(&mut [0]).await?;
        Ok::<_, Failure>(())
    };
    try_join_all((0..STREAMS).map(|_| carry())).await?;
    connection.close(0u32.into(), b"");
    Ok(())
}

async fn count_ours(endpoint: driver::Endpoint) {
    while let Some(incoming) = endpoint.accept().await {
        tokio::spawn(async move {
            let connection = incoming.await.ok()?;
            while let Ok((mut to, mut from)) = connection.accept_bi().await {
                tokio::spawn(async move {
                    while let Ok(Some(_)) = from.read_chunk(PIECE.len()).await {}
                    to.write_all(&[1]).await.ok()
                });
            }
            Some(())
        });
    }
}
