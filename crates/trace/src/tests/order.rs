//! Several captures at once, and captures that do not end.

use std::cell::Cell;
use std::io::{self, Read};

use capture::packet::Flags;
use capture::read::Opened;
use capture::write::{TcpOption, TcpPacket, Writer};
use units::{Duration, Time};

use super::{A, B, check, packets, pcapng};
use crate::{Summary, Trace};

/// A capture of these packets, each with its time in milliseconds.
fn part(of: impl Iterator<Item = (u64, Vec<u8>, u32)>) -> Vec<u8> {
    let mut writer = Writer::new(Vec::new(), "part").expect("a vector takes everything");
    for (at, headers, len) in of {
        let at = Time::ZERO + Duration::from_millis(1_000_000 + at);
        let written = writer.raw(at, &headers, len);
        written.expect("a vector takes everything");
    }
    writer.finish().expect("a vector takes everything")
}

/// Reads these files as one capture.
fn read(files: &[Vec<u8>], is_lasting: bool) -> Summary {
    let mut trace = Trace::new();
    let open = |place: usize| -> io::Result<Opened<'_>> {
        let file: &[u8] = &files[place];
        Ok(Opened {
            source: Box::new(file),
            is_lasting,
        })
    };
    let read = trace.read_all(files.len(), open, &|| true);
    read.expect("captures");
    Summary::of(trace).0
}

#[test]
fn pieces_are_read_in_the_order_of_their_times() {
    let all = packets();
    let pieces: Vec<Vec<u8>> = all
        .chunks(5)
        .map(|some| part(some.iter().cloned()))
        .collect();
    assert!(pieces.len() > 3);
    for is_lasting in [false, true] {
        for turned in 0..pieces.len() {
            let mut files = pieces.clone();
            files.rotate_left(turned);
            files.swap(0, 1);
            check(&read(&files, is_lasting));
        }
    }
}

#[test]
fn a_file_that_is_none_is_named_by_its_place() {
    let files = [pcapng(), b"no capture at all, but text".to_vec()];
    let open = |place: usize| -> io::Result<Opened<'_>> {
        let file: &[u8] = &files[place];
        Ok(Opened {
            source: Box::new(file),
            is_lasting: true,
        })
    };
    let read = Trace::new().read_all(2, open, &|| true);
    assert_eq!(read.expect_err("no capture").0, 1);
}

/// Every packet appears twice, as with two interfaces.
#[test]
fn a_packet_that_is_captured_twice_is_one_packet() {
    let twice = packets()
        .into_iter()
        .flat_map(|packet| [packet.clone(), packet]);
    let summary = read(&[part(twice)], true);
    check(&summary);
    assert_eq!(summary.connections[0].flows[0].copies, 11);
    let whole = read(&[pcapng()], true);
    assert_eq!(whole.connections[0].flows[0].copies, 0);
}

/// The last acknowledgement says that a packet arrived twice (D-SACK).
#[test]
fn an_acknowledgement_that_is_captured_twice_is_one() {
    let mut once = packets();
    let start = u32::MAX - 2999;
    let block = (start, start.wrapping_add(1460));
    let answer = TcpPacket {
        from: B,
        to: A,
        id: 99,
        ecn: 0,
        seq: 100,
        ack: start.wrapping_add(14_600),
        flags: Flags::ACK,
        window: 60_000,
        options: &[
            TcpOption::Noop,
            TcpOption::Noop,
            TcpOption::SelectiveAcknowledgement(block, [None; 3]),
        ],
        len: 0,
    };
    once.push((72, answer.headers(), 0));
    let twice = once.clone().into_iter().flat_map(|one| [one.clone(), one]);
    let counted = [part(once.clone().into_iter()), part(twice)].map(|file| {
        let summary = read(&[file], true);
        let flow = &summary.connections[0].flows[0];
        (flow.acks, flow.duplicated)
    });
    assert_eq!(counted, [(5, 1), (5, 1)]);
}

/// The captures of both ends, ten milliseconds apart. The lost packet is in only one of them.
#[test]
fn the_captures_of_both_ends_are_one_connection() {
    let far = packets()
        .into_iter()
        .enumerate()
        .filter(|(place, _)| *place != 4);
    let far = far.map(|(_, (at, headers, len))| {
        let is_of_a = headers[15] == 1;
        (if is_of_a { at + 10 } else { at - 10 }, headers, len)
    });
    let mut far: Vec<_> = far.collect();
    far.sort_by_key(|packet| packet.0);
    let ends = [part(far.into_iter()), part(packets().into_iter())];
    let summary = read(&ends, true);
    let [connection] = &summary.connections[..] else {
        panic!("{} connections", summary.connections.len());
    };
    assert_eq!(connection.handshake_ms, Some(20.0));
    let flow = &connection.flows[0];
    assert_eq!((flow.packets, flow.copies), (11, 10), "{flow:?}");
    assert_eq!(
        (flow.retransmitted, flow.lost, flow.spurious),
        (1, Some(1), 0)
    );
    assert_eq!(flow.delivered_bytes, 14_600);
}

/// A capture in which no packet ever comes.
struct Endless {
    block: Vec<u8>,
    at: usize,
    given: usize,
}

impl Read for Endless {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        assert!(self.given < 1 << 28, "nobody asks whether to go on");
        let rest = &self.block[self.at..];
        let some = rest.len().min(to.len());
        to[..some].copy_from_slice(&rest[..some]);
        self.at = (self.at + some) % self.block.len();
        self.given += some;
        Ok(some)
    }
}

#[test]
fn a_capture_without_packets_can_be_ended() {
    // An unknown block behind a section header.
    let mut block = vec![0; 1 << 16];
    block[..4].copy_from_slice(&0x0bad_u32.to_le_bytes());
    block[4..8].copy_from_slice(&(1_u32 << 16).to_le_bytes());
    let endless = Endless {
        block,
        at: 0,
        given: 0,
    };
    let mut header = pcapng();
    header.truncate(header[4].into());
    let source = io::Cursor::new(header).chain(endless);
    let asked = Cell::new(0);
    let goes_on = || {
        asked.set(asked.get() + 1);
        asked.get() < 100
    };
    let mut trace = Trace::new();
    trace.read(source, &goes_on).expect("what there was");
    assert_eq!((trace.counts().packets, trace.counts().cut), (0, 0));
}
