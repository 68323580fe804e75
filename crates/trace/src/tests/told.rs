//! Connections that are easy to misread.

use std::ops::Range;

use capture::packet::Flags;
use capture::write::{TcpOption, TcpPacket, Writer};
use units::{Duration, Time};

use super::{A, B, summary};
use crate::{ConnectionSummary, FlowSummary, Trace};

const ACK: Flags = Flags::ACK;
const PUSH: Flags = Flags::ACK.with(Flags::PSH);
const SYN: Flags = Flags::SYN;
const ANSWER: Flags = Flags::SYN.with(Flags::ACK);

/// The sequence numbers of the first payload of A, and of B.
const START: u32 = 1_001;
const OTHER: u32 = 5_001;

/// A conversation of two hosts. The capture is at A, and the round trip is 20 ms.
struct Talk {
    writer: Writer<Vec<u8>>,
    now: u64,
    packets: u16,
    /// The number that is added to A's sequence numbers.
    shift: u32,
    /// The SACK block of the next packet.
    block: Option<(u32, u32)>,
}

impl Talk {
    fn new() -> Talk {
        Talk {
            writer: Writer::new(Vec::new(), "talk").expect("a vector takes everything"),
            now: 0,
            packets: 0,
            shift: 0,
            block: None,
        }
    }

    fn wait(&mut self, ms: u64) {
        self.now += ms;
    }

    fn say(&mut self, is_a: bool, seq: u32, ack: u32, flags: Flags, window: u16, len: u32) {
        let options = if flags.has(SYN) {
            vec![
                TcpOption::MaximumSegmentSize(1460),
                TcpOption::SelectiveAcknowledgementPermitted,
            ]
        } else {
            let block = self.block.take().into_iter();
            let sack = |block| TcpOption::SelectiveAcknowledgement(block, [None; 3]);
            block.map(sack).collect()
        };
        let (from, to) = if is_a { (A, B) } else { (B, A) };
        let (seq, ack) = if is_a {
            (seq.wrapping_add(self.shift), ack)
        } else {
            (seq, ack.wrapping_add(self.shift))
        };
        self.packets += 1;
        let packet = TcpPacket {
            from,
            to,
            id: self.packets,
            ecn: 0,
            seq,
            ack,
            flags,
            window,
            options: &options,
            len,
        };
        let at = Time::ZERO + Duration::from_millis(1_000 + self.now);
        let written = self.writer.packet(at, &packet);
        written.expect("a vector takes everything");
    }

    /// A sends this many bytes from this position on.
    fn data(&mut self, from: u32, flags: Flags, len: u32) {
        self.say(true, START + from, OTHER, flags, 60_000, len);
    }

    /// B acknowledges everything before this position.
    fn ack(&mut self, upto: u32, window: u16) {
        self.say(false, OTHER, START + upto, ACK, window, 0);
    }

    /// B acknowledges everything before `upto`, and this block beyond it.
    fn sack(&mut self, upto: u32, block: Range<u32>) {
        let position = |place: u32| (START + place).wrapping_add(self.shift);
        self.block = Some((position(block.start), position(block.end)));
        self.ack(upto, 60_000);
    }

    fn shake(&mut self) {
        self.say(true, START - 1, 0, SYN, 60_000, 0);
        self.wait(20);
        self.say(false, OTHER - 1, START, ANSWER, 60_000, 0);
        self.say(true, START, OTHER, ACK, 60_000, 0);
    }

    /// Round trips of two packets each; the second packet has PSH.
    fn rounds(&mut self, rounds: u32, len: u32) {
        for round in 0..rounds {
            let from = round * 2 * len;
            self.data(from, ACK, len);
            self.data(from + len, PUSH, len);
            self.wait(20);
            self.ack(from + 2 * len, 60_000);
        }
    }

    fn file(self) -> Vec<u8> {
        self.writer.finish().expect("a vector takes everything")
    }

    fn told(self) -> Vec<ConnectionSummary> {
        summary(&self.file()).connections
    }

    fn flow(self) -> FlowSummary {
        let mut connections = self.told();
        assert_eq!(connections.len(), 1);
        connections[0].flows.swap_remove(0)
    }
}

#[test]
fn a_path_that_takes_shorter_packets_is_no_application() {
    // A growing window. The last packet of each round has PSH.
    let mut talk = Talk::new();
    talk.shake();
    let mut from = 0;
    for window in 2..40 {
        for packet in 1..=window {
            let flags = if packet == window { PUSH } else { ACK };
            talk.data(from, flags, 1_228);
            from += 1_228;
        }
        talk.wait(20);
        talk.ack(from, 60_000);
    }
    let flow = talk.flow();
    assert_eq!(flow.mss_bytes, 1_228);
    let by = flow.limited_by.expect("limits");
    assert!(by.application < 0.15, "{by:?}");
    // The same rounds with short writes.
    let mut talk = Talk::new();
    talk.shake();
    for write in 0..50 {
        talk.data(write * 700, PUSH, 700);
        talk.wait(20);
        talk.ack((write + 1) * 700, 60_000);
    }
    let by = talk.flow().limited_by.expect("limits");
    assert!(by.application > 0.9, "{by:?}");
}

#[test]
fn ports_that_are_used_again_are_another_connection() {
    let mut talk = Talk::new();
    talk.shake();
    talk.rounds(5, 1_000);
    talk.wait(500);
    talk.shift = 3_000_000_000;
    talk.shake();
    talk.rounds(2, 1_000);
    let told = talk.told();
    let delivered = told.iter().map(|one| one.flows[0].delivered_bytes);
    assert_eq!(delivered.collect::<Vec<_>>(), [10_000, 4_000]);
    assert!(told.iter().all(|one| one.handshake_ms == Some(20.0)));
}

#[test]
fn an_answer_that_comes_twice_is_of_the_same_connection() {
    let mut talk = Talk::new();
    talk.say(true, START - 1, 0, SYN, 60_000, 0);
    talk.wait(1_000);
    talk.say(true, START - 1, 0, SYN, 60_000, 0);
    talk.wait(20);
    talk.say(false, OTHER - 1, START, ANSWER, 60_000, 0);
    talk.wait(1_000);
    talk.say(false, OTHER - 1, START, ANSWER, 60_000, 0);
    talk.rounds(3, 1_460);
    assert_eq!(talk.flow().delivered_bytes, 6 * 1_460);
}

#[test]
fn what_asks_for_an_answer_alone_is_no_repeat() {
    let mut talk = Talk::new();
    talk.shake();
    talk.rounds(3, 1_460);
    let sent = 6 * 1_460;
    // Keepalives with the last acknowledged byte, and one without a byte.
    for len in [1, 1, 0, 1] {
        talk.wait(45_000);
        talk.data(sent - 1, ACK, len);
        talk.wait(20);
        talk.ack(sent, 60_000);
    }
    // A zero window. The byte behind the window is sent again and again until the window opens.
    talk.data(sent, PUSH, 1_000);
    talk.wait(20);
    talk.ack(sent + 1_000, 0);
    for _ in 0..3 {
        talk.wait(300);
        talk.data(sent + 1_000, ACK, 1);
        talk.wait(20);
        talk.ack(sent + 1_000, 0);
    }
    talk.wait(300);
    talk.data(sent + 1_000, ACK, 1);
    talk.wait(20);
    talk.ack(sent + 1_001, 60_000);
    talk.data(sent + 1_001, PUSH, 1_459);
    talk.wait(20);
    talk.ack(sent + 2_460, 60_000);
    let flow = talk.flow();
    let counted = (
        flow.retransmitted,
        flow.lost,
        flow.spurious,
        flow.duplicated,
    );
    assert_eq!(counted, (0, Some(0), 0, 0), "{flow:?}");
    assert_eq!((flow.packets, flow.missed_bytes), (8, 0), "{flow:?}");
    assert_eq!(flow.delivered_bytes, u64::from(sent) + 2_460);
}

/// Each end sends data and FIN, and acknowledges both. The sequence numbers wrap around within A's data.
#[test]
fn fin_is_not_data() {
    let close = Flags::ACK.with(Flags::FIN);
    for is_with_data in [true, false] {
        let mut talk = Talk::new();
        talk.shift = u32::MAX - START - 3_000;
        talk.shake();
        talk.rounds(3, 1_000);
        // FIN follows a hole, and SACK acknowledges it.
        let sent = if is_with_data { 8_000 } else { 7_000 };
        talk.data(6_000, ACK, 1_000);
        talk.data(7_000, close, sent - 7_000);
        talk.wait(20);
        talk.sack(6_000, 7_000..sent + 1);
        talk.data(6_000, ACK, 1_000);
        talk.wait(20);
        talk.ack(sent + 1, 60_000);
        talk.say(false, OTHER, START + sent + 1, close, 60_000, 500);
        talk.say(true, START + sent + 1, OTHER + 501, ACK, 60_000, 0);
        let mut connections = talk.told();
        let flows = connections.swap_remove(0).flows;
        let counted = flows.iter().map(|flow| {
            let lost = flow.lost.expect("it is known");
            (flow.delivered_bytes, flow.missed_bytes, lost)
        });
        let expected = [(u64::from(sent), 0, 1), (500, 0, 0)];
        assert_eq!(counted.collect::<Vec<_>>(), expected, "{flows:?}");
    }
}

/// As in ProbeRTT with many losses, the window of a few packets has room only for retransmissions.
#[test]
fn a_round_with_only_retransmissions_has_data_in_flight() {
    let mut talk = Talk::new();
    talk.shake();
    talk.rounds(5, 1_000);
    talk.data(10_000, ACK, 1_000);
    talk.data(11_000, ACK, 1_000);
    talk.wait(20);
    talk.sack(10_000, 11_000..12_000);
    talk.data(10_000, ACK, 1_000);
    talk.wait(20);
    talk.ack(12_000, 60_000);
    let mut trace = Trace::new();
    trace.read(&talk.file()[..], &|| true).expect("a capture");
    let (connections, ..) = trace.into_connections();
    let flow = connections[0].sides[0].flow.as_deref().expect("data");
    let most = flow.rounds.done().iter().map(|round| round.most().get());
    let expected = [[2_000; 6].as_slice(), &[1_000]].concat();
    assert_eq!(most.collect::<Vec<_>>(), expected);
}

#[test]
fn without_acknowledgements_nothing_is_told_of_limits() {
    let mut talk = Talk::new();
    talk.say(true, START - 1, 0, SYN, 60_000, 0);
    for packet in 0..40 {
        talk.wait(5);
        talk.data(packet * 1_460, ACK, 1_460);
    }
    let flow = talk.flow();
    assert_eq!((flow.packets, flow.acks), (40, 0));
    assert!(flow.limited_by.is_none(), "{flow:?}");
    assert!(
        flow.goodput_bps.is_none() && flow.controller.is_none(),
        "{flow:?}"
    );
}
