//! A connection's streams. They take part in the connection: as long as one of them is held, it is not closed.

mod recv;
mod send;

pub use recv::RecvStream;
pub use send::SendStream;
