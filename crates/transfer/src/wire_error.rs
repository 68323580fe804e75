//! Errors of messages.

/// The reason why bytes are not a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum WireError {
    /// The message is longer than its kind allows.
    #[error("a message is too long")]
    TooLong,
    /// The format is wrong.
    #[error("a message cannot be read")]
    Format,
    /// The message is well-formed but contradicts itself or an earlier one.
    #[error("a message makes no sense")]
    Sense,
}
