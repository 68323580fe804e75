//! What the draft leaves to the implementation.

use super::ecn;

/// The settings of [`Bbr3`](super::Bbr3). What the draft fixes is no setting, but a constant in the file of the state or model
/// part it belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Config {
    /// Send quanta that must fit in the window, for what is being put together or taken apart in the end hosts (BBR draft,
    /// "BBR.offload_budget"). Three for TCP with its offloads, one for QUIC.
    pub offload_quanta: u32,
    /// The answer to ECN marks that Linux's BBRv3 has; none, as in the draft, if not given. It needs marks that are counted, as TCP
    /// does here; a QUIC stack tells of their presence only.
    pub ecn: Option<ecn::Config>,
    /// Whether losses leave the short-term bounds as they are while delivery rates are those of the flow's own slower sending, in
    /// Drain, DOWN and ProbeRTT. The draft answers them all.
    pub ignore_self_limited: bool,
}

impl Config {
    /// For a host like Linux, with segmentation and receive offload ("TCP Offload Budget").
    pub const fn tcp() -> Config {
        Config {
            offload_quanta: 3,
            ecn: None,
            ignore_self_limited: false,
        }
    }

    /// For a QUIC stack without pacing offload ("QUIC Offload Budget").
    pub const fn quic() -> Config {
        Config {
            offload_quanta: 1,
            ecn: None,
            ignore_self_limited: false,
        }
    }
}

impl Default for Config {
    fn default() -> Config {
        Config::quic()
    }
}
