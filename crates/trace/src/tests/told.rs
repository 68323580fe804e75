//! Connections that are easy to misread.

use std::ops::Range;

use capture::packet::Flags;

use super::hosts::{ACK, Hosts, PUSH, SYN, SYN_ACK};
use crate::{ConnectionSummary, FlowSummary, Trace};

/// The sequence numbers of the first payload of A, and of B.
const START: u32 = 1_001;
const OTHER: u32 = 5_001;

/// A connection with any sequence numbers. The capture is at A, and the round trip is 20 ms.
struct Conversation {
    hosts: Hosts,
    /// The number that is added to A's sequence numbers.
    shift: u32,
    /// The SACK block of the next packet.
    block: Option<(u32, u32)>,
}

impl Conversation {
    fn new() -> Conversation {
        let mut hosts = Hosts::new();
        hosts.has_timestamps = false;
        Conversation {
            hosts,
            shift: 0,
            block: None,
        }
    }

    fn wait(&mut self, ms: u64) {
        self.hosts.wait(ms * 1_000);
    }

    fn say(&mut self, is_a: bool, seq: u32, ack: u32, flags: Flags, window: u16, len: u32) {
        let numbers = if is_a {
            (seq.wrapping_add(self.shift), ack)
        } else {
            (seq, ack.wrapping_add(self.shift))
        };
        let block = self.block.take();
        self.hosts
            .say(is_a, numbers, flags, window, len, block.as_slice());
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
        self.say(false, OTHER - 1, START, SYN_ACK, 60_000, 0);
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

    fn summaries(self) -> Vec<ConnectionSummary> {
        self.hosts.summary().connections
    }

    fn flow(self) -> FlowSummary {
        let mut connections = self.summaries();
        assert_eq!(connections.len(), 1);
        connections[0].flows.swap_remove(0)
    }
}

#[test]
fn a_path_that_takes_shorter_packets_is_no_application() {
    // A growing window. The last packet of each round has PSH.
    let mut conversation = Conversation::new();
    conversation.shake();
    let mut from = 0;
    for window in 2..40 {
        for packet in 1..=window {
            let flags = if packet == window { PUSH } else { ACK };
            conversation.data(from, flags, 1_228);
            from += 1_228;
        }
        conversation.wait(20);
        conversation.ack(from, 60_000);
    }
    let flow = conversation.flow();
    assert_eq!(flow.mss_bytes, 1_228);
    let by = flow.limited_by.expect("limits");
    assert!(by.application < 0.15, "{by:?}");
    // The same rounds with short writes.
    let mut conversation = Conversation::new();
    conversation.shake();
    for write in 0..50 {
        conversation.data(write * 700, PUSH, 700);
        conversation.wait(20);
        conversation.ack((write + 1) * 700, 60_000);
    }
    let by = conversation.flow().limited_by.expect("limits");
    assert!(by.application > 0.9, "{by:?}");
}

#[test]
fn ports_that_are_used_again_are_another_connection() {
    let mut conversation = Conversation::new();
    conversation.shake();
    conversation.rounds(5, 1_000);
    conversation.wait(500);
    conversation.shift = 3_000_000_000;
    conversation.shake();
    conversation.rounds(2, 1_000);
    let all = conversation.summaries();
    let delivered = all.iter().map(|one| one.flows[0].delivered_bytes);
    assert_eq!(delivered.collect::<Vec<_>>(), [10_000, 4_000]);
    assert!(all.iter().all(|one| one.handshake_ms == Some(20.0)));
}

#[test]
fn an_answer_that_comes_twice_is_of_the_same_connection() {
    let mut conversation = Conversation::new();
    conversation.say(true, START - 1, 0, SYN, 60_000, 0);
    conversation.wait(1_000);
    conversation.say(true, START - 1, 0, SYN, 60_000, 0);
    conversation.wait(20);
    conversation.say(false, OTHER - 1, START, SYN_ACK, 60_000, 0);
    conversation.wait(1_000);
    conversation.say(false, OTHER - 1, START, SYN_ACK, 60_000, 0);
    conversation.rounds(3, 1_460);
    assert_eq!(conversation.flow().delivered_bytes, 6 * 1_460);
}

#[test]
fn what_asks_for_an_answer_alone_is_no_repeat() {
    let mut conversation = Conversation::new();
    conversation.shake();
    conversation.rounds(3, 1_460);
    let sent = 6 * 1_460;
    // Keepalives with the last acknowledged byte, and one without a byte.
    for len in [1, 1, 0, 1] {
        conversation.wait(45_000);
        conversation.data(sent - 1, ACK, len);
        conversation.wait(20);
        conversation.ack(sent, 60_000);
    }
    // A zero window. The byte behind the window is sent again and again until the window opens.
    conversation.data(sent, PUSH, 1_000);
    conversation.wait(20);
    conversation.ack(sent + 1_000, 0);
    for _ in 0..3 {
        conversation.wait(300);
        conversation.data(sent + 1_000, ACK, 1);
        conversation.wait(20);
        conversation.ack(sent + 1_000, 0);
    }
    conversation.wait(300);
    conversation.data(sent + 1_000, ACK, 1);
    conversation.wait(20);
    conversation.ack(sent + 1_001, 60_000);
    conversation.data(sent + 1_001, PUSH, 1_459);
    conversation.wait(20);
    conversation.ack(sent + 2_460, 60_000);
    let flow = conversation.flow();
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
        let mut conversation = Conversation::new();
        conversation.shift = u32::MAX - START - 3_000;
        conversation.shake();
        conversation.rounds(3, 1_000);
        // FIN follows a hole, and SACK acknowledges it.
        let sent = if is_with_data { 8_000 } else { 7_000 };
        conversation.data(6_000, ACK, 1_000);
        conversation.data(7_000, close, sent - 7_000);
        conversation.wait(20);
        conversation.sack(6_000, 7_000..sent + 1);
        conversation.data(6_000, ACK, 1_000);
        conversation.wait(20);
        conversation.ack(sent + 1, 60_000);
        conversation.say(false, OTHER, START + sent + 1, close, 60_000, 500);
        conversation.say(true, START + sent + 1, OTHER + 501, ACK, 60_000, 0);
        let mut connections = conversation.summaries();
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
    let mut conversation = Conversation::new();
    conversation.shake();
    conversation.rounds(5, 1_000);
    conversation.data(10_000, ACK, 1_000);
    conversation.data(11_000, ACK, 1_000);
    conversation.wait(20);
    conversation.sack(10_000, 11_000..12_000);
    conversation.data(10_000, ACK, 1_000);
    conversation.wait(20);
    conversation.ack(12_000, 60_000);
    let mut trace = Trace::new();
    trace
        .read(&conversation.hosts.file()[..], &|| true)
        .expect("a capture");
    let (connections, ..) = trace.into_connections();
    let flow = connections[0].sides[0].flow.as_deref().expect("data");
    let most = flow.rounds.done().iter().map(|round| round.most().get());
    let expected = [[2_000; 6].as_slice(), &[1_000]].concat();
    assert_eq!(most.collect::<Vec<_>>(), expected);
}

#[test]
fn without_acknowledgements_nothing_is_told_of_limits() {
    let mut conversation = Conversation::new();
    conversation.say(true, START - 1, 0, SYN, 60_000, 0);
    for packet in 0..40 {
        conversation.wait(5);
        conversation.data(packet * 1_460, ACK, 1_460);
    }
    let flow = conversation.flow();
    assert_eq!((flow.packets, flow.acks), (40, 0));
    assert!(flow.limited_by.is_none(), "{flow:?}");
    assert!(
        flow.goodput_bps.is_none() && flow.controller.is_none(),
        "{flow:?}"
    );
}
