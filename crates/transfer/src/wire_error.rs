//! Why bytes are not a message.

/// Why bytes are not a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum WireError {
    /// Longer than any message of its kind.
    #[error("a message is too long")]
    TooLong,
    /// Not in the format.
    #[error("a message cannot be read")]
    Format,
    /// Well-formed, but it contradicts itself or what was said before.
    #[error("a message makes no sense")]
    Sense,
}
