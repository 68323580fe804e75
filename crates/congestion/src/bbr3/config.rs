//! The settings that the draft leaves to the implementation.

use super::ecn;

/// The settings of [`Bbr3`](super::Bbr3). Values that the draft fixes are constants in the file of their state or model
/// part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Config {
    /// The send quanta that must fit in the window, for packets that end hosts aggregate or split (BBR draft,
    /// "BBR.offload_budget"). Three for TCP with its offloads, one for QUIC.
    pub offload_quanta: u32,
    /// The response to ECN marks of Linux's BBRv3. By default none, as in the draft. It needs counted marks, as TCP has
    /// here; a QUIC stack reports only their presence.
    pub ecn: Option<ecn::Config>,
    /// Whether the short-term bounds ignore losses while the delivery rates are those of the flow's own slower sending,
    /// in Drain, DOWN and ProbeRTT. The draft responds to all losses.
    pub ignore_self_limited: bool,
    /// Whether the least RTT is as BBRv1's: one estimate that lasts ten seconds, after which ProbeRTT searches. The window of
    /// ProbeRTT is then half a BDP by the estimate before (issue 109 of the draft's authors, open).
    pub bbr1_min_rtt: bool,
}

impl Config {
    /// For a host like Linux, with segmentation and receive offload ("TCP Offload Budget").
    pub const fn tcp() -> Config {
        Config {
            offload_quanta: 3,
            ecn: None,
            ignore_self_limited: false,
            bbr1_min_rtt: false,
        }
    }

    /// For a QUIC stack without pacing offload ("QUIC Offload Budget").
    pub const fn quic() -> Config {
        Config {
            offload_quanta: 1,
            ecn: None,
            ignore_self_limited: false,
            bbr1_min_rtt: false,
        }
    }
}

impl Default for Config {
    fn default() -> Config {
        Config::quic()
    }
}
