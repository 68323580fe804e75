//! What the draft leaves to the implementation.

/// The settings of [`Bbr3`](super::Bbr3). What the draft fixes is no setting, but a constant in the file of the state or model
/// part it belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Config {
    /// Send quanta that must fit in the window, for what is being put together or taken apart in the end hosts (BBR draft,
    /// "BBR.offload_budget"). Three for TCP with its offloads, one for QUIC.
    pub offload_quanta: u32,
}

impl Config {
    /// For a host like Linux, with segmentation and receive offload ("TCP Offload Budget").
    pub const fn tcp() -> Config {
        Config { offload_quanta: 3 }
    }

    /// For a QUIC stack without pacing offload ("QUIC Offload Budget").
    pub const fn quic() -> Config {
        Config { offload_quanta: 1 }
    }
}

impl Default for Config {
    fn default() -> Config {
        Config::quic()
    }
}
