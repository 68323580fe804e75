//! The reports of the program that sets connections' controllers.

use std::net::{IpAddr, Ipv6Addr};

use linux::diag::ControllerName;
use units::Duration;

/// The unit of the RTTs in `struct steered`, in microseconds.
const RTT_UNIT_US: u64 = 64;

/// The data of a connection whose controller the program has set: `struct steered` of `bpf/steer.bpf.c`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SteeredConnection {
    /// The draw of its unit.
    pub unit: u64,
    /// The index of its rule.
    pub rule: usize,
    /// The index of its arm.
    pub arm: usize,
    /// The time when it was set up, since boot.
    pub set_up: Duration,
    /// The remote address.
    pub client: IpAddr,
    /// The local port and the remote port.
    pub ports: [u16; 2],
    /// The RTT of the handshake, before the connection got its arm, rounded up to 64 µs. `None` if the kernel does not
    /// know it: with Fast Open, after a SYN cookie without time stamps, or if a SYN was sent again.
    pub handshake_rtt: Option<Duration>,
}

/// The report of such a connection: `struct ended`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EndedConnection {
    /// The socket's number (`SO_COOKIE`).
    pub cookie: u64,
    /// Its rule, arm and addresses.
    pub steered: SteeredConnection,
    /// The time when it ended, since boot.
    pub ended: Duration,
    /// The acknowledged payload, in bytes, without SYN and FIN.
    pub acknowledged: u64,
    /// The number of packets with data, including retransmissions, and the number of retransmissions.
    pub packets: u64,
    /// See `packets`.
    pub resent: u64,
    /// The number of packets that were declared lost.
    pub lost: u64,
    /// The smoothed RTT. `None` before the first sample.
    pub rtt: Option<Duration>,
    /// The minimum RTT: of the whole connection if it was followed, else of the last minutes. `None` without a sample.
    pub min_rtt: Option<Duration>,
    /// The median of the round trips, within a sixteenth. `None` if they were not followed.
    pub median_rtt: Option<Duration>,
    /// The number of its objects, including those that were not reported.
    pub objects: u64,
    /// The best recent sample of the delivery rate, in bytes per second. `None` before the first sample.
    pub delivery_rate: Option<u64>,
    /// The time in which there was data to send or unacknowledged data.
    pub busy: Duration,
    /// The part of this time in which the receive window was full.
    pub rwnd_limited: Duration,
    /// The part of this time in which the send buffer was too small.
    pub sndbuf_limited: Duration,
    /// The controller that it had at the end. `None` if it is unknown.
    pub controller: Option<ControllerName>,
}

impl SteeredConnection {
    /// The length in bytes.
    pub const LENGTH: usize = 8 * WORDS;

    /// Reads the data from sock_diag. `None` if it is too short.
    pub fn parse(bytes: &[u8]) -> Option<SteeredConnection> {
        let bytes = bytes.get(..SteeredConnection::LENGTH)?;
        SteeredConnection::of(&words(bytes))
    }

    #[expect(clippy::cast_possible_truncation, reason = "parts of a word")]
    fn of(words: &[u64]) -> Option<SteeredConnection> {
        let &[unit, place, set_up, high, low, ports] = words.get(..WORDS)? else {
            return None;
        };
        let client = Ipv6Addr::from_bits(u128::from(high) << 64 | u128::from(low));
        Some(SteeredConnection {
            unit,
            rule: place as u32 as usize,
            arm: (place >> 32) as usize,
            set_up: Duration::from_nanos(set_up),
            client: client.to_canonical(),
            ports: [ports as u16, (ports >> 32) as u16],
            handshake_rtt: match ports >> 16 & 0xffff {
                0 => None,
                units => Some(Duration::from_micros(units * RTT_UNIT_US)),
            },
        })
    }
}

/// The words of `struct steered`.
const WORDS: usize = 6;

fn words(bytes: &[u8]) -> Vec<u64> {
    let word = |chunk: &[u8]| chunk.try_into().map(u64::from_ne_bytes);
    bytes
        .chunks_exact(8)
        .filter_map(|chunk| word(chunk).ok())
        .collect()
}

impl EndedConnection {
    /// Reads the program's report. `tick` is the kernel's. `None` if the report is too short.
    pub fn parse(bytes: &[u8], tick: Duration) -> Option<EndedConnection> {
        let words = words(bytes);
        let (&cookie, rest) = words.split_first()?;
        let steered = SteeredConnection::of(rest)?;
        let &[
            ended,
            acknowledged,
            packets,
            resent,
            lost,
            rtt,
            min_rtt,
            median_rtt,
            objects,
            mss,
            delivered,
            interval,
            busy,
            rwnd,
            sndbuf,
            name,
            rest_of_name,
        ] = rest.get(WORDS..)?
        else {
            return None;
        };
        let sample = |micros: u64| {
            let is_none = micros == 0 || micros == u64::from(u32::MAX);
            (!is_none).then(|| Duration::from_micros(micros))
        };
        let name = [name, rest_of_name].map(u64::to_ne_bytes).concat();
        let controller = ControllerName::parse(&name).filter(|name| !name.as_str().is_empty());
        let ticks = |count: u64| Duration::from_nanos(count.saturating_mul(tick.as_nanos()));
        let rate = delivered.saturating_mul(mss).saturating_mul(1_000_000);
        Some(EndedConnection {
            cookie,
            steered,
            ended: Duration::from_nanos(ended),
            acknowledged,
            packets,
            resent,
            lost,
            rtt: sample(rtt),
            min_rtt: sample(min_rtt),
            // The median is the middle of a class. The beginning of the class may be below all RTTs.
            median_rtt: sample(median_rtt).max(sample(median_rtt).and(sample(min_rtt))),
            objects,
            delivery_rate: rate.checked_div(interval).filter(|&rate| rate > 0),
            // The kernel counts each tick once (`tcp_get_info_chrono_stats`).
            busy: ticks(busy.saturating_add(rwnd).saturating_add(sndbuf)),
            rwnd_limited: ticks(rwnd),
            sndbuf_limited: ticks(sndbuf),
            controller,
        })
    }
}

/// A part of a connection's data: from a moment at which nothing was outstanding until the next such moment, after
/// which new data was requested or came after a pause. `struct object` of `bpf/steer/follow.h`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReportedObject {
    /// The socket's number (`SO_COOKIE`).
    pub cookie: u64,
    /// The rule, arm and addresses of its connection.
    pub steered: SteeredConnection,
    /// Its number in the connection, from 1.
    pub number: u64,
    /// The time when its first packet left, since boot.
    pub begun: Duration,
    /// The time from then until everything was acknowledged, without the time in which nothing was outstanding.
    pub busy: Duration,
    /// The acknowledged payload, in bytes.
    pub bytes: u64,
    /// The number of packets with data, including retransmissions, and the number of retransmissions.
    pub packets: u64,
    /// See `packets`.
    pub resent: u64,
    /// True if all of it was acknowledged. If not, the connection ended before.
    pub is_whole: bool,
}

impl ReportedObject {
    /// Reads the program's report. `None` if it is too short.
    pub fn parse(bytes: &[u8]) -> Option<ReportedObject> {
        let words = words(bytes);
        let (&cookie, rest) = words.split_first()?;
        let steered = SteeredConnection::of(rest)?;
        let &[number, begun, busy, bytes, packets, resent, is_whole] = rest.get(WORDS..)? else {
            return None;
        };
        Some(ReportedObject {
            cookie,
            steered,
            number,
            begun: Duration::from_nanos(begun),
            busy: Duration::from_micros(busy),
            bytes,
            packets,
            resent,
            is_whole: is_whole != 0,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_is_read_back() {
        let client = Ipv6Addr::from_bits(0xffff_c000_0207);
        let bits = client.to_bits();
        #[expect(clippy::cast_possible_truncation, reason = "halves")]
        let steered = [
            9,
            2 | 1 << 32,
            5,
            (bits >> 64) as u64,
            bits as u64,
            443 | 10 << 16 | 50_000 << 32,
        ];
        let rest = [
            7, 1000, 10, 1, 1, 40_000, 20_000, 30_000, 3, 1000, 5, 10_000, 3, 2, 1,
        ];
        let name = [u64::from_ne_bytes(*b"cubic\0\0\0"), 0];
        let all = [&[4][..], &steered, &rest, &name].concat();
        let bytes: Vec<u8> = all
            .iter()
            .flat_map(|word: &u64| word.to_ne_bytes())
            .collect();
        let ended = EndedConnection::parse(&bytes, Duration::from_millis(4)).unwrap();
        assert_eq!(
            (ended.cookie, ended.steered.rule, ended.steered.arm),
            (4, 2, 1)
        );
        assert_eq!(ended.steered.client.to_string(), "192.0.2.7");
        assert_eq!(ended.steered.ports, [443, 50_000]);
        assert_eq!(ended.busy, Duration::from_millis(24));
        assert_eq!(ended.rtt, Some(Duration::from_millis(40)));
        assert_eq!(ended.median_rtt, Some(Duration::from_millis(30)));
        assert_eq!(ended.delivery_rate, Some(500_000));
        assert_eq!(
            ended.controller.map(|name| name.to_string()).as_deref(),
            Some("cubic")
        );
        assert_eq!(
            ended.steered.handshake_rtt,
            Some(Duration::from_micros(640))
        );
        assert_eq!(SteeredConnection::parse(&bytes[8..]), Some(ended.steered));
        for length in 0..bytes.len() {
            assert_eq!(
                EndedConnection::parse(&bytes[..length], Duration::ZERO),
                None
            );
        }
    }

    #[test]
    fn a_median_is_never_below_the_minimum() {
        // The class of 80 ms begins at 73.7 ms, and its middle is 77.8 ms.
        let median = |min: u64, median: u64| {
            let mut words = [0; 24];
            (words[13], words[14]) = (min, median);
            let bytes: Vec<u8> = words
                .iter()
                .flat_map(|word: &u64| word.to_ne_bytes())
                .collect();
            EndedConnection::parse(&bytes, Duration::ZERO)
                .unwrap()
                .median_rtt
        };
        assert_eq!(median(80_000, 77_824), Some(Duration::from_millis(80)));
        assert_eq!(median(70_000, 77_824), Some(Duration::from_micros(77_824)));
        assert_eq!(median(80_000, 0), None);
        assert_eq!(median(0, 77_824), Some(Duration::from_micros(77_824)));
    }

    #[test]
    fn an_object_is_read_back() {
        let words = [4, 9, 1 << 32, 5, 0, 1, 443, 2, 7, 250, 9000, 7, 1, 1];
        let bytes: Vec<u8> = words
            .iter()
            .flat_map(|word: &u64| word.to_ne_bytes())
            .collect();
        let object = ReportedObject::parse(&bytes).unwrap();
        assert_eq!(
            (object.cookie, object.steered.arm, object.number),
            (4, 1, 2)
        );
        assert_eq!(object.busy, Duration::from_micros(250));
        assert_eq!(
            (object.bytes, object.resent, object.is_whole),
            (9000, 1, true)
        );
        for length in 0..bytes.len() {
            assert_eq!(ReportedObject::parse(&bytes[..length]), None);
        }
    }
}
