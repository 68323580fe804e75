//! The window after a timeout.

use units::Bytes;

/// The congestion window right after a timeout.
///
/// A timeout says that the oldest packet is lost. It says nothing of packets that were sent so recently that their ACKs may
/// still come, and a sender that judges losses by time (RACK) leaves those in flight. Where everything outstanding counts
/// as lost the two agree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LossWindow {
    /// The bytes still in flight, and one packet more: the retransmission can leave at once (Linux `tcp_enter_loss`;
    /// BBR draft, `BBROnEnterRTO`).
    #[default]
    InflightAndOne,
    /// One packet: the retransmission waits until what is in flight was acknowledged or declared lost (RFC 5681, "Loss
    /// Window"; BBR paper, appendix, "Reacting to Transients").
    OnePacket,
}

impl LossWindow {
    /// The window with `inflight` left and packets of `mss`.
    pub(crate) fn bytes(self, inflight: Bytes, mss: Bytes) -> Bytes {
        match self {
            LossWindow::InflightAndOne => inflight + mss,
            LossWindow::OnePacket => mss,
        }
    }
}
