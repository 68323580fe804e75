//! TCP's segments between two hosts, as plain data.
//!
//! Sequence numbers are 64-bit positions in the byte stream and never wrap. Everything else is as in TCP with
//! timestamps (RFC 7323), SACK (RFC 2018), D-SACK (RFC 2883) and ECN (RFC 3168). Payload has a length and no contents.

use core::ops::Range;

use congestion::{Bytes, Duration, Time};

/// The size of the IPv4 and TCP headers with the timestamp option.
pub const HEADERS: Bytes = Bytes::new(20 + 20 + 12);

/// The payload of a full segment on Ethernet: 1500 bytes less [`HEADERS`].
pub const MSS: Bytes = Bytes::new(1500 - HEADERS.get());

/// The size of a SYN's options beside the timestamp: MSS, window scale, SACK permitted.
const SYN_OPTIONS_BYTES: u64 = 8;

/// The size of the option with a cookie of 8 bytes (Linux's size), padded (RFC 7413, section 4.1.1). The options that
/// request and deliver a cookie are left out.
const COOKIE_BYTES: u64 = 12;

/// The most SACK blocks beside the timestamp option (RFC 2018, section 3).
pub const MAX_SACK_BLOCKS: usize = 3;

/// A segment of one direction of a connection. The other direction, if the application uses it, is another pair of
/// sender and receiver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment {
    /// The connection's number, the same at both hosts.
    pub connection: u32,
    /// Its contents.
    pub body: Body,
}

/// The contents of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Body {
    /// The sender requests a connection.
    Syn {
        /// The time at which it left the sender.
        sent: Time,
    },
    /// The sender requests a connection with a cookie, and includes the first payload (RFC 7413).
    FastOpen(Data),
    /// The receiver accepts.
    SynAck {
        /// The time at which it left the receiver: TSval.
        sent: Time,
        /// [`Body::Syn`]'s `sent`, echoed.
        echo: Time,
        /// The cumulative acknowledgement: beyond zero, the SYN's payload was accepted.
        next: u64,
        /// The offered window in bytes.
        window: u64,
    },
    /// Payload.
    Data(Data),
    /// An acknowledgement.
    Ack(Ack),
}

/// A segment with payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Data {
    /// The stream position of its first byte.
    pub seq: u64,
    /// Bytes of payload.
    pub len: u32,
    /// The time at which it left the sender: TSval (RFC 7323). A retransmission has a later one.
    pub sent: Time,
    /// TSecr (RFC 7323): the `sent` of the latest [`Body::SynAck`] or [`Ack`] that had reached the sender. The receiver
    /// measures its RTT from it.
    pub echo: Time,
    /// Whether the sender reports that it has reduced its window (RFC 3168, CWR).
    pub cwr: bool,
    /// Whether it ends a burst of several segments, so that more may not follow soon (RFC 9293, PSH).
    pub push: bool,
    /// The ACKs that the sender requests from now on, if it does.
    pub ack_request: Option<AckRequest>,
}

/// A sender's request for ACKs, as QUIC has it in the frames ACK_FREQUENCY and IMMEDIATE_ACK (draft-ietf-quic-ack-frequency),
/// and TCP in an option (draft-ietf-tcpm-ack-rate-request). Here each segment repeats it, and it takes no room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AckRequest {
    /// The full segments that cause an ACK: one more than the Ack-Eliciting Threshold.
    pub every: u32,
    /// The longest delay of an ACK: the Requested Max Ack Delay.
    pub max_delay: Duration,
    /// Whether this segment is to be acknowledged at once: IMMEDIATE_ACK.
    pub is_immediate: bool,
}

impl Data {
    /// The end position of its last byte.
    pub const fn end(&self) -> u64 {
        self.seq.saturating_add(self.len as u64)
    }
}

/// An acknowledgement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ack {
    /// The cumulative acknowledgement: everything before this position has arrived.
    pub next: u64,
    /// The offered window: the bytes from `next` on that the receiver accepts.
    pub window: u64,
    /// The time at which it left the receiver: TSval (RFC 7323).
    pub sent: Time,
    /// TSecr (RFC 7323): the `sent` of the segment from which to measure the RTT.
    pub echo: Time,
    /// The ranges that have arrived beyond `next`, newest first. The first may be a D-SACK (see [`SackBlocks::dsack`]).
    pub sacks: SackBlocks,
    /// ECE (RFC 3168): the network has marked data, and the sender has not yet reported a reduction.
    pub ecn_echo: bool,
    /// Bytes of payload that arrived marked since the connection began (as Accurate ECN counts them).
    pub ce_bytes: u64,
}

/// The blocks of one SACK option.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SackBlocks {
    blocks: [(u64, u64); MAX_SACK_BLOCKS],
    len: u8,
    has_dsack: bool,
}

impl SackBlocks {
    /// An option without blocks.
    pub const NONE: SackBlocks = SackBlocks {
        blocks: [(0, 0); MAX_SACK_BLOCKS],
        len: 0,
        has_dsack: false,
    };

    /// Adds the duplicate range of the acknowledged segment as the first block (RFC 2883). Call it before any
    /// [`SackBlocks::push`].
    pub fn set_dsack(&mut self, range: Range<u64>) {
        if self.len == 0 && !range.is_empty() {
            self.has_dsack = self.push(range);
        }
    }

    /// Adds a block at the end; returns `false` if it is empty or there is no room.
    pub fn push(&mut self, range: Range<u64>) -> bool {
        let place = self.blocks.get_mut(usize::from(self.len));
        match place {
            Some(place) if !range.is_empty() => {
                *place = (range.start, range.end);
                self.len += 1;
                true
            }
            _ => false,
        }
    }

    /// The range that arrived twice, if the option reports one.
    pub fn dsack(&self) -> Option<Range<u64>> {
        let (start, end) = *self.blocks.first()?;
        self.has_dsack.then_some(start..end)
    }

    /// The ranges that have arrived beyond the cumulative acknowledgement, without the D-SACK.
    pub fn ranges(&self) -> impl Iterator<Item = Range<u64>> + use<> {
        let blocks = self.blocks;
        let used = usize::from(self.has_dsack)..usize::from(self.len);
        used.filter_map(move |index| blocks.get(index).map(|(start, end)| *start..*end))
    }

    /// The number of blocks.
    pub const fn len(&self) -> usize {
        self.len as usize
    }

    /// Whether there is no option.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }
}

impl Segment {
    /// Its size on the wire: that of the IP packet, including headers.
    pub const fn wire_size(&self) -> Bytes {
        let beside = match &self.body {
            Body::Data(data) => data.len as u64,
            Body::Syn { .. } | Body::SynAck { .. } => SYN_OPTIONS_BYTES,
            Body::FastOpen(data) => SYN_OPTIONS_BYTES + COOKIE_BYTES + data.len as u64,
            Body::Ack(ack) if ack.sacks.is_empty() => 0,
            Body::Ack(ack) => 4 + 8 * ack.sacks.len() as u64,
        };
        Bytes::new(HEADERS.get() + beside)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dsack_stands_in_front_and_is_no_range() {
        let mut sacks = SackBlocks::NONE;
        sacks.set_dsack(10..20);
        assert!(sacks.push(40..50));
        assert!(sacks.push(60..70));
        assert!(!sacks.push(80..90), "no fourth block");
        assert_eq!(sacks.dsack(), Some(10..20));
        assert_eq!(sacks.ranges().collect::<Vec<_>>(), [40..50, 60..70]);
    }

    #[test]
    fn an_empty_range_is_no_block() {
        let mut sacks = SackBlocks::NONE;
        sacks.set_dsack(5..5);
        assert!(!sacks.push(7..7));
        assert!(sacks.is_empty());
        assert_eq!(sacks.dsack(), None);
    }

    #[test]
    fn sizes_on_the_wire() {
        let of = |body| {
            Segment {
                connection: 0,
                body,
            }
            .wire_size()
            .get()
        };
        let data = Data {
            seq: 0,
            len: 1448,
            sent: Time::ZERO,
            echo: Time::ZERO,
            cwr: false,
            push: false,
            ack_request: None,
        };
        let mut ack = Ack {
            next: 0,
            window: 0,
            sent: Time::ZERO,
            echo: Time::ZERO,
            sacks: SackBlocks::NONE,
            ecn_echo: false,
            ce_bytes: 0,
        };
        assert_eq!(of(Body::Data(data)), 1500);
        assert_eq!(of(Body::Ack(ack)), 52);
        ack.sacks.push(1..2);
        assert_eq!(of(Body::Ack(ack)), 64);
        assert_eq!(of(Body::Syn { sent: Time::ZERO }), 60);
        assert_eq!(of(Body::FastOpen(Data { len: 100, ..data })), 172);
    }
}
