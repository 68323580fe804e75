//! TCP's own information about a connection: `struct tcp_info`.

use units::{Bytes, Duration, Rate};

use super::CaState;
use super::native::{
    later, micros, micros64, millis, min_rtt, native, rate, size, size64, u8_at, u16_at, u32_at,
};

native! {
    /// TCP's state of a connection: `struct tcp_info` (`include/uapi/linux/tcp.h`) as Linux 6.18 fills it in
    /// `tcp_get_info` (`net/ipv4/tcp.c`).
    ///
    /// A field's name is the kernel's without its `tcpi_`. Packets are the kernel's: a segment of at most `snd_mss`
    /// bytes, even where segmentation offload sends many as one. Left out: `tcpi_state`, which
    /// [`SocketState`](super::SocketState) has, and `tcpi_fackets` and `tcpi_last_ack_sent`, which are always zero. A
    /// field that Linux 5.4 did not have is optional.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct TcpInfo {
        /// The state of loss recovery.
        pub ca_state: CaState = 1 => ca_state,
        /// Consecutive retransmission timeouts without an acknowledgment of new data.
        pub retransmits: u8 = 2 => u8_at,
        /// Consecutive unanswered zero-window or keep-alive probes.
        pub probes: u8 = 3 => u8_at,
        /// The exponent of the exponential back-off of the timeout.
        pub backoff: u8 = 4 => u8_at,
        /// The options that the two ends have negotiated (`options`, `snd_wscale`, `rcv_wscale`).
        pub negotiated: Negotiated = 5 => Negotiated::at,
        /// Whether the sample behind `delivery_rate` ended in a round in which the application had too little to
        /// send. If so, the path's rate may be higher than `delivery_rate`.
        pub delivery_rate_app_limited: bool = 7 => app_limited,
        /// The reason why TCP Fast Open failed on the connecting side (`enum tcp_fastopen_client_fail`); zero if it
        /// was not tried.
        pub fastopen_client_fail: u8 = 7 => fastopen_client_fail,

        /// The current retransmission timeout, including back-off (RFC 6298).
        pub rto: Duration = 8 => micros,
        /// The estimated time that an acknowledgment may be delayed by this receiver.
        pub ato: Duration = 12 => micros,
        /// The payload of a full packet to the other side, without options.
        pub snd_mss: Bytes = 16 => size,
        /// The payload of a full packet from the other side, as estimated by this receiver.
        pub rcv_mss: Bytes = 20 => size,

        /// Packets sent and not yet acknowledged cumulatively (`packets_out`); SACKed and lost ones count.
        pub unacked: u32 = 24 => u32_at,
        /// Packets of these that the other side has SACKed (`sacked_out`); without SACK, duplicate ACKs stand in for
        /// them.
        pub sacked: u32 = 28 => u32_at,
        /// Packets of these that are marked lost (`lost_out`).
        pub lost: u32 = 32 => u32_at,
        /// Packets of these whose retransmission is in flight (`retrans_out`).
        pub retrans: u32 = 36 => u32_at,

        /// The time since data were last sent; milliseconds in the kernel.
        pub last_data_sent: Duration = 44 => millis,
        /// The time since data last arrived; milliseconds in the kernel.
        pub last_data_recv: Duration = 52 => millis,
        /// The time since an acknowledgment last arrived; milliseconds in the kernel.
        pub last_ack_recv: Duration = 56 => millis,

        /// The path's MTU as known to TCP.
        pub pmtu: Bytes = 60 => size,
        /// The current bound on the growth of this receiver's advertised window.
        pub rcv_ssthresh: Bytes = 64 => size,
        /// The smoothed RTT: an exponentially weighted mean with a gain of 1/8 (`srtt_us`; RFC 6298).
        pub rtt: Duration = 68 => micros,
        /// The RTT's mean deviation (`mdev_us`; RFC 6298).
        pub rttvar: Duration = 72 => micros,
        /// The slow-start threshold in packets; `None` while it is infinite.
        pub snd_ssthresh: Option<u32> = 76 => ssthresh,
        /// The congestion window in packets.
        pub snd_cwnd: u32 = 80 => u32_at,
        /// The largest payload that this end has announced to accept.
        pub advmss: Bytes = 84 => size,
        /// The reordering, in packets, that is tolerated before a loss is assumed.
        pub reordering: u32 = 88 => u32_at,

        /// This receiver's estimate of the RTT, for the autotuning of its window; zero before the first estimate.
        pub rcv_rtt: Duration = 92 => micros,
        /// The bytes that the application read in the last such RTT: the autotuning makes room for twice that.
        pub rcv_space: Bytes = 96 => size,

        /// Packets retransmitted so far.
        pub total_retrans: u32 = 100 => u32_at,

        /// The pacing rate; `None` without pacing.
        pub pacing_rate: Option<Rate> = 104 => bound,
        /// The application's bound on the pacing rate (`SO_MAX_PACING_RATE`), if it has set one.
        pub max_pacing_rate: Option<Rate> = 112 => bound,
        /// Bytes acknowledged cumulatively so far. The SYN of the connecting side, and a FIN, count as one byte each
        /// (RFC 4898, `tcpEStatsAppHCThruOctetsAcked`).
        pub bytes_acked: Bytes = 120 => size64,
        /// Bytes that arrived in order so far; a FIN counts as one (RFC 4898, `tcpEStatsAppHCThruOctetsReceived`).
        pub bytes_received: Bytes = 128 => size64,
        /// Packets sent so far, including those without data (RFC 4898, `tcpEStatsPerfSegsOut`).
        pub segs_out: u32 = 136 => u32_at,
        /// Packets that arrived so far, including those without data (RFC 4898, `tcpEStatsPerfSegsIn`).
        pub segs_in: u32 = 140 => u32_at,

        /// Bytes written by the application and never sent yet.
        pub notsent_bytes: Bytes = 144 => size,
        /// The smallest RTT in the last `net.ipv4.tcp_min_rtt_wlen` seconds (300 by default); `None` before the first
        /// sample.
        pub min_rtt: Option<Duration> = 148 => min_rtt,
        /// Packets with data that arrived so far (RFC 4898, `tcpEStatsDataSegsIn`).
        pub data_segs_in: u32 = 152 => u32_at,
        /// Packets with data sent so far, including retransmissions (RFC 4898, `tcpEStatsDataSegsOut`).
        pub data_segs_out: u32 = 156 => u32_at,

        /// The best recent delivery-rate sample (`net/ipv4/tcp_rate.c`), payload only; zero before the first.
        pub delivery_rate: Rate = 160 => rate,

        /// The time so far with data to send or unacknowledged (`tcp_chrono` of `net/ipv4/tcp_output.c`).
        pub busy_time: Duration = 168 => micros64,
        /// The part of `busy_time` in which the other side's window held the sender back.
        pub rwnd_limited: Duration = 176 => micros64,
        /// The part of `busy_time` in which the send buffer was too small: full, with everything in it sent.
        pub sndbuf_limited: Duration = 184 => micros64,

        /// Packets delivered so far, acknowledged cumulatively or by SACK and each counted once, including the SYN.
        pub delivered: u32 = 192 => u32_at,
        /// Packets of these whose delivery was acknowledged with an ECN mark.
        pub delivered_ce: u32 = 196 => u32_at,

        /// Payload sent so far, including retransmissions (RFC 4898, `tcpEStatsPerfHCDataOctetsOut`).
        pub bytes_sent: Bytes = 200 => size64,
        /// Payload retransmitted so far (RFC 4898, `tcpEStatsPerfOctetsRetrans`).
        pub bytes_retrans: Bytes = 208 => size64,
        /// Packets that the other side reported as received twice (RFC 4898, `tcpEStatsStackDSACKDups`; RFC 2883).
        pub dsack_dups: u32 = 216 => u32_at,
        /// The number of times that reordering was detected.
        pub reord_seen: u32 = 220 => u32_at,

        /// Packets that arrived out of order so far.
        pub rcv_ooopack: u32 = 224 => u32_at,
        /// The window that the other side last advertised.
        pub snd_wnd: Bytes = 228 => size,

        /// The window that this side last advertised. Since Linux 6.2.
        pub rcv_wnd: Option<Bytes> = 232 => later(size),
        /// The number of times that this end chose another hash for the connection, and so perhaps another path,
        /// after timeouts or by protective load balancing. Since Linux 6.2.
        pub rehash: Option<u32> = 236 => later(u32_at),
        /// Timeouts over the connection's life. Since Linux 6.7.
        pub total_rto: Option<RtoCounts> = 240 => later(RtoCounts::at),
        /// Accurate ECN's counts. Since Linux 6.18.
        pub accecn: Option<AccEcn> = 248 => later(AccEcn::at),
    }
}

/// The options that the two ends negotiated in the handshake, and some of their results: `tcpi_options` and the
/// window scales.
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
    /// Timestamps count microseconds (`TCPI_OPT_USEC_TS`). Since Linux 6.7.
    pub usec_timestamps: bool,
    /// The power of two by which the other side's windows are scaled (`tcpi_snd_wscale`).
    pub snd_wscale: u8,
    /// The power of two by which this side's windows are scaled (`tcpi_rcv_wscale`).
    pub rcv_wscale: u8,
}

native! {
    /// Retransmission timeouts over a connection's life.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct RtoCounts {
        /// Timeouts so far (`tcpi_total_rto`).
        pub timeouts: u16 = 0 => u16_at,
        /// Recoveries that began with a timeout; consecutive timeouts are one recovery (`tcpi_total_rto_recoveries`).
        pub recoveries: u16 = 2 => u16_at,
        /// Time spent in such recoveries, without the current one; milliseconds in the kernel (`tcpi_total_rto_time`).
        pub time: Duration = 4 => millis,
    }
}

native! {
    /// Counts of ECN's codepoints at the two ends of a connection with Accurate ECN.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub struct AccEcn {
        /// Packets that arrived with a congestion mark (`tcpi_received_ce`).
        pub received_ce: u32 = 0 => u32_at,
        /// Payload that the other side received with ECT(1), modulo 2³² (`tcpi_delivered_e1_bytes`).
        pub delivered_e1_bytes: u32 = 4 => u32_at,
        /// Payload that the other side received with ECT(0), modulo 2³² (`tcpi_delivered_e0_bytes`).
        pub delivered_e0_bytes: u32 = 8 => u32_at,
        /// Payload that the other side received with a congestion mark, modulo 2³² (`tcpi_delivered_ce_bytes`).
        pub delivered_ce_bytes: u32 = 12 => u32_at,
        /// Payload that arrived with ECT(1), modulo 2³² (`tcpi_received_e1_bytes`).
        pub received_e1_bytes: u32 = 16 => u32_at,
        /// Payload that arrived with ECT(0), modulo 2³² (`tcpi_received_e0_bytes`).
        pub received_e0_bytes: u32 = 20 => u32_at,
        /// Payload that arrived with a congestion mark, modulo 2³² (`tcpi_received_ce_bytes`).
        pub received_ce_bytes: u32 = 24 => u32_at,
    }
}

/// The kernel's infinite slow-start threshold (`TCP_INFINITE_SSTHRESH` in `include/net/tcp.h`).
const INFINITE_SSTHRESH: u32 = 0x7fff_ffff;

impl TcpInfo {
    /// The latest sample of the delivery rate, if there was one.
    pub fn known_delivery_rate(&self) -> Option<Rate> {
        Some(self.delivery_rate).filter(|rate| !rate.is_zero())
    }

    /// Packets in flight as the kernel's controllers count them: sent, and neither acknowledged, SACKed nor lost,
    /// plus retransmissions (`tcp_packets_in_flight` in `include/net/tcp.h`).
    pub fn inflight(&self) -> u32 {
        let left_out = self.sacked.saturating_add(self.lost);
        self.unacked
            .saturating_sub(left_out)
            .saturating_add(self.retrans)
    }

    /// The time so far in which the controller held the sender back, by the congestion window or pacing: busy, and
    /// limited by neither buffer.
    pub fn controller_limited(&self) -> Duration {
        self.busy_time
            .saturating_sub(self.rwnd_limited)
            .saturating_sub(self.sndbuf_limited)
    }
}

impl Negotiated {
    fn at(bytes: &[u8], offset: usize) -> Option<Negotiated> {
        let options = u8_at(bytes, offset)?;
        let scales = u8_at(bytes, offset + 1)?;
        // The two scales are bit fields, whose order depends on the machine's byte order.
        let (low, high) = (scales & 0xf, scales >> 4);
        let (snd_wscale, rcv_wscale) = if cfg!(target_endian = "little") {
            (low, high)
        } else {
            (high, low)
        };
        Some(Negotiated {
            timestamps: options & 1 != 0,
            sack: options & 2 != 0,
            window_scaling: options & 4 != 0,
            ecn: options & 8 != 0,
            ecn_seen: options & 16 != 0,
            syn_data: options & 32 != 0,
            usec_timestamps: options & 64 != 0,
            snd_wscale,
            rcv_wscale,
        })
    }
}

fn ca_state(bytes: &[u8], offset: usize) -> Option<CaState> {
    u8_at(bytes, offset).map(CaState::from)
}

fn app_limited(bytes: &[u8], offset: usize) -> Option<bool> {
    Some(u8_at(bytes, offset)? & 1 != 0)
}

fn fastopen_client_fail(bytes: &[u8], offset: usize) -> Option<u8> {
    Some(u8_at(bytes, offset)? >> 1 & 3)
}

fn ssthresh(bytes: &[u8], offset: usize) -> Option<Option<u32>> {
    Some(Some(u32_at(bytes, offset)?).filter(|packets| *packets < INFINITE_SSTHRESH))
}

/// A rate that is a bound; the largest number means that there is none.
fn bound(bytes: &[u8], offset: usize) -> Option<Option<Rate>> {
    Some(Some(rate(bytes, offset)?).filter(|rate| rate.bytes_per_sec() != u64::MAX))
}

#[cfg(test)]
mod tests;
