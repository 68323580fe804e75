//! The precision of the relay's times, and its capacity: `cargo bench -p fullpipe-emulator`.
//!
//! Sender and receiver are threads of this process and share a clock. Each packet has a number. Its time of departure
//! goes through the same `path` model in virtual time, which gives the time at which it should arrive. The error is its
//! lateness at the receiver's `recv`. It includes the relay's lateness, and the time that the kernel takes to pass a
//! packet over loopback twice and to wake two sleeping threads. The first line, the same without a relay (one hop, one
//! thread), shows the size of the latter. Results of a busy machine mean little.

#[path = "common/lateness.rs"]
mod lateness;

use std::net::UdpSocket;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use emulator::{Relay, RelayConfig, Sharing};
use path::{Capacity, LinkConfig, PathConfig};
use units::Rate;

use lateness::{Errors, PAYLOAD, SIZE, lateness, receiver};

/// The bottleneck, and the goals that hold for it on an idle machine.
const RATE: Rate = Rate::from_bits_per_sec(100_000_000);
const DELAY: units::Duration = units::Duration::from_millis(20);
const RATE_ERROR_GOAL: f64 = 0.01;
const P99_GOAL_US: f64 = 1_000.0;

/// The time of each measurement.
const SPAN: units::Duration = units::Duration::from_secs(3);

/// The maximum number of packets under way while the relay's speed is measured: fewer than its sockets hold.
const WINDOW: u64 = 256;

fn main() {
    // As a test, the program asserts nothing.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    println!(
        "{RATE}, 40ms round trip, 1500-byte packets; errors in us against the model's exact times"
    );
    println!("{:<28} {}", "", Errors::HEADER);
    let direct = LinkConfig::default();
    measure("no relay, 50mbit offered", 50_000_000, &direct, false);
    let shaped = LinkConfig {
        capacity: Capacity::Rate(RATE),
        delay: DELAY,
        ..LinkConfig::default()
    };
    measure("below: 50mbit offered", 50_000_000, &shaped, true);
    measure("above: 120mbit offered", 120_000_000, &shaped, true);
    speed();
}

/// Sends at `offered` bits per second through `link` and prints the packets' lateness.
fn measure(label: &str, offered: u64, link: &LinkConfig, relayed: bool) {
    let receiver = receiver("127.0.0.1:0");
    let (relay, to) = if relayed {
        let relay = start(&receiver, link.clone());
        let to = relay.local_addr();
        (Some(relay), to)
    } else {
        (None, receiver.local_addr().unwrap())
    };
    let sender = UdpSocket::bind("127.0.0.1:0").unwrap();
    sender.connect(to).unwrap();
    let offered = Rate::from_bits_per_sec(offered);
    let errors = lateness(link, offered, SPAN, &sender, &receiver);
    let counters = relay.map(Relay::stop);
    println!("{label:<28} {errors}");
    let Some(counters) = counters else { return };
    println!(
        "{:<28} of these, released more than 1 ms late by the relay: {} (max {:.1} us)",
        "",
        counters.forward.late_packets,
        counters.forward.lateness_max_ns as f64 / 1e3
    );
    if counters.socket_overflows > 0 {
        println!(
            "{:<28} LOST in the relay's sockets: {}",
            "", counters.socket_overflows
        );
    }
    let met = errors.rate.abs() < RATE_ERROR_GOAL && errors.p99_us < P99_GOAL_US;
    println!(
        "{:<28} rate error under 1 %, p99 under 1 ms: {}",
        "",
        if met {
            "yes"
        } else {
            "NO; is this machine idle?"
        }
    );
}

/// Prints the packets per second that pass a relay whose path has no effect.
fn speed() {
    let receiver = receiver("127.0.0.1:0");
    let relay = start(&receiver, LinkConfig::default());
    let sender = UdpSocket::bind("127.0.0.1:0").unwrap();
    sender.connect(relay.local_addr()).unwrap();
    let received = AtomicU64::new(0);
    let (mut sent, mut lost) = (0, 0);
    let start = Instant::now();
    let span = Duration::from(SPAN);
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut buffer = [0; PAYLOAD];
            while start.elapsed() < span {
                if receiver.recv(&mut buffer).is_ok() {
                    received.fetch_add(1, Ordering::Relaxed);
                }
            }
        });
        let mut progress = (Instant::now(), 0);
        while start.elapsed() < span {
            let now_received = received.load(Ordering::Relaxed);
            if sent < now_received + lost + WINDOW {
                sender.send(&[0; PAYLOAD]).unwrap();
                sent += 1;
            } else if now_received != progress.1 {
                progress = (Instant::now(), now_received);
                thread::yield_now();
            } else if progress.0.elapsed() > Duration::from_millis(200) {
                // Nothing moves, so the missing packets are lost.
                lost = sent - now_received;
            } else {
                thread::yield_now();
            }
        }
    });
    let received = received.into_inner();
    let per_second = received as f64 / start.elapsed().as_secs_f64();
    println!(
        "unshaped: {per_second:.0} packets/s ({:.0} Mbit/s), {lost} lost",
        per_second * SIZE.get() as f64 * 8.0 / 1e6
    );
}

fn start(to: &UdpSocket, forward: LinkConfig) -> Relay {
    Relay::start(RelayConfig {
        listen: "127.0.0.1:0".parse().unwrap(),
        to: to.local_addr().unwrap(),
        path: PathConfig {
            forward,
            reverse: LinkConfig {
                delay: DELAY,
                ..LinkConfig::default()
            },
        },
        seed: 1,
        sharing: Sharing::OneBottleneck,
    })
    .unwrap()
}
