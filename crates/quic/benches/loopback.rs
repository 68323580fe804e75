//! Bulk goodput over loopback, without a path: `bbr1` in noq against noq's own CUBIC.
//!
//! `cargo bench -p fullpipe-quic --bench loopback [-- RUNS [MEGABYTES]]`: the controllers take turns, in one process, so
//! that whatever else the machine does meets both.

use std::error::Error;
use std::net::Ipv4Addr;
use std::sync::Arc;

use congestion::ControllerKind;
use noq::congestion::CubicConfig;
use quic::bulk::{Flow, Payload, send, serve};
use quic::controller::{Controllers, factory};

type Factory = Arc<dyn Controllers>;

fn main() -> Result<(), Box<dyn Error>> {
    let numbers: Vec<u64> = std::env::args()
        .filter_map(|arg| arg.parse().ok())
        .collect();
    let runs = numbers.first().copied().unwrap_or(11).max(1);
    let megabytes = numbers.get(1).copied().unwrap_or(256);
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?
        .block_on(race(runs, megabytes))
}

async fn race(runs: u64, megabytes: u64) -> Result<(), Box<dyn Error>> {
    let server = serve((Ipv4Addr::LOCALHOST, 0).into())?;
    let names = ["noq's cubic", "bbr1", "cubic"];
    let mut goodputs = names.map(|_| Vec::new());
    // The first round warms up and is not counted.
    for run in 0..=runs {
        for (name, goodputs) in names.iter().zip(&mut goodputs) {
            let controllers: Factory = match *name {
                "bbr1" => factory(ControllerKind::Bbr1, run, None),
                "cubic" => factory(ControllerKind::Cubic, run, None),
                _ => Arc::new(CubicConfig::default()),
            };
            let outcome = send(Flow {
                server: server.address(),
                fingerprint: server.fingerprint(),
                controllers,
                payload: Payload::Synthetic {
                    seed: run,
                    bytes: Some(megabytes * 1_000_000),
                },
                deadline: None,
            })
            .await?;
            if run > 0 {
                goodputs.push(outcome.goodput_bps() / 1e6);
            }
        }
    }
    println!("{runs} runs of {megabytes} MB over loopback, goodput in Mbit/s");
    let medians = goodputs.map(|mut goodputs| {
        goodputs.sort_by(f64::total_cmp);
        (
            goodputs[goodputs.len() / 2],
            goodputs[0],
            goodputs[goodputs.len() - 1],
        )
    });
    for (name, (median, least, most)) in names.iter().zip(medians) {
        let ratio = median / medians[0].0;
        println!(
            "{name:<12} median {median:7.0}  min {least:7.0}  max {most:7.0}  ratio {ratio:.3}"
        );
    }
    Ok(())
}
