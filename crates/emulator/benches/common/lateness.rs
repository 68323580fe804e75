//! The lateness of packets, relative to the exact times of the model.

use std::fmt;
use std::net::{ToSocketAddrs, UdpSocket};
use std::thread;
use std::time::{Duration, Instant};

use path::{Link, LinkConfig};
use units::{Bytes, Rate, Time};

/// The UDP payload and the size of a full packet, in bytes.
pub const PAYLOAD: usize = 1_472;
pub const SIZE: Bytes = Bytes::new(1_500);

/// The time for which a receiver waits for the next packet.
const READ_TIMEOUT: Duration = Duration::from_secs(1);

/// The lateness of received packets.
pub struct Errors {
    packets: usize,
    lost: u64,
    p50_us: f64,
    pub p99_us: f64,
    max_us: f64,
    /// The relative error of the rate between the first and the last arrival.
    pub rate: f64,
}

impl Errors {
    pub const HEADER: &str = "  packets      lost       p50       p99       max   rate error";
}

impl fmt::Display for Errors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Errors {
            packets,
            lost,
            p50_us,
            p99_us,
            max_us,
            rate,
        } = self;
        let percent = rate * 100.0;
        write!(
            f,
            "{packets:>9} {lost:>9} {p50_us:>9.1} {p99_us:>9.1} {max_us:>9.1} {percent:>11.4}%"
        )
    }
}

/// Sends full packets at the rate `offered` for some time, from a connected socket to one at the other end of `link`.
pub fn lateness(
    link: &LinkConfig,
    offered: Rate,
    span: units::Duration,
    sender: &UdpSocket,
    receiver: &UdpSocket,
) -> Errors {
    let gap = offered.time_for(SIZE);
    let count = span.as_nanos() / gap.as_nanos();
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
    Errors {
        packets: errors.len(),
        lost: count - errors.len() as u64,
        p50_us: quantile(0.5),
        p99_us: quantile(0.99),
        max_us: quantile(1.0),
        rate: rate_error(&arrived, &ideal),
    }
}

/// Returns the times at which packets sent at these times should arrive.
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

/// Opens a socket whose reads time out.
pub fn receiver(address: impl ToSocketAddrs) -> UdpSocket {
    let receiver = UdpSocket::bind(address).unwrap();
    receiver.set_read_timeout(Some(READ_TIMEOUT)).unwrap();
    // A large buffer, so that packets that the receiver reads late are not lost.
    let options = socket2::SockRef::from(&receiver);
    options.set_recv_buffer_size(4 << 20).unwrap();
    receiver
}
