//! The settings of a [`Sender`](super::Sender).

use congestion::{Bytes, Duration};
use serde::{Deserialize, Serialize};

use crate::scheduler::{MAX_OFFLOAD, Pacing, SmallQueues};
use crate::segment::MSS;

use super::syn_timer::SynTimer;

/// The settings of a [`Sender`](super::Sender). The defaults are Linux's, except for a send buffer that is never the
/// limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// The payload of a full packet; at least one byte and at most [`u16::MAX`].
    pub mss: Bytes,
    /// The initial congestion window in packets (RFC 6928).
    pub initial_cwnd: u32,
    /// The size of the send buffer: the payload that is written and not yet acknowledged cumulatively.
    ///
    /// Linux's `tcp_wmem` also counts overhead (`truesize`: a tenth more with segmentation offload, and much more for
    /// small packets), and lets the application write again only when a third is free (`sk_stream_write_space`). Its
    /// 4 MB therefore vary between some 2.5 and 3.8 MB of payload.
    pub send_buffer: Bytes,
    /// The minimum by which a retransmission timeout exceeds the smoothed round-trip time (Linux `tcp_rto_min`).
    pub min_rto: Duration,
    /// The maximum retransmission timeout, including backoff (Linux `TCP_RTO_MAX`).
    pub max_rto: Duration,
    /// Whether the peer reports what arrives behind a hole (SACK, RFC 2018). If not, neither method of loss detection
    /// applies: three duplicate ACKs show a loss (RFC 5681, 6582).
    pub has_selective_acks: bool,
    /// The method of loss detection.
    pub loss_detection: LossDetection,
    /// The place where bursts are spread over time.
    pub pacing: Pacing,
    /// The largest burst handed to the packet scheduler; at most `mss` means no segmentation offload.
    pub max_burst: Bytes,
    /// Whether ECN was negotiated (RFC 3168): the sender answers marks, and its packets may be marked.
    pub ecn: bool,
    /// Whether Accurate ECN was negotiated too (RFC 9768): each ACK counts the marks, and CWR is not sent.
    pub accurate_ecn: bool,
    /// Whether the sender requests the frequency of ACKs that its controller wants.
    pub requests_acks: bool,
    /// Whether connections open with data if their client has a cookie of the server.
    pub fast_open: FastOpen,
    /// When a SYN is repeated and given up.
    pub syn_timer: SynTimer,
    /// The bound of what a connection has waiting below TCP. Without small queues, it is fifty bursts.
    pub small_queues: SmallQueues,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            mss: MSS,
            initial_cwnd: 10,
            send_buffer: Bytes::new(1 << 30),
            min_rto: Duration::from_millis(200),
            max_rto: Duration::from_secs(120),
            has_selective_acks: true,
            loss_detection: LossDetection::default(),
            pacing: Pacing::default(),
            max_burst: MAX_OFFLOAD,
            ecn: false,
            accurate_ecn: false,
            requests_acks: false,
            fast_open: FastOpen::default(),
            syn_timer: SynTimer::default(),
            small_queues: SmallQueues::default(),
        }
    }
}

/// The method by which a sender detects losses before the retransmission timeout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename = "loss detection", rename_all = "lowercase")]
pub enum LossDetection {
    /// By time, with a probe for the tail (RFC 8985, RACK-TLP).
    #[default]
    Rack,
    /// By three packets selectively acknowledged beyond it (RFC 6675). Lost retransmissions, and losses among the
    /// last three packets, have to wait for the timeout.
    #[serde(rename = "dupacks")]
    DupThreshold,
}

/// TCP Fast Open (RFC 7413): a SYN with the server's cookie may carry data, which the server accepts at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename = "fast open", rename_all = "lowercase")]
pub enum FastOpen {
    /// Data wait for the end of the handshake.
    #[default]
    Off,
    /// The first connection fetches the cookie, and later ones use it.
    On,
    /// The cookie is known from the start.
    Known,
}
