//! How exactly the relay keeps the path's times, and how much it can carry: `cargo bench -p fullpipe-emulator`.
//!
//! Sender and receiver are threads of this process and share a clock. Each packet carries its number; the time just
//! before it was sent goes through the same `path` model in virtual time, which says when it should have arrived. The
//! error is what it came later than that at the receiver's `recv`: it holds the relay's lateness, and also what the
//! kernel takes to carry a packet over loopback twice and to wake two sleeping threads. The first line, the same without
//! a relay (one hop, one thread), shows the order of that. Numbers of a busy machine say little.

use std::net::UdpSocket;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use emulator::{Relay, RelayConfig, Sharing};
use path::{Capacity, Link, LinkConfig, PathConfig};
use units::{Bytes, Rate, Time};

/// The bottleneck, and the goals that hold for it on an idle machine.
const RATE: Rate = Rate::from_bits_per_sec(100_000_000);
const DELAY: units::Duration = units::Duration::from_millis(20);
const RATE_ERROR_GOAL: f64 = 0.01;
const P99_GOAL_US: f64 = 1_000.0;

/// A full packet with 28 bytes of headers.
const PAYLOAD: usize = 1_472;
const SIZE: Bytes = Bytes::new(1_500);

/// How long each measurement takes.
const SPAN: units::Duration = units::Duration::from_secs(3);

/// How long a receiver waits for what does not come.
const PATIENCE: Duration = Duration::from_secs(1);

/// Packets that may be on their way when the relay's speed is measured: fewer than its sockets hold.
const WINDOW: u64 = 256;

fn main() {
    // Run as a test, there is nothing to assert.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    println!(
        "{RATE}, 40ms round trip, 1500-byte packets; errors in us against the model's exact times"
    );
    println!(
        "{:<28} {:>9} {:>9} {:>9} {:>9} {:>9} {:>12}",
        "", "packets", "lost", "p50", "p99", "max", "rate error"
    );
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

/// Sends at `offered` bits per second through `link` and prints how late packets came.
fn measure(label: &str, offered: u64, link: &LinkConfig, relayed: bool) {
    let receiver = receiver();
    let (relay, to) = if relayed {
        let relay = start(&receiver, link.clone());
        let to = relay.local_addr();
        (Some(relay), to)
    } else {
        (None, receiver.local_addr().unwrap())
    };
    let sender = UdpSocket::bind("127.0.0.1:0").unwrap();
    sender.connect(to).unwrap();

    let gap = Rate::from_bits_per_sec(offered).time_for(SIZE);
    let count = SPAN.as_nanos() / gap.as_nanos();
    let epoch = Instant::now();
    let now = move || Time::ZERO + units::Duration::from(epoch.elapsed());
    let (sent, arrived) = thread::scope(|scope| {
        let arrived = scope.spawn(move || {
            let mut arrived = Vec::with_capacity(count as usize);
            let mut buffer = [0; PAYLOAD];
            while arrived.len() < count as usize && receiver.recv(&mut buffer).is_ok() {
                let at = now();
                let number = buffer.first_chunk().map(|bytes| u64::from_le_bytes(*bytes));
                arrived.push((number.unwrap(), at));
            }
            arrived
        });
        let mut sent = Vec::with_capacity(count as usize);
        let mut packet = [0; PAYLOAD];
        for number in 0..count {
            let due = Time::ZERO + gap * number;
            thread::sleep(due.since(now()).into());
            packet[..8].copy_from_slice(&number.to_le_bytes());
            sent.push(now());
            sender.send(&packet).unwrap();
        }
        (sent, arrived.join().unwrap())
    });
    let counters = relay.map(Relay::stop);
    let ideal = ideal(link, &sent);
    let mut errors = arrived
        .iter()
        .map(|&(number, at)| {
            let ideal = ideal[number as usize];
            assert!(
                at >= ideal,
                "packet {number} came {:?} early",
                ideal.since(at)
            );
            at.since(ideal).as_nanos() as f64 / 1e3
        })
        .collect::<Vec<_>>();
    errors.sort_by(f64::total_cmp);
    let quantile = |share: f64| errors[((errors.len() - 1) as f64 * share) as usize];
    let rate_error = rate_error(&arrived, &ideal);
    println!(
        "{label:<28} {:>9} {:>9} {:>9.1} {:>9.1} {:>9.1} {:>11.4}%",
        errors.len(),
        count - errors.len() as u64,
        quantile(0.5),
        quantile(0.99),
        quantile(1.0),
        rate_error * 100.0
    );
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
    let met = rate_error.abs() < RATE_ERROR_GOAL && quantile(0.99) < P99_GOAL_US;
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

/// When packets sent at these times should arrive.
fn ideal(link: &LinkConfig, sent: &[Time]) -> Vec<Time> {
    let mut link = Link::new(link.clone(), 1).unwrap();
    for (number, at) in sent.iter().enumerate() {
        link.send(*at, SIZE, number);
    }
    let mut ideal = vec![Time::ZERO; sent.len()];
    while let Some(arrival) = link.receive(Time::MAX) {
        ideal[arrival.packet] = arrival.at;
    }
    ideal
}

/// By how much the rate between the first and the last arrival differs from what it should be.
fn rate_error(arrived: &[(u64, Time)], ideal: &[Time]) -> f64 {
    let (Some(first), Some(last)) = (arrived.first(), arrived.last()) else {
        return f64::NAN;
    };
    let took = last.1.since(first.1).as_secs_f64();
    let should = ideal[last.0 as usize]
        .since(ideal[first.0 as usize])
        .as_secs_f64();
    should / took - 1.0
}

/// Prints how many packets a second pass a relay whose path does nothing.
fn speed() {
    let receiver = receiver();
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
                // Nothing moves: what is missing will not come.
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

fn receiver() -> UdpSocket {
    let receiver = UdpSocket::bind("127.0.0.1:0").unwrap();
    receiver.set_read_timeout(Some(PATIENCE)).unwrap();
    // What the receiver is too late to read should not look like the relay's loss.
    let options = socket2::SockRef::from(&receiver);
    options.set_recv_buffer_size(4 << 20).unwrap();
    receiver
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
