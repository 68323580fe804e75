//! Malicious captures, made to use much memory or time, or to give impossible numbers.

use super::summary;
use crate::{FlowSummary, Trace};

const SYN: u8 = 2;
const ACK: u8 = 16;

/// A capture of raw IP packets between 10.0.0.1 and 10.0.0.2. Each packet after the handshake claims payload that is not in
/// the file.
struct Made {
    file: Vec<u8>,
    /// The timestamps' units per second.
    units: u64,
    /// The latest packet's number.
    number: u16,
    /// The port of 10.0.0.1.
    port: u16,
}

impl Made {
    /// A capture with a handshake of this round trip, in units of time, and this MSS.
    fn new(units: u64, rtt: u64, mss: u16) -> Made {
        Made::of(10, units, rtt, mss)
    }

    /// The same from this port.
    fn of(port: u16, units: u64, rtt: u64, mss: u16) -> Made {
        let magic: u32 = if units == 1_000_000 {
            0xa1b2_c3d4
        } else {
            0xa1b2_3c4d
        };
        let mut made = Made {
            file: Vec::new(),
            units,
            number: 0,
            port,
        };
        let words = [magic, 4 << 16 | 2, 0, 0, 1 << 18, 101];
        made.file.extend(words.map(u32::to_le_bytes).concat());
        let [a, b] = mss.to_be_bytes();
        let options = [2, 4, a, b, 3, 3, 14, 1, 4, 2, 1, 1];
        made.say(0, true, u32::MAX, 0, SYN, &options, 0);
        made.say(rtt, false, u32::MAX, 0, SYN | ACK, &options, 0);
        made
    }

    #[expect(clippy::too_many_arguments, reason = "a packet's parts")]
    fn say(
        &mut self,
        at: u64,
        is_client: bool,
        seq: u32,
        ack: u32,
        flags: u8,
        options: &[u8],
        len: u32,
    ) {
        let [from, to] = if is_client { [1, 2] } else { [2, 1] };
        let ports = if is_client {
            [self.port, 80]
        } else {
            [80, self.port]
        };
        self.number += 1;
        let [high, low] = self.number.to_be_bytes();
        let mut packet = vec![0x45, 0, 0, 0, high, low, 0, 0, 64, 6, 0, 0];
        packet.extend([10, 0, 0, from, 10, 0, 0, to]);
        packet.extend(ports.map(u16::to_be_bytes).concat());
        packet.extend([seq.to_be_bytes(), ack.to_be_bytes()].concat());
        let header = u8::try_from(20 + options.len()).expect("short");
        packet.extend([(header / 4) << 4, flags, 0xff, 0xff, 0, 0, 0, 0]);
        packet.extend(options);
        let captured = u32::try_from(packet.len()).expect("short");
        let time = [at / self.units, at % self.units];
        let [s, units] = time.map(|part| u32::try_from(part).expect("soon"));
        let words = [s, units, captured, captured + len];
        self.file.extend(words.map(u32::to_le_bytes).concat());
        self.file.extend(packet);
    }

    fn data(&mut self, at: u64, seq: u32, len: u32) {
        self.say(at, true, seq, 0, ACK, &[], len);
    }

    fn ack(&mut self, at: u64, ack: u32) {
        self.say(at, false, 0, ack, ACK, &[], 0);
    }

    fn flow(&self) -> FlowSummary {
        let mut summary = summary(&self.file);
        assert_eq!(summary.connections.len(), 1);
        summary.connections.remove(0).flows.remove(0)
    }
}

#[test]
fn nobody_sends_a_gigabyte_at_once() {
    let mut made = Made::new(1_000_000, 10_000, 1);
    for at in 1..20 {
        made.data(at * 100_000, 0, 1_000_000_000);
    }
    made.ack(2_000_000, 1_000_000_000);
    let flow = made.flow();
    assert_eq!(flow.sent_bytes, 19 * 524_240);
    assert_eq!(flow.retransmitted_bytes, 18 * 524_240);
    assert_eq!(flow.retransmitted * 19, flow.packets * 18);
}

#[test]
fn what_is_sent_again_in_pieces_counts_by_packets() {
    let mut made = Made::new(1_000_000, 10_000, 1_460);
    made.data(100_000, 0, 146_000);
    made.data(100_001, 146_000, 54_000);
    for piece in 0..2_000 {
        made.data(200_000 + u64::from(piece), 1 + 2 * piece, 1);
    }
    made.data(400_000, 0, 8_000);
    made.ack(500_000, 200_000);
    let flow = made.flow();
    assert_eq!((flow.packets, flow.retransmitted), (137 + 2_000 + 6, 2_006));
    assert_eq!(flow.lost, Some(2_006));
}

#[test]
fn what_no_link_does_is_unknown() {
    let mut made = Made::new(1_000_000_000, 1, 1_460);
    for round in 0..60 {
        made.data(1_000 + u64::from(round) * 2, round * 500_000, 500_000);
        made.ack(1_001 + u64::from(round) * 2, (round + 1) * 500_000);
    }
    let flow = made.flow();
    assert_eq!(flow.delivered_bytes, 30_000_000);
    assert_eq!((flow.btl_bw_bps, flow.btl_bw_ip_bps), (None, None));
    assert_eq!(flow.goodput_bps, None);
    assert!(flow.path.is_none());
}

/// Acknowledgements of single bytes split the outstanding data into pieces.
#[test]
fn pieces_go_if_there_is_no_memory() {
    const MAX_BYTES: usize = 1 << 20;
    let mut made = Made::new(1_000_000, 10_000, 1_460);
    made.data(100_000, 0, 500_000);
    for round in 0..20_000 {
        let mut options = vec![1, 1, 5, 34];
        for block in 0..4 {
            let from: u32 = 1 + 2 * (round * 4 + block);
            options.extend([from.to_be_bytes(), (from + 1).to_be_bytes()].concat());
        }
        let at = 200_000 + u64::from(round);
        made.say(at, false, 0, 0, ACK, &options, 0);
    }
    let mut trace = Trace::within(MAX_BYTES);
    let taken = allocation_counter::measure(|| {
        trace.read(&made.file[..], &|| true).expect("a capture");
    });
    assert!(trace.held() <= MAX_BYTES, "{}", trace.held());
    assert!(taken.bytes_max <= 4 << 20, "{taken:?}");
}

/// A SYN with data in each connection, which nobody answers.
#[test]
fn what_may_have_begun_is_counted() {
    let mut trace = Trace::new();
    let taken = allocation_counter::measure(|| {
        for port in 1..=200 {
            let mut made = Made::of(port, 1_000_000, 10_000, 1_460);
            made.data(100_000, 0, 100);
            made.say(200_000, true, 1 << 29, 0, SYN, &[], 100);
            trace.read(&made.file[..], &|| true).expect("a capture");
        }
    });
    let (held, there) = (trace.held() as f64, taken.bytes_current as f64);
    assert!((0.9..=1.02).contains(&(held / there)), "{held} of {there}");
}

/// Acknowledgements of single bytes, of many connections that nobody closes.
#[test]
fn acknowledged_ranges_go_if_there_is_no_memory() {
    const MAX_BYTES: usize = 4 << 20;
    let mut trace = Trace::within(MAX_BYTES);
    let mut held = 0;
    for port in 1..=100 {
        let mut made = Made::of(port, 1_000_000, 10_000, 1_460);
        made.data(100_000, 0, 20_000);
        for round in 0..1_000 {
            let mut options = vec![1, 1, 5, 34];
            for block in 0..4 {
                let from: u32 = 1 + 2 * (round * 4 + block);
                options.extend([from.to_be_bytes(), (from + 1).to_be_bytes()].concat());
            }
            made.say(200_000 + u64::from(round), false, 0, 0, ACK, &options, 0);
        }
        trace.read(&made.file[..], &|| true).expect("a capture");
        held = trace.held().max(held);
    }
    assert!(held <= MAX_BYTES / 4 * 5, "{held}");
}
