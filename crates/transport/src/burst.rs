//! The unit that a sender hands to the packet scheduler: a contiguous piece of its stream, cut into packets only when
//! it leaves. Linux calls it an skb, and the cutting segmentation offload (TSO, GSO).

use congestion::{Bytes, Time};

use crate::segment::{AckRequest, Body, Data, HEADERS, Segment};

/// A contiguous piece of one connection's stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Burst {
    /// Its connection.
    pub connection: u32,
    /// Its kind.
    pub kind: Kind,
    /// The stream position of its first byte.
    pub seq: u64,
    /// Bytes of payload; a SYN has payload only with TCP Fast Open.
    pub bytes: u32,
    /// The most payload of one packet. Zero counts as one.
    pub mss: u32,
    /// The earliest departure time.
    pub departure: Time,
    /// The timestamp that its packets echo: [`Data::echo`].
    pub echo: Time,
    /// Whether its bytes have been sent before.
    pub is_retransmission: bool,
    /// Whether its first packet reports a reduction of the window (RFC 3168, CWR).
    pub cwr: bool,
    /// Whether it ends with the last byte that the application has written.
    pub ends_write: bool,
    /// The ACKs that its packets request. Only the last of them requests an immediate one.
    pub ack_request: Option<AckRequest>,
}

/// The kind of a [`Burst`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A single packet that requests a connection.
    Syn,
    /// Payload.
    Data,
}

impl Burst {
    /// Its packets in order, each with the departure time as timestamp (Linux writes `skb_mstamp_ns`, which is the
    /// earliest departure time, into TSval).
    ///
    /// Only the first carries CWR and only the last PSH, as with segmentation offload (Linux `tcp_gso_segment`). A
    /// single packet has PSH only if it ends a write (`tcp_push`): otherwise it may be all that a small window
    /// allows, and then its ACK should wait for the next packet (`__tcp_transmit_skb`). Linux also sets PSH each time
    /// that half the greatest receive window has been written, some tens of segments apart (`forced_push`).
    pub fn segments(&self) -> impl Iterator<Item = Segment> + use<> {
        let burst = *self;
        let mss = burst.mss.max(1);
        let packets = burst.packets();
        (0..packets).map(move |index| {
            let offset = index.saturating_mul(mss);
            let is_last = index + 1 == packets;
            let data = Data {
                seq: burst.seq.saturating_add(u64::from(offset)),
                len: burst.bytes.saturating_sub(offset).min(mss),
                sent: burst.departure,
                echo: burst.echo,
                cwr: burst.cwr && index == 0,
                push: (packets > 1 || burst.ends_write) && is_last,
                ack_request: burst.ack_request.map(|request| AckRequest {
                    is_immediate: request.is_immediate && is_last,
                    ..request
                }),
            };
            Segment {
                connection: burst.connection,
                body: match burst.kind {
                    Kind::Syn if burst.bytes == 0 => Body::Syn {
                        sent: burst.departure,
                    },
                    Kind::Syn => Body::FastOpen(data),
                    Kind::Data => Body::Data(data),
                },
            }
        })
    }

    /// The number of its packets; at least one.
    pub fn packets(&self) -> u32 {
        match self.kind {
            Kind::Syn => 1,
            Kind::Data => self.bytes.div_ceil(self.mss.max(1)).max(1),
        }
    }

    /// The end position of its last byte.
    pub const fn end(&self) -> u64 {
        self.seq.saturating_add(self.bytes as u64)
    }

    /// Its size on the wire, including the headers of every packet (Linux `qdisc_pkt_len_segs_init`).
    pub fn wire_size(&self) -> Bytes {
        match self.kind {
            Kind::Syn => self.segments().map(|syn| syn.wire_size()).sum(),
            Kind::Data => Bytes::new(u64::from(self.bytes)) + HEADERS * u64::from(self.packets()),
        }
    }
}

#[cfg(test)]
mod tests {
    use congestion::Duration;

    use super::*;

    const BURST: Burst = Burst {
        connection: 3,
        kind: Kind::Data,
        seq: 10_000,
        bytes: 3_000,
        mss: 1_448,
        departure: Time::from_nanos(77),
        echo: Time::from_nanos(33),
        is_retransmission: false,
        cwr: true,
        ends_write: false,
        ack_request: None,
    };

    #[test]
    fn a_burst_is_cut_into_packets_of_at_most_an_mss() {
        let data: Vec<_> = BURST
            .segments()
            .map(|segment| match segment.body {
                Body::Data(data) => (
                    data.seq,
                    data.len,
                    data.sent.as_nanos(),
                    data.cwr,
                    data.push,
                ),
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(
            data,
            [
                (10_000, 1_448, 77, true, false),
                (11_448, 1_448, 77, false, false),
                (12_896, 104, 77, false, true)
            ]
        );
        assert_eq!(BURST.packets(), 3);
        assert_eq!(BURST.end(), 13_000);
        let cut: Bytes = BURST.segments().map(|segment| segment.wire_size()).sum();
        assert_eq!(BURST.wire_size(), cut);
    }

    #[test]
    fn a_single_packet_is_pushed_where_a_write_ends() {
        let is_pushed = |segment: Segment| match segment.body {
            Body::Data(data) => data.push,
            other => panic!("{other:?}"),
        };
        for ends_write in [false, true] {
            let single = Burst {
                bytes: 1_448,
                ends_write,
                ..BURST
            };
            let pushed: Vec<bool> = single.segments().map(is_pushed).collect();
            assert_eq!(pushed, [ends_write]);
        }
    }

    #[test]
    fn only_the_last_packet_requests_an_immediate_ack() {
        let request = AckRequest {
            every: 4,
            max_delay: Duration::from_millis(10),
            is_immediate: true,
        };
        let burst = Burst {
            ack_request: Some(request),
            ..BURST
        };
        let requests = burst.segments().map(|segment| match segment.body {
            Body::Data(data) => data.ack_request.map(|it| (it.every, it.is_immediate)),
            other => panic!("{other:?}"),
        });
        let requests: Vec<_> = requests.flatten().collect();
        assert_eq!(requests, [(4, false), (4, false), (4, true)]);
    }

    #[test]
    fn a_syn_is_one_packet() {
        let syn = Burst {
            kind: Kind::Syn,
            bytes: 0,
            ..BURST
        };
        let bodies: Vec<_> = syn.segments().map(|segment| segment.body).collect();
        assert_eq!(
            bodies,
            [Body::Syn {
                sent: syn.departure
            }]
        );
    }

    #[test]
    fn extremes_are_harmless() {
        let last = Burst {
            seq: u64::MAX - 1,
            mss: u32::MAX,
            bytes: u32::MAX,
            ..BURST
        };
        assert_eq!(last.segments().count(), 1);
        assert_eq!(last.end(), u64::MAX);
        let bytewise = Burst {
            mss: 0,
            bytes: 5,
            ..BURST
        };
        assert_eq!(bytewise.segments().count(), 5);
    }
}
