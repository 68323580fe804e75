//! How a [`Sender`](super::Sender) is set up.

use congestion::{Bytes, Duration};
use serde::{Deserialize, Serialize};

use crate::scheduler::{MAX_OFFLOAD, Pacing};
use crate::segment::MSS;

/// The settings of a [`Sender`](super::Sender). The defaults are Linux's, but for a send buffer that is never the limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// The payload of a full packet; at least one byte and at most [`u16::MAX`].
    pub mss: Bytes,
    /// The initial congestion window in packets (RFC 6928).
    pub initial_cwnd: u32,
    /// How much of the stream the sender holds: the payload that is written and not yet acknowledged cumulatively.
    ///
    /// Linux's `tcp_wmem` also counts what the kernel keeps beside the payload (`truesize`: a tenth more with segmentation
    /// offload, and much more of small packets), and lets the application write again only when a third is free
    /// (`sk_stream_write_space`). Its 4 MB swing between some 2.5 and 3.8 MB of payload, by that reckoning.
    pub send_buffer: Bytes,
    /// The least retransmission timeout beyond the smoothed round-trip time (Linux `tcp_rto_min`).
    pub min_rto: Duration,
    /// The greatest retransmission timeout, backoff included (Linux `TCP_RTO_MAX`).
    pub max_rto: Duration,
    /// How losses are found.
    pub loss_detection: LossDetection,
    /// Who spreads bursts over time.
    pub pacing: Pacing,
    /// The longest burst handed to the packet scheduler at once; at most `mss` means no segmentation offload.
    pub max_burst: Bytes,
    /// Whether ECN was negotiated (RFC 3168): marks are answered, and packets may be marked.
    pub ecn: bool,
    /// Whether connections open with data, if their client has a cookie of the server.
    pub fast_open: FastOpen,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            mss: MSS,
            initial_cwnd: 10,
            send_buffer: Bytes::new(1 << 30),
            min_rto: Duration::from_millis(200),
            max_rto: Duration::from_secs(120),
            loss_detection: LossDetection::default(),
            pacing: Pacing::default(),
            max_burst: MAX_OFFLOAD,
            ecn: false,
            fast_open: FastOpen::default(),
        }
    }
}

/// How a sender finds out that a packet is lost, before the retransmission timeout does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename = "loss detection", rename_all = "lowercase")]
pub enum LossDetection {
    /// By time, with a probe for the tail (RFC 8985, RACK-TLP).
    #[default]
    Rack,
    /// By three packets selectively acknowledged beyond it (RFC 6675). A retransmission that is lost, and a loss among the
    /// last three packets, have to wait for the timeout.
    #[serde(rename = "dupacks")]
    DupThreshold,
}

/// TCP Fast Open (RFC 7413): a SYN that shows the server's cookie may bring data, which the server takes at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename = "fast open", rename_all = "lowercase")]
pub enum FastOpen {
    /// Data waits for the end of the handshake.
    #[default]
    Off,
    /// The first connection that is opened fetches the cookie, and those after it use it.
    On,
    /// The cookie is known from the start.
    Known,
}
