//! Explicit congestion notification at the sender (RFC 3168, "The TCP Sender").

use congestion::Bytes;

#[derive(Debug, Clone, Default)]
pub struct Ecn {
    /// Bytes that the receiver had reported as marked.
    marked: u64,
    /// The next new data is to say that the window was reduced.
    must_tell: bool,
}

impl Ecn {
    /// The receiver has counted `marked` bytes; gives those it had not reported before.
    pub fn on_ack(&mut self, marked: u64) -> Bytes {
        let news = marked.saturating_sub(self.marked);
        self.marked = self.marked.max(marked);
        Bytes::new(news)
    }

    /// The window was reduced, for whatever reason.
    pub fn on_reduction(&mut self) {
        self.must_tell = true;
    }

    /// Whether the new data that leaves now is to carry CWR; once a reduction.
    pub fn take_cwr(&mut self) -> bool {
        core::mem::take(&mut self.must_tell)
    }
}
