//! TCP's own view of a connection: `struct tcp_info`.

use units::{Bytes, Duration, Rate};

use super::CaState;
use super::native::{u8_at, u16_at, u32_at, u64_at};

/// What TCP knows about a connection: `struct tcp_info` (`include/uapi/linux/tcp.h`) as Linux 6.18 fills it in
/// `tcp_get_info` (`net/ipv4/tcp.c`).
///
/// A field's name is the kernel's without its `tcpi_`. Packets are the kernel's: a segment of at most `snd_mss` bytes, also
/// where segmentation offload sends many as one. Left out: `tcpi_state`, which [`SocketState`](super::SocketState) has, and
/// `tcpi_fackets` and `tcpi_last_ack_sent`, which are always zero. A field that Linux 5.4 did not have is optional.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TcpInfo {
    /// What the sender thinks of its packets in flight.
    pub ca_state: CaState,
    /// Retransmission timeouts in a row without an acknowledgment of new data.
    pub retransmits: u8,
    /// Unanswered zero-window or keep-alive probes in a row.
    pub probes: u8,
    /// How often the timeout has been doubled: the exponent of the exponential back-off.
    pub backoff: u8,
    /// What the two ends agreed on (`options`, `snd_wscale`, `rcv_wscale`).
    pub negotiated: Negotiated,
    /// Whether the sample behind `delivery_rate` ended in a round in which the application had too little to send:
    /// the path may be able to do more than `delivery_rate`.
    pub delivery_rate_app_limited: bool,
    /// Why TCP Fast Open did not work on the connecting side (`enum tcp_fastopen_client_fail`); zero if it was not tried.
    pub fastopen_client_fail: u8,

    /// The retransmission timeout now, with its back-off (RFC 6298).
    pub rto: Duration,
    /// The estimated time that an acknowledgment may be delayed by this receiver.
    pub ato: Duration,
    /// The payload of a full packet towards the other side, options deducted.
    pub snd_mss: Bytes,
    /// The payload of a full packet from the other side, as estimated by this receiver.
    pub rcv_mss: Bytes,

    /// Packets sent and not yet acknowledged cumulatively (`packets_out`); SACKed and lost ones count.
    pub unacked: u32,
    /// Packets of these that the other side has SACKed (`sacked_out`); without SACK, duplicate ACKs stand in for them.
    pub sacked: u32,
    /// Packets of these that are believed lost (`lost_out`).
    pub lost: u32,
    /// Packets of these whose retransmission is in flight (`retrans_out`).
    pub retrans: u32,

    /// Since data was last sent; milliseconds in the kernel.
    pub last_data_sent: Duration,
    /// Since data last arrived; milliseconds in the kernel.
    pub last_data_recv: Duration,
    /// Since an acknowledgment last arrived; milliseconds in the kernel.
    pub last_ack_recv: Duration,

    /// The path's MTU as TCP knows it.
    pub pmtu: Bytes,
    /// The bound to which this receiver lets its advertised window grow now.
    pub rcv_ssthresh: Bytes,
    /// The smoothed RTT: an exponentially weighted mean with a gain of 1/8 (`srtt_us`; RFC 6298).
    pub rtt: Duration,
    /// The RTT's mean deviation (`mdev_us`; RFC 6298).
    pub rttvar: Duration,
    /// The slow-start threshold in packets; none while it is infinite.
    pub snd_ssthresh: Option<u32>,
    /// The congestion window in packets.
    pub snd_cwnd: u32,
    /// The largest payload that this end said it accepts.
    pub advmss: Bytes,
    /// The reordering that is tolerated before a loss is assumed, in packets.
    pub reordering: u32,

    /// The RTT as this receiver estimates it for the autotuning of its window; zero before the first estimate.
    pub rcv_rtt: Duration,
    /// What the application took in the last such RTT: the receive buffer's autotuning is to leave room for twice that.
    pub rcv_space: Bytes,

    /// Packets retransmitted so far.
    pub total_retrans: u32,

    /// The rate at which packets are let go; none while nothing paces.
    pub pacing_rate: Option<Rate>,
    /// The application's bound on the pacing rate (`SO_MAX_PACING_RATE`); none if there is none.
    pub max_pacing_rate: Option<Rate>,
    /// Bytes acknowledged cumulatively so far. The SYN of the connecting side, and a FIN, count as one byte each
    /// (RFC 4898, `tcpEStatsAppHCThruOctetsAcked`).
    pub bytes_acked: Bytes,
    /// Bytes that arrived in order so far; a FIN counts as one (RFC 4898, `tcpEStatsAppHCThruOctetsReceived`).
    pub bytes_received: Bytes,
    /// Packets sent so far, without data too (RFC 4898, `tcpEStatsPerfSegsOut`).
    pub segs_out: u32,
    /// Packets that arrived so far, without data too (RFC 4898, `tcpEStatsPerfSegsIn`).
    pub segs_in: u32,

    /// Written by the application and never sent yet.
    pub notsent_bytes: Bytes,
    /// The smallest RTT in the last `net.ipv4.tcp_min_rtt_wlen` seconds (300 unless set); none before the first sample.
    pub min_rtt: Option<Duration>,
    /// Packets with data that arrived so far (RFC 4898, `tcpEStatsDataSegsIn`).
    pub data_segs_in: u32,
    /// Packets with data sent so far, retransmissions too (RFC 4898, `tcpEStatsDataSegsOut`).
    pub data_segs_out: u32,

    /// The best recent delivery-rate sample (`net/ipv4/tcp_rate.c`), payload only; zero before the first.
    pub delivery_rate: Rate,

    /// How long there was something to send or to be acknowledged so far (`tcp_chrono` of `net/ipv4/tcp_output.c`).
    pub busy_time: Duration,
    /// The part of it in which the other side's window held the sender back.
    pub rwnd_limited: Duration,
    /// The part of it in which the send buffer was too small: full, with everything in it sent.
    pub sndbuf_limited: Duration,

    /// Packets delivered so far: acknowledged cumulatively or by SACK, each once; the SYN counts.
    pub delivered: u32,
    /// Packets of these whose delivery was acknowledged with an ECN mark.
    pub delivered_ce: u32,

    /// Payload sent so far, retransmissions too (RFC 4898, `tcpEStatsPerfHCDataOctetsOut`).
    pub bytes_sent: Bytes,
    /// Payload retransmitted so far (RFC 4898, `tcpEStatsPerfOctetsRetrans`).
    pub bytes_retrans: Bytes,
    /// Packets that the other side reported to have got twice (RFC 4898, `tcpEStatsStackDSACKDups`; RFC 2883).
    pub dsack_dups: u32,
    /// How often reordering was found.
    pub reord_seen: u32,

    /// Packets that arrived out of order so far.
    pub rcv_ooopack: u32,
    /// The other side's window as it last advertised it.
    pub snd_wnd: Bytes,

    /// The window that this side last advertised. Since Linux 6.2.
    pub rcv_wnd: Option<Bytes>,
    /// How often this end chose another hash for the connection, and so perhaps another path, after timeouts or by
    /// protective load balancing. Since Linux 6.2.
    pub rehash: Option<u32>,
    /// Timeouts over the connection's life. Since Linux 6.7.
    pub total_rto: Option<RtoCounts>,
    /// Accurate ECN's counts. Since Linux 6.18.
    pub accecn: Option<AccEcn>,
}

/// What the two ends agreed on in the handshake, and what came of it: `tcpi_options` and the window scales.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Negotiated {
    /// Timestamps (`TCPI_OPT_TIMESTAMPS`; RFC 7323).
    pub timestamps: bool,
    /// Selective acknowledgments (`TCPI_OPT_SACK`; RFC 2018).
    pub sack: bool,
    /// Window scaling (`TCPI_OPT_WSCALE`; RFC 7323).
    pub window_scaling: bool,
    /// Explicit congestion notification (`TCPI_OPT_ECN`; RFC 3168).
    pub ecn: bool,
    /// At least one packet arrived that ECN could have marked (`TCPI_OPT_ECN_SEEN`).
    pub ecn_seen: bool,
    /// Data in the SYN was acknowledged by the SYN-ACK (`TCPI_OPT_SYN_DATA`; RFC 7413).
    pub syn_data: bool,
    /// The timestamps count microseconds (`TCPI_OPT_USEC_TS`). Since Linux 6.7.
    pub usec_timestamps: bool,
    /// The power of two by which the other side's windows are scaled (`tcpi_snd_wscale`).
    pub snd_wscale: u8,
    /// The power of two by which this side's windows are scaled (`tcpi_rcv_wscale`).
    pub rcv_wscale: u8,
}

/// Retransmission timeouts over a connection's life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RtoCounts {
    /// Timeouts so far (`tcpi_total_rto`).
    pub timeouts: u16,
    /// Recoveries that began with a timeout: several in a row are one (`tcpi_total_rto_recoveries`).
    pub recoveries: u16,
    /// Time spent in such recoveries, of those that are over; milliseconds in the kernel (`tcpi_total_rto_time`).
    pub time: Duration,
}

/// What the two ends count of ECN's codepoints when they speak Accurate ECN.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AccEcn {
    /// Packets that arrived with a congestion mark (`tcpi_received_ce`).
    pub received_ce: u32,
    /// Payload that the other side got with ECT(1), modulo 2³² (`tcpi_delivered_e1_bytes`).
    pub delivered_e1_bytes: u32,
    /// Payload that the other side got with ECT(0), modulo 2³² (`tcpi_delivered_e0_bytes`).
    pub delivered_e0_bytes: u32,
    /// Payload that the other side got with a congestion mark, modulo 2³² (`tcpi_delivered_ce_bytes`).
    pub delivered_ce_bytes: u32,
    /// Payload that arrived with ECT(1), modulo 2³² (`tcpi_received_e1_bytes`).
    pub received_e1_bytes: u32,
    /// Payload that arrived with ECT(0), modulo 2³² (`tcpi_received_e0_bytes`).
    pub received_e0_bytes: u32,
    /// Payload that arrived with a congestion mark, modulo 2³² (`tcpi_received_ce_bytes`).
    pub received_ce_bytes: u32,
    /// Why Accurate ECN was given up (`TCP_ACCECN_…_FAIL_…` bits; `tcpi_accecn_fail_mode`).
    pub fail_mode: u16,
    /// Whether and how its option was seen (`TCP_ACCECN_OPT_…`; `tcpi_accecn_opt_seen`).
    pub option_seen: u16,
}

/// The kernel's infinite slow-start threshold (`TCP_INFINITE_SSTHRESH` in `include/net/tcp.h`).
const INFINITE_SSTHRESH: u32 = 0x7fff_ffff;

impl TcpInfo {
    /// Reads an `INET_DIAG_INFO` attribute; none if it ends before what Linux 5.4 gives.
    pub(super) fn parse(bytes: &[u8]) -> Option<TcpInfo> {
        let u8 = |offset| u8_at(bytes, offset);
        let u32 = |offset| u32_at(bytes, offset);
        let micros = |offset| u32(offset).map(|micros| Duration::from_micros(micros.into()));
        let micros64 = |offset| u64_at(bytes, offset).map(Duration::from_micros);
        let millis = |offset| u32(offset).map(|millis| Duration::from_millis(millis.into()));
        let size = |offset| u32(offset).map(|size| Bytes::new(size.into()));
        let size64 = |offset| u64_at(bytes, offset).map(Bytes::new);
        let rate = |offset| u64_at(bytes, offset).map(Rate::from_bytes_per_sec);

        let ssthresh = u32(76)?;
        let min_rtt = u32(148)?;
        Some(TcpInfo {
            ca_state: CaState::from(u8(1)?),
            retransmits: u8(2)?,
            probes: u8(3)?,
            backoff: u8(4)?,
            negotiated: Negotiated::parse(u8(5)?, u8(6)?),
            delivery_rate_app_limited: u8(7)? & 1 != 0,
            fastopen_client_fail: u8(7)? >> 1 & 3,
            rto: micros(8)?,
            ato: micros(12)?,
            snd_mss: size(16)?,
            rcv_mss: size(20)?,
            unacked: u32(24)?,
            sacked: u32(28)?,
            lost: u32(32)?,
            retrans: u32(36)?,
            last_data_sent: millis(44)?,
            last_data_recv: millis(52)?,
            last_ack_recv: millis(56)?,
            pmtu: size(60)?,
            rcv_ssthresh: size(64)?,
            rtt: micros(68)?,
            rttvar: micros(72)?,
            snd_ssthresh: (ssthresh < INFINITE_SSTHRESH).then_some(ssthresh),
            snd_cwnd: u32(80)?,
            advmss: size(84)?,
            reordering: u32(88)?,
            rcv_rtt: micros(92)?,
            rcv_space: size(96)?,
            total_retrans: u32(100)?,
            pacing_rate: limit(rate(104)?),
            max_pacing_rate: limit(rate(112)?),
            bytes_acked: size64(120)?,
            bytes_received: size64(128)?,
            segs_out: u32(136)?,
            segs_in: u32(140)?,
            notsent_bytes: size(144)?,
            min_rtt: (min_rtt != u32::MAX).then(|| Duration::from_micros(min_rtt.into())),
            data_segs_in: u32(152)?,
            data_segs_out: u32(156)?,
            delivery_rate: rate(160)?,
            busy_time: micros64(168)?,
            rwnd_limited: micros64(176)?,
            sndbuf_limited: micros64(184)?,
            delivered: u32(192)?,
            delivered_ce: u32(196)?,
            bytes_sent: size64(200)?,
            bytes_retrans: size64(208)?,
            dsack_dups: u32(216)?,
            reord_seen: u32(220)?,
            rcv_ooopack: u32(224)?,
            snd_wnd: size(228)?,
            rcv_wnd: size(232),
            rehash: u32(236),
            total_rto: RtoCounts::parse(bytes),
            accecn: AccEcn::parse(bytes),
        })
    }

    /// Packets in flight as the kernel's controllers count them: sent, and neither acknowledged, SACKed nor lost; with
    /// retransmissions (`tcp_packets_in_flight` in `include/net/tcp.h`).
    pub fn inflight(&self) -> u32 {
        let left_out = self.sacked.saturating_add(self.lost);
        self.unacked
            .saturating_sub(left_out)
            .saturating_add(self.retrans)
    }

    /// How long the congestion window or pacing, so the controller, held the sender back so far: busy, and limited by
    /// neither buffer.
    pub fn controller_limited(&self) -> Duration {
        self.busy_time
            .saturating_sub(self.rwnd_limited)
            .saturating_sub(self.sndbuf_limited)
    }
}

impl Negotiated {
    fn parse(options: u8, scales: u8) -> Negotiated {
        // The two scales are bit fields, which a compiler lays from the machine's own end.
        let (low, high) = (scales & 0xf, scales >> 4);
        let (snd_wscale, rcv_wscale) = if cfg!(target_endian = "little") {
            (low, high)
        } else {
            (high, low)
        };
        Negotiated {
            timestamps: options & 1 != 0,
            sack: options & 2 != 0,
            window_scaling: options & 4 != 0,
            ecn: options & 8 != 0,
            ecn_seen: options & 16 != 0,
            syn_data: options & 32 != 0,
            usec_timestamps: options & 64 != 0,
            snd_wscale,
            rcv_wscale,
        }
    }
}

impl RtoCounts {
    fn parse(bytes: &[u8]) -> Option<RtoCounts> {
        Some(RtoCounts {
            timeouts: u16_at(bytes, 240)?,
            recoveries: u16_at(bytes, 242)?,
            time: Duration::from_millis(u32_at(bytes, 244)?.into()),
        })
    }
}

impl AccEcn {
    fn parse(bytes: &[u8]) -> Option<AccEcn> {
        Some(AccEcn {
            received_ce: u32_at(bytes, 248)?,
            delivered_e1_bytes: u32_at(bytes, 252)?,
            delivered_e0_bytes: u32_at(bytes, 256)?,
            delivered_ce_bytes: u32_at(bytes, 260)?,
            received_e1_bytes: u32_at(bytes, 264)?,
            received_e0_bytes: u32_at(bytes, 268)?,
            received_ce_bytes: u32_at(bytes, 272)?,
            fail_mode: u16_at(bytes, 276)?,
            option_seen: u16_at(bytes, 278)?,
        })
    }
}

/// A rate that bounds something; the kernel's largest number stands for no bound.
fn limit(rate: Rate) -> Option<Rate> {
    (rate.bytes_per_sec() != u64::MAX).then_some(rate)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A structure of Linux 6.18's length in which each word is its own offset.
    fn numbered() -> Vec<u8> {
        (0..280u32 / 4)
            .flat_map(|word| (word * 4).to_ne_bytes())
            .collect()
    }

    fn parse(bytes: &[u8]) -> TcpInfo {
        TcpInfo::parse(bytes).unwrap()
    }

    /// The offsets are those of `struct tcp_info` in the type information (BTF) of a 6.18 kernel.
    #[test]
    fn every_word_stands_where_the_kernel_puts_it() {
        let info = parse(&numbered());
        let micros = |micros| Duration::from_micros(micros);
        let millis = |millis| Duration::from_millis(millis);
        assert_eq!((info.rto, info.ato), (micros(8), micros(12)));
        assert_eq!((info.snd_mss.get(), info.rcv_mss.get()), (16, 20));
        assert_eq!(
            (info.unacked, info.sacked, info.lost, info.retrans),
            (24, 28, 32, 36)
        );
        assert_eq!(
            (info.last_data_sent, info.last_data_recv, info.last_ack_recv),
            (millis(44), millis(52), millis(56))
        );
        assert_eq!((info.pmtu.get(), info.rcv_ssthresh.get()), (60, 64));
        assert_eq!((info.rtt, info.rttvar), (micros(68), micros(72)));
        assert_eq!((info.snd_ssthresh, info.snd_cwnd), (Some(76), 80));
        assert_eq!((info.advmss.get(), info.reordering), (84, 88));
        assert_eq!((info.rcv_rtt, info.rcv_space.get()), (micros(92), 96));
        assert_eq!(
            (info.total_retrans, info.segs_out, info.segs_in),
            (100, 136, 140)
        );
        assert_eq!(
            (info.notsent_bytes.get(), info.min_rtt),
            (144, Some(micros(148)))
        );
        assert_eq!((info.data_segs_in, info.data_segs_out), (152, 156));
        assert_eq!((info.delivered, info.delivered_ce), (192, 196));
        assert_eq!((info.dsack_dups, info.reord_seen), (216, 220));
        assert_eq!((info.rcv_ooopack, info.snd_wnd.get()), (224, 228));
        assert_eq!(
            (info.rcv_wnd, info.rehash),
            (Some(Bytes::new(232)), Some(236))
        );
        assert_eq!(info.total_rto.map(|rto| rto.time), Some(millis(244)));
        let accecn = info.accecn.unwrap();
        assert_eq!(accecn.received_ce, 248);
        assert_eq!(
            (
                accecn.delivered_e1_bytes,
                accecn.delivered_e0_bytes,
                accecn.delivered_ce_bytes
            ),
            (252, 256, 260)
        );
        assert_eq!(
            (
                accecn.received_e1_bytes,
                accecn.received_e0_bytes,
                accecn.received_ce_bytes
            ),
            (264, 268, 272)
        );
    }

    #[test]
    fn every_double_word_and_half_word_stands_where_the_kernel_puts_it() {
        let mut bytes = numbered();
        for offset in [104u64, 112, 120, 128, 160, 168, 176, 184, 200, 208] {
            let place = offset as usize;
            bytes[place..place + 8].copy_from_slice(&(offset << 32).to_ne_bytes());
        }
        for offset in [240u16, 242, 276, 278] {
            let place = usize::from(offset);
            bytes[place..place + 2].copy_from_slice(&offset.to_ne_bytes());
        }
        let info = parse(&bytes);
        let rate = |offset: u64| Rate::from_bytes_per_sec(offset << 32);
        let size = |offset: u64| Bytes::new(offset << 32);
        let micros = |offset: u64| Duration::from_micros(offset << 32);
        assert_eq!(
            (info.pacing_rate, info.max_pacing_rate),
            (Some(rate(104)), Some(rate(112)))
        );
        assert_eq!(
            (info.bytes_acked, info.bytes_received),
            (size(120), size(128))
        );
        assert_eq!(info.delivery_rate, rate(160));
        assert_eq!(
            (info.busy_time, info.rwnd_limited, info.sndbuf_limited),
            (micros(168), micros(176), micros(184))
        );
        assert_eq!(
            (info.bytes_sent, info.bytes_retrans),
            (size(200), size(208))
        );
        let rto = info.total_rto.unwrap();
        assert_eq!((rto.timeouts, rto.recoveries), (240, 242));
        let accecn = info.accecn.unwrap();
        assert_eq!((accecn.fail_mode, accecn.option_seen), (276, 278));
    }

    #[test]
    fn bits_have_their_meaning() {
        let mut bytes = numbered();
        bytes[1..8].copy_from_slice(&[3, 2, 5, 4, 0b0101_0101, 0x98, 0b101]);
        let info = parse(&bytes);
        assert_eq!(info.ca_state, CaState::Recovery);
        assert_eq!((info.retransmits, info.probes, info.backoff), (2, 5, 4));
        let negotiated = info.negotiated;
        assert!(
            negotiated.timestamps
                && negotiated.window_scaling
                && negotiated.ecn_seen
                && negotiated.usec_timestamps
        );
        assert!(!negotiated.sack && !negotiated.ecn && !negotiated.syn_data);
        assert!(info.delivery_rate_app_limited);
        assert_eq!(info.fastopen_client_fail, 2);
    }

    #[test]
    fn the_kernels_infinities_are_nothing() {
        let mut bytes = numbered();
        bytes[76..80].copy_from_slice(&INFINITE_SSTHRESH.to_ne_bytes());
        bytes[104..120].fill(0xff);
        bytes[148..152].fill(0xff);
        let info = parse(&bytes);
        assert_eq!(info.snd_ssthresh, None);
        assert_eq!((info.pacing_rate, info.max_pacing_rate), (None, None));
        assert_eq!(info.min_rtt, None);
    }

    #[test]
    fn an_older_kernel_gives_less() {
        let bytes = numbered();
        let given = |length: usize| {
            TcpInfo::parse(&bytes[..length]).map(|info| {
                [
                    info.rcv_wnd.is_some(),
                    info.rehash.is_some(),
                    info.total_rto.is_some(),
                    info.accecn.is_some(),
                ]
            })
        };
        assert_eq!(given(231), None, "before Linux 5.4");
        assert_eq!(given(232), Some([false, false, false, false]), "Linux 5.4");
        assert_eq!(given(240), Some([true, true, false, false]), "Linux 6.2");
        assert_eq!(given(248), Some([true, true, true, false]), "Linux 6.7");
        assert_eq!(given(280), Some([true, true, true, true]), "Linux 6.18");
        let newer = [&bytes[..], &[0; 8]].concat();
        assert_eq!(parse(&newer), parse(&bytes), "a newer one");
    }

    #[test]
    fn inflight_is_what_has_left_and_not_arrived() {
        let info = TcpInfo {
            unacked: 10,
            sacked: 3,
            lost: 2,
            retrans: 1,
            ..parse(&numbered())
        };
        assert_eq!(info.inflight(), 6);
    }

    #[test]
    fn what_neither_buffer_limits_the_controller_does() {
        let info = TcpInfo {
            busy_time: Duration::from_millis(100),
            rwnd_limited: Duration::from_millis(20),
            sndbuf_limited: Duration::from_millis(5),
            ..parse(&numbered())
        };
        assert_eq!(info.controller_limited(), Duration::from_millis(75));
    }
}
