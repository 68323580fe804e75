//! Captures that begin late or are truncated. Missing data must not be invented.

use capture::packet::Flags;
use capture::write::{TcpOption, TcpPacket, Writer};
use units::{Duration, Time};

use super::{A, B, summary};
use crate::{FlowSummary, Summary};

pub(super) const ACK: Flags = Flags::ACK;
const PUSH: Flags = Flags::ACK.with(Flags::PSH);
pub(super) const SYN: Flags = Flags::SYN;
const ANSWER: Flags = Flags::SYN.with(Flags::ACK);

/// The payload of a full packet.
pub(super) const FULL: u32 = 1_448;

/// Two hosts, as captured at A or B.
pub(super) struct Line {
    writer: Writer<Vec<u8>>,
    pub(super) now_us: u64,
    id: u16,
    pub(super) has_timestamps: bool,
    /// TSval of the latest packet from A, and from B.
    latest: [u32; 2],
    /// The bytes of a SYN's headers that are captured.
    snap: usize,
    last: (Vec<u8>, u32),
    pub(super) sent: u32,
}

impl Line {
    pub(super) fn new() -> Line {
        Line {
            writer: Writer::new(Vec::new(), "late").expect("a vector takes everything"),
            now_us: 0,
            id: 0,
            has_timestamps: true,
            latest: [0; 2],
            snap: usize::MAX,
            last: (Vec::new(), 0),
            sent: 0,
        }
    }

    pub(super) fn wait(&mut self, us: u64) {
        self.now_us += us;
    }

    pub(super) fn say(
        &mut self,
        is_a: bool,
        (seq, ack): (u32, u32),
        flags: Flags,
        window: u16,
        len: u32,
        blocks: &[(u32, u32)],
    ) {
        let (from, to, own) = if is_a { (A, B, 0) } else { (B, A, 1) };
        let mut options = Vec::new();
        if self.has_timestamps {
            self.latest[own] = 1_000 + (self.now_us / 1_000) as u32;
            let stamp = TcpOption::Timestamp(self.latest[own], self.latest[1 - own]);
            options.extend([TcpOption::Noop, TcpOption::Noop, stamp]);
        }
        if flags.has(SYN) {
            options.extend([
                TcpOption::MaximumSegmentSize(1_460),
                TcpOption::Noop,
                TcpOption::WindowScale(7),
            ]);
        }
        if let [first, more @ ..] = blocks {
            let more = [0, 1, 2].map(|place| more.get(place).copied());
            let blocks = TcpOption::SelectiveAcknowledgement(*first, more);
            options.extend([TcpOption::Noop, TcpOption::Noop, blocks]);
        }
        self.id += 1;
        let packet = TcpPacket {
            from,
            to,
            id: self.id,
            ecn: 0,
            seq,
            ack,
            flags,
            window,
            options: &options,
            len,
        };
        let mut headers = packet.headers();
        let mut rest = len;
        if flags.has(SYN) && headers.len() > self.snap {
            rest += (headers.len() - self.snap) as u32;
            headers.truncate(self.snap);
        }
        self.last = (headers, rest);
        self.again();
    }

    /// Captures the latest packet once more.
    pub(super) fn again(&mut self) {
        let at = Time::ZERO + Duration::from_micros(1_000_000 + self.now_us);
        let written = self.writer.raw(at, &self.last.0, self.last.1);
        written.expect("a vector takes everything");
    }

    pub(super) fn shake(&mut self, rtt_us: u64) {
        self.say(true, (0, 0), SYN, 60_000, 0, &[]);
        self.wait(rtt_us);
        self.say(false, (0, 1), ANSWER, 60_000, 0, &[]);
        self.say(true, (1, 1), ACK, 500, 0, &[]);
    }

    /// A sends this many further bytes.
    pub(super) fn data(&mut self, flags: Flags, len: u32) {
        self.say(true, (1 + self.sent, 1), flags, 500, len, &[]);
        self.sent += len;
    }

    /// B acknowledges all but the last `but` bytes.
    pub(super) fn ack(&mut self, but: u32, window: u16) {
        self.say(false, (1, 1 + self.sent - but), ACK, window, 0, &[]);
    }

    pub(super) fn summary(self) -> Summary {
        summary(&self.writer.finish().expect("a vector takes everything"))
    }

    /// The flow from A.
    fn flow(self) -> FlowSummary {
        let mut summary = self.summary();
        assert_eq!(summary.connections.len(), 1);
        let flows = summary.connections.swap_remove(0).flows;
        let of_a = |flow: &FlowSummary| flow.from == A.to_string();
        flows.into_iter().find(of_a).expect("A sends")
    }
}

/// A serves requests 2 ms away from B, and thinks for 30 ms about each. The capture is at A, and begins late.
fn thinking(first: u32, second: u32) -> FlowSummary {
    let mut line = Line::new();
    for request in 0..40 {
        line.say(
            false,
            (1 + request * 100, 1 + line.sent),
            PUSH,
            60_000,
            100,
            &[],
        );
        line.wait(30_000);
        for packet in 0..first {
            let flags = if packet + 1 == first && second == 0 {
                PUSH
            } else {
                ACK
            };
            let len = if flags == PUSH { 700 } else { FULL };
            line.data(flags, len);
        }
        line.wait(2_000);
        for packet in 0..second {
            let but = (first - packet - 1) * FULL + packet * FULL;
            line.ack(but, 60_000);
            line.data(
                if packet + 1 == second { PUSH } else { ACK },
                if packet + 1 == second { 700 } else { FULL },
            );
        }
        line.wait(2_000);
        line.ack(0, 60_000);
        line.wait(5_000);
    }
    line.flow()
}

#[test]
fn what_an_application_thinks_is_no_way_to_the_sender() {
    let flow = thinking(1, 0);
    assert_eq!((flow.place, flow.rtprop_ms), ("unknown", None), "{flow:?}");
    // Data that wait for acknowledgements show the round-trip time to the sender.
    let flow = thinking(6, 4);
    assert_eq!(
        (flow.place, flow.rtprop_ms),
        ("sender", Some(2.0)),
        "{flow:?}"
    );
}

/// B reads 20 kB every 300 ms. The segments that the window's edge cuts have PSH. The window opens `idle_us` before A
/// sends.
fn slow_reader(idle_us: u64) -> FlowSummary {
    let mut line = Line::new();
    line.shake(20_000);
    for _ in 0..20 {
        line.wait(idle_us);
        let window = 156 << 7;
        for _ in 0..window / FULL {
            line.data(ACK, FULL);
        }
        line.data(PUSH, window % FULL);
        line.wait(20_000);
        line.ack(0, 0);
        line.wait(300_000 - idle_us);
        line.ack(0, 156);
    }
    line.flow()
}

#[test]
fn what_the_windows_edge_has_cut_ends_no_write() {
    let by = slow_reader(0).limited_by.expect("limits");
    assert!(by.receiver > 0.9, "{by:?}");
    // The window has had room for a long time, so the application limits.
    let by = slow_reader(250_000).limited_by.expect("limits");
    assert!(by.application > 0.8, "{by:?}");
}

/// A growing window without a handshake. Each round ends with two full packets with PSH.
fn growing(line: &mut Line, window: u16) {
    for packets in 6..40 {
        line.data(ACK, packets * FULL);
        line.data(PUSH, 2 * FULL);
        line.wait(20_000);
        line.ack((packets + 1) * FULL, window);
    }
}

#[test]
fn without_the_handshake_full_packets_that_are_pushed_end_no_write() {
    let mut line = Line::new();
    growing(&mut line, 60_000);
    let flow = line.flow();
    assert_eq!((flow.place, flow.mss_bytes), ("sender", 1_448));
    let by = flow.limited_by.expect("limits");
    assert!(by.application < 0.2 && by.receiver < 0.2, "{by:?}");
}

#[test]
fn without_the_handshake_the_windows_edge_tells_its_scale() {
    let mut line = Line::new();
    for round in 0..200 {
        // Up to 64,000 bytes.
        for _ in 0..if round == 0 { 44 } else { 22 } {
            line.data(ACK, FULL);
        }
        line.wait(20_000);
        line.ack(22 * FULL, 500);
    }
    let flow = line.flow();
    let by = flow.limited_by.expect("limits");
    assert!(by.receiver > 0.8, "{by:?}");
}

#[test]
fn options_that_were_cut_are_unknown_and_not_absent() {
    let mut line = Line::new();
    line.snap = 40;
    line.shake(20_000);
    growing(&mut line, 900);
    let summary = line.summary();
    assert_eq!(summary.read.cut_options, 2);
    let flow = &summary.connections[0].flows[0];
    assert_eq!((flow.place, flow.mss_bytes), ("sender", 1_448));
    let by = flow.limited_by.expect("limits");
    assert!(by.receiver < 0.05, "{by:?}");
}

#[test]
fn what_the_network_doubles_is_sent_once() {
    // At B, which answers at once, so a copy comes after its acknowledgement.
    let mut line = Line::new();
    line.shake(0);
    line.wait(20_000);
    for packet in 0..200 {
        let from = 1 + line.sent;
        line.data(ACK, FULL);
        if packet % 10 == 9 {
            let copy = line.last.clone();
            line.ack(0, 500);
            line.last = copy;
            line.again();
            let (ack, block) = ((1, 1 + line.sent), [(from, from + FULL)]);
            line.say(false, ack, ACK, 500, 0, &block);
        } else {
            line.ack(0, 500);
        }
        line.wait(5_000);
    }
    let flow = line.flow();
    let counted = (flow.packets, flow.retransmitted, flow.lost, flow.spurious);
    assert_eq!(counted, (200, 0, Some(0), 0), "{flow:?}");
    assert_eq!((flow.copies, flow.duplicated), (20, 20));
}

#[test]
fn a_block_that_is_told_twice_arrived_twice() {
    // The first packet is lost, and the third arrives twice. Linux reports it as D-SACK, and again as received data.
    let mut line = Line::new();
    line.shake(20_000);
    for _ in 0..3 {
        line.data(ACK, FULL);
    }
    line.wait(20_000);
    let block = (1 + FULL, 1 + 3 * FULL);
    line.say(false, (1, 1), ACK, 500, 0, &[block]);
    line.say(false, (1, 1), ACK, 500, 0, &[block, block]);
    let flow = line.flow();
    assert_eq!((flow.duplicated, flow.spurious), (1, 0));
}

#[test]
fn a_retransmission_acknowledged_within_the_minimum_rtt_is_spurious() {
    for (has_block, span_us, spurious) in [
        (false, 5_000, 1),
        (false, 20_000, 0),
        (true, 5_000, 1),
        (true, 20_000, 0),
    ] {
        let mut line = Line::new();
        line.has_timestamps = false;
        line.shake(20_000);
        for _ in 0..4 {
            line.data(ACK, FULL);
        }
        line.wait(20_000);
        line.ack(3 * FULL, 500);
        // After a long silence, the sender retransmits the second packet, or the third one before the second.
        line.wait(300_000);
        let from = 1 + FULL * if has_block { 2 } else { 1 };
        line.say(true, (from, 1), ACK, 500, FULL, &[]);
        line.wait(span_us);
        if has_block {
            let block = [(from, from + FULL)];
            line.say(false, (1, 1 + FULL), ACK, 500, 0, &block);
        } else {
            line.ack(2 * FULL, 500);
        }
        line.wait(40_000);
        line.ack(0, 500);
        let flow = line.flow();
        let counted = (flow.retransmitted, flow.spurious, flow.lost);
        let what = format!("{has_block} {span_us}: {flow:?}");
        assert_eq!(counted, (1, spurious, Some(1 - spurious)), "{what}");
    }
}

#[test]
fn with_data_in_the_syn_rtprop_includes_the_handshake() {
    let mut line = Line::new();
    line.say(true, (0, 0), SYN, 60_000, 500, &[]);
    line.sent = 500;
    line.wait(20_000);
    line.say(false, (0, 501), ANSWER, 60_000, 0, &[]);
    // The packets with data take 6 ms to be sent.
    for _ in 0..20 {
        line.data(ACK, FULL);
        line.wait(26_000);
        line.ack(0, 500);
    }
    assert_eq!(line.flow().rtprop_ms, Some(20.0));
}

#[test]
fn a_capture_goes_on_after_a_hole() {
    for hole in [1_200_000_000, 2_000_000_000, 3_000_000_000] {
        let mut line = Line::new();
        line.shake(20_000);
        for packet in 0..100 {
            if packet == 50 {
                line.sent += hole;
            }
            line.data(ACK, FULL);
            line.wait(20_000);
            line.ack(0, 500);
        }
        let flow = line.flow();
        // The first packet after the hole could be anyone's.
        let counted = (flow.packets, flow.delivered_bytes, flow.retransmitted);
        assert_eq!(counted, (99, 99 * u64::from(FULL), 0), "{hole}: {flow:?}");
        assert_eq!(flow.rtt_ms.expect("RTTs").max, 20.0);
    }
}

#[test]
fn a_packet_from_elsewhere_makes_no_hole() {
    let mut line = Line::new();
    line.shake(20_000);
    for packet in 0..100 {
        if packet % 10 == 5 {
            line.say(true, (2_000_000_000, 1), ACK, 500, FULL, &[]);
        }
        line.data(ACK, FULL);
        line.wait(20_000);
        line.ack(0, 500);
    }
    assert_eq!(line.flow().delivered_bytes, 100 * u64::from(FULL));
}
