//! The counters of a receiver.

use units::Bytes;

/// The counters of a receiver, since the connection began. Those that change with every segment or ACK come first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stats {
    /// Segments with data that arrived.
    pub segments: u64,
    /// ACKs sent.
    pub acks: u64,
    /// Segments beyond a hole whose ACKs were delayed and merged.
    pub compressed: u64,
    /// ACKs that reported a duplicate.
    pub dsacks: u64,
    /// Bytes of payload that arrived with ECN CE marks.
    pub ce_bytes: u64,
    /// Segments that arrived with ECN CE marks.
    pub ce_segments: u64,
    /// Segments that lay beyond a hole.
    pub out_of_order: u64,
    /// Segments that had arrived before, completely.
    pub duplicates: u64,
    /// Segments dropped because they reached beyond the offered window.
    pub beyond_window: u64,
    /// Segments dropped because they would have made more holes than the receiver keeps.
    pub refused: u64,
    /// ACKs that the delayed ACK timer sent.
    pub delayed_acks: u64,
    /// The size of the receive buffer now, which is offered beyond the data in order.
    pub buffer: Bytes,
    /// The number of holes now.
    pub holes: usize,
}
