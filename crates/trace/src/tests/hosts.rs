//! A connection of two hosts, as a capture.

use capture::packet::Flags;
use capture::write::{TcpOption, TcpPacket, Writer};
use units::{Duration, Time};

use super::{A, B, summary};
use crate::{FlowSummary, Summary};

pub(super) const ACK: Flags = Flags::ACK;
pub(super) const PUSH: Flags = Flags::ACK.with(Flags::PSH);
pub(super) const SYN: Flags = Flags::SYN;
pub(super) const SYN_ACK: Flags = Flags::SYN.with(Flags::ACK);

/// The payload of a full packet.
pub(super) const FULL: u32 = 1_448;

/// Two hosts, as captured at A or B.
pub(super) struct Hosts {
    writer: Writer<Vec<u8>>,
    pub(super) now_us: u64,
    id: u16,
    pub(super) has_timestamps: bool,
    /// TSval of the latest packet from A, and from B.
    latest: [u32; 2],
    /// The bytes of a SYN's headers that are captured.
    pub(super) snap: usize,
    pub(super) last: (Vec<u8>, u32),
    pub(super) sent: u32,
}

impl Hosts {
    pub(super) fn new() -> Hosts {
        Hosts {
            writer: Writer::new(Vec::new(), "hosts").expect("a vector takes everything"),
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
        self.say(false, (0, 1), SYN_ACK, 60_000, 0, &[]);
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

    pub(super) fn file(self) -> Vec<u8> {
        self.writer.finish().expect("a vector takes everything")
    }

    pub(super) fn summary(self) -> Summary {
        summary(&self.file())
    }

    /// The flow from A.
    pub(super) fn flow(self) -> FlowSummary {
        let mut summary = self.summary();
        assert_eq!(summary.connections.len(), 1);
        let flows = summary.connections.swap_remove(0).flows;
        let of_a = |flow: &FlowSummary| flow.from == A.to_string();
        flows.into_iter().find(of_a).expect("A sends")
    }
}
