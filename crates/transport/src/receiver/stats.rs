//! What a receiver counts.

use units::Bytes;

/// Counts since the connection began: first those that every segment or ACK takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stats {
    /// Segments with data that arrived.
    pub segments: u64,
    /// ACKs sent.
    pub acks: u64,
    /// Segments beyond a hole whose ACKs were held back to become one.
    pub compressed: u64,
    /// ACKs that told of a duplicate.
    pub dsacks: u64,
    /// Bytes of payload that arrived marked (ECN CE).
    pub ce_bytes: u64,
    /// The segments that they came in.
    pub ce_segments: u64,
    /// Segments that lay beyond a hole.
    pub out_of_order: u64,
    /// Segments that had arrived before, wholly.
    pub duplicates: u64,
    /// Segments dropped because they reached beyond the offered window.
    pub beyond_window: u64,
    /// Segments dropped because they would have made more holes than are kept.
    pub refused: u64,
    /// ACKs that the delayed ACK timer sent.
    pub delayed_acks: u64,
    /// The receive buffer's size now: what is offered beyond the data in order.
    pub buffer: Bytes,
    /// How many holes there are now.
    pub holes: usize,
}
