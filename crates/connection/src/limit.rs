//! The limits of a flow.

use units::named;

named! {
    /// The limit of a flow.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum Limit, "limit" {
        /// The application, or a send buffer that is too small.
        Application = "application",
        /// The receive window.
        Receiver = "receiver",
        /// Congestion control during the initial growth: Startup, or slow start.
        SlowStart = "slow_start",
        /// Congestion control, which leaves the bottleneck idle at times.
        Window = "window",
        /// The bottleneck, which is busy.
        Bottleneck = "bottleneck",
        /// The bottleneck's buffer, which is full: the bottleneck is busy, and packets are lost.
        Buffer = "buffer",
    }
}

impl Limit {
    /// The same limit, or the window if the bottleneck was not busy.
    pub fn if_busy(self, is_busy: bool) -> Limit {
        match self {
            Limit::Bottleneck | Limit::Buffer if !is_busy => Limit::Window,
            limit => limit,
        }
    }
}
