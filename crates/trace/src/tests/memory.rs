//! The memory that connections take: the count matches the allocations, and stays below the bound.

use std::fmt::Write;
use std::net::{Ipv4Addr, SocketAddrV4};

use allocation_counter::measure;
use capture::packet::Flags;
use capture::write::{TcpOption, TcpPacket, Writer};
use units::{Duration, Time};

use crate::{Summary, Trace};

const MSS: u32 = 1_000;

/// A packet of each connection: its time in microseconds, and its TCP fields.
struct Packet {
    at: u64,
    is_client: bool,
    seq: u32,
    ack: u32,
    flags: Flags,
    len: u32,
    sack: Option<(u32, u32)>,
}

/// Rounds of ten packets over a path with a queue. Acknowledgements come after 50 ms, in the handshake after 40 ms. In
/// every fourth round, the first packet is lost.
fn packets(rounds: u32) -> Vec<Packet> {
    let mut packets = Vec::new();
    let mut say = |at: u64, is_client, seq, ack, flags, len, sack| {
        packets.push(Packet {
            at,
            is_client,
            seq,
            ack,
            flags,
            len,
            sack,
        });
    };
    say(0, true, 0, 0, Flags::SYN, 0, None);
    say(40_000, false, 0, 1, Flags::SYN.with(Flags::ACK), 0, None);
    say(40_001, true, 1, 1, Flags::ACK, 0, None);
    for round in 0..rounds {
        let place = |packet: u32| 1 + (round * 10 + packet) * MSS;
        let has_hole = round % 4 == 3;
        for packet in 0..10 {
            let at = 41_000 + u64::from(round) * 60_000 + u64::from(packet) * 5_000;
            say(at, true, place(packet), 1, Flags::ACK, MSS, None);
            let (ack, sack) = match packet {
                0 if has_hole => continue,
                1..9 if has_hole => (place(0), Some((place(1), place(packet + 1)))),
                _ => (place(packet + 1), None),
            };
            say(at + 50_000, false, 1, ack, Flags::ACK, 0, sack);
            if has_hole && packet == 8 {
                say(at + 51_000, true, place(0), 1, Flags::ACK, MSS, None);
            }
        }
    }
    packets.sort_by_key(|packet| packet.at);
    packets
}

/// A capture of this many connections with the same packets.
fn capture(connections: u16, rounds: u32) -> Vec<u8> {
    capture_from(0, connections, rounds)
}

/// The same from further ports.
fn capture_from(first: u16, connections: u16, rounds: u32) -> Vec<u8> {
    let mut writer = Writer::new(Vec::new(), "many").expect("a vector takes everything");
    let server = SocketAddrV4::new(Ipv4Addr::new(192, 0, 2, 1), 443);
    for said in packets(rounds) {
        let now = u32::try_from(said.at / 1_000).expect("a short capture");
        let mut options = vec![TcpOption::Timestamp(now, now.saturating_sub(40))];
        let block = |sack| TcpOption::SelectiveAcknowledgement(sack, [None; 3]);
        options.extend(said.sack.map(block));
        for number in first..first + connections {
            let client = SocketAddrV4::new(Ipv4Addr::new(10, 0, 0, 1), 1_024 + number);
            let (from, to) = if said.is_client {
                (client, server)
            } else {
                (server, client)
            };
            let packet = TcpPacket {
                from,
                to,
                id: 0,
                ecn: 0,
                seq: said.seq,
                ack: said.ack,
                flags: said.flags,
                window: 60_000,
                options: &options,
                len: said.len,
            };
            let at = Time::ZERO + Duration::from_micros(1_000_000 + said.at);
            let written = writer.packet(at, &packet);
            written.expect("a vector takes everything");
        }
    }
    writer.finish().expect("a vector takes everything")
}

/// The memory of the tables and of reading: buffers, and the indices of the connections.
const BESIDE: u64 = 2 << 20;

#[test]
fn what_is_held_is_counted_and_bounded() {
    let file = capture(200, 60);
    let read = |most: usize| {
        let mut read = None;
        let taken = measure(|| {
            let mut trace = Trace::within(most);
            trace.read(&file[..], &|| true).expect("a capture");
            read = Some(trace);
        });
        (read.expect("it was read"), taken)
    };
    let (trace, taken) = read(usize::MAX);
    let (held, there) = (trace.held() as f64, taken.bytes_current as f64);
    assert!((0.9..=1.02).contains(&(held / there)), "{held} of {there}");
    let plenty = Summary::of(trace).0;
    let most = (held * 0.4) as usize;
    let (trace, taken) = read(most);
    assert!(trace.held() <= most, "{} of {most}", trace.held());
    assert!(
        taken.bytes_max <= most as u64 / 10 * 11 + BESIDE,
        "{taken:?}, {most}"
    );
    // Counters stay exact.
    let (little, timelines) = Summary::of(trace);
    for (one, other) in plenty.connections.iter().zip(&little.connections) {
        let (one, other) = (&one.flows[0], &other.flows[0]);
        assert_eq!(one.delivered_bytes, other.delivered_bytes);
        assert_eq!(
            (one.retransmitted, one.lost),
            (other.retransmitted, other.lost)
        );
        assert_eq!((one.retransmitted, one.rtprop_ms), (15, other.rtprop_ms));
    }
    let least = timelines.iter().map(|one| one.flows[0].samples.len()).min();
    assert!(least >= Some(4), "{least:?}");
}

/// Many connections of a few lines each, whose packets claim impossible amounts of data and acknowledgements.
#[test]
fn a_log_that_claims_much_takes_little() {
    let mut log = String::from("{\"qlog_version\": \"0.3\", \"traces\": [");
    for number in 0..1_500 {
        let comma = if number > 0 { "," } else { "" };
        write!(
            log,
            "{comma}{{\"events\": [{{\"name\": \"t:packet_sent\", \"time\": 1, \"data\": {{\"header\": \
             {{\"packet_number\": 0}}, \"frames\": [{{\"frame_type\": \"stream\", \"stream_id\": 0, \"offset\": 0, \
             \"length\": 500000000}}]}}}}, {{\"name\": \"t:packet_sent\", \"time\": 2, \"data\": {{\"header\": \
             {{\"packet_number\": 16000}}, \"frames\": []}}}}]}}"
        )
        .expect("text");
    }
    log += "]}";
    let taken = measure(|| {
        let mut trace = Trace::new();
        trace.read(log.as_bytes(), &|| true).expect("a qlog");
        assert_eq!(Summary::of(trace).0.connections.len(), 1_500);
    });
    assert!(taken.bytes_max <= 24 << 20, "{} bytes", taken.bytes_max);
    // One text that would take much more memory than its length if it were parsed.
    let numbers = "1,".repeat(4 << 20);
    let log = format!("{{\"traces\": [{{\"events\": [{{\"name\": [{numbers}1]}}]}}]}}");
    let length = log.len() as u64;
    let taken = measure(|| {
        let read = Trace::new().read(log.as_bytes(), &|| true);
        assert!(read.is_err(), "it has no packets");
    });
    assert!(
        taken.bytes_max <= length * 4,
        "{} bytes of {length}",
        taken.bytes_max
    );
}

/// More connections than are kept, in several logs.
#[test]
fn connections_of_logs_are_bounded() {
    let one = "{\"events\": [{\"name\": \"t:packet_sent\", \"time\": 1, \"data\": {\"header\": \
               {\"packet_number\": 0}, \"frames\": []}}]}";
    let traces = vec![one; 4_096].join(",");
    let log = format!("{{\"qlog_version\": \"0.3\", \"traces\": [{traces}]}}");
    let mut trace = Trace::new();
    for _ in 0..25 {
        trace.read(log.as_bytes(), &|| true).expect("a qlog");
    }
    let (connections, _, evicted) = trace.into_connections();
    assert!(connections.len() <= crate::MAX_CONNECTIONS);
    assert_eq!(connections.len() as u64 + evicted, 25 * 4_096);
}

/// Connections with so little data that nothing can be thinned out.
#[test]
fn connections_go_if_there_is_no_memory_for_all() {
    const MAX_BYTES: usize = 2 << 20;
    let mut trace = Trace::within(MAX_BYTES);
    let mut held = 0;
    for port in 0..2_000 {
        let file = capture_from(port, 1, 1);
        trace.read(&file[..], &|| true).expect("a capture");
        held = trace.held().max(held);
    }
    assert!(held <= MAX_BYTES / 2 * 3, "{held}");
    let (connections, _, evicted) = trace.into_connections();
    assert!(connections.len() as u64 + evicted >= 2_000);
    assert!(connections.len() > 200, "{}", connections.len());
}

/// Two streams take turns byte by byte. Then each packet sends one stream again, as a whole.
#[test]
fn a_log_that_sends_everything_again_takes_little() {
    let mut log = String::from(
        "\u{1e}{\"qlog_version\": \"0.3\", \"trace\": {\"vantage_point\": {\"type\": \"client\"}}}\n",
    );
    let stream = |id: u32, offset: u32, len: u32| {
        format!(
            "{{\"frame_type\": \"stream\", \"stream_id\": {id}, \"offset\": {offset}, \"length\": {len}}}"
        )
    };
    let mut number = 0;
    let mut send = |frames: &[String]| {
        let frames = frames.join(",");
        writeln!(
            log,
            "\u{1e}{{\"name\": \"t:packet_sent\", \"time\": {number}, \"data\": {{\"header\": \
             {{\"packet_number\": {number}}}, \"frames\": [{frames}]}}}}"
        )
        .expect("text");
        number += 1;
    };
    for offset in 0..4_000 {
        send(&[stream(0, offset, 1), stream(4, offset, 1)]);
    }
    for _ in 0..50 {
        send(&vec![stream(0, 0, 4_000); 10]);
    }
    let taken = measure(|| {
        let mut trace = Trace::new();
        trace.read(log.as_bytes(), &|| true).expect("a qlog");
    });
    assert!(taken.bytes_max <= 8 << 20, "{} bytes", taken.bytes_max);
}
