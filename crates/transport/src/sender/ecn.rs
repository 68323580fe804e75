//! Explicit congestion notification at the sender (RFC 3168, "The TCP Sender").

use congestion::Bytes;

#[derive(Debug, Clone, Default)]
pub struct Ecn {
    /// The marked bytes that the receiver has reported so far.
    marked: u64,
    /// Whether the next new data must carry CWR.
    must_send_cwr: bool,
}

impl Ecn {
    /// Handles the receiver's count of marked bytes; returns the newly marked ones.
    pub fn on_ack(&mut self, marked: u64) -> Bytes {
        let newly_marked = marked.saturating_sub(self.marked);
        self.marked = self.marked.max(marked);
        Bytes::new(newly_marked)
    }

    /// Notes that the window was reduced, for whatever reason.
    pub fn on_reduction(&mut self) {
        self.must_send_cwr = true;
    }

    /// Whether the new data that leave now must carry CWR: once for each reduction.
    pub fn take_cwr(&mut self) -> bool {
        core::mem::take(&mut self.must_send_cwr)
    }
}
