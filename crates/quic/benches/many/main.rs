//! Compares our driver and noq's own endpoint: many connections over one socket, each paced at 1 Mbit/s.
//!
//! `cargo bench -p fullpipe-quic --bench many [-- CONNECTIONS [SECONDS [ROUNDS]]]`: the two take turns. The receiver is
//! a separate process, so that the processor time is the sender's. Both search the path MTU, up to 1,452 bytes. The columns:
//! connections whose rate is within 2 % of 1 Mbit/s; the lowest, median and highest rate as a share of it; datagrams that
//! left more than a millisecond late, and the mean lateness (noq does not report either); the sender's processor time, in
//! all and for each packet; the mean size of a packet.

mod fixed;
mod observation;
mod process;
mod senders;

use std::error::Error;
use std::time::Duration;

use observation::{Span, Summary};
use process::Receiver;
use senders::Plan;

/// The time between the starts of two connections: a handshake takes a thousand times as long as a datagram.
const GAP: Duration = Duration::from_millis(2);

/// The time between the start of the last connection and the measurement.
const SETTLING: Duration = Duration::from_secs(1);

fn main() -> Result<(), Box<dyn Error>> {
    if std::env::args().any(|arg| arg == process::RECEIVE) {
        return process::receive();
    }
    let numbers: Vec<u32> = std::env::args()
        .filter_map(|arg| arg.parse().ok())
        .collect();
    let connections = numbers.first().copied().unwrap_or(1_000).clamp(1, 4_000);
    let seconds = numbers.get(1).copied().unwrap_or(10).clamp(1, 60);
    let rounds = numbers.get(2).copied().unwrap_or(1).clamp(1, 20);
    println!("{connections} connections of 1 Mbit/s over one socket, for {seconds} s");
    println!("{}", Summary::HEAD);
    for _ in 0..rounds {
        for is_ours in [true, false] {
            let receiver = Receiver::start()?;
            let begin = std::time::Instant::now() + GAP * connections + SETTLING;
            let plan = Plan {
                server: receiver.address,
                fingerprint: receiver.fingerprint,
                connections,
                gap: GAP,
                span: Span {
                    begin,
                    end: begin + Duration::from_secs(seconds.into()),
                },
            };
            let runtime = tokio::runtime::Builder::new_multi_thread()
                .enable_all()
                .build()?;
            let (name, summary) = if is_ours {
                ("our driver", runtime.block_on(senders::ours(&plan))?)
            } else {
                ("noq's endpoint", runtime.block_on(senders::noqs(&plan))?)
            };
            println!("{name:<15}{summary}");
        }
    }
    Ok(())
}
