//! QUIC connections: what a capture shows of them without keys, and their details with a key log or a qlog.

mod connection;
mod copies;
mod course;
mod loss_bits;
pub(crate) mod qlog;
mod spin;
mod summary;
mod table;
#[cfg(test)]
mod tests;

pub use self::connection::QuicConnection;
pub use summary::{LossShares, QuicFlow, QuicSummary, SpinSummary};
pub(crate) use table::Table;
