//! QUIC connections: what a capture shows of them without keys, and their details with a key log or a qlog.

mod connection;
mod copies;
mod course;
mod delays;
mod frames;
mod hello;
mod key_log;
mod loss_bits;
mod protection;
pub(crate) mod qlog;
mod spin;
mod summary;
mod table;
#[cfg(test)]
mod tests;
mod wire;

pub use connection::QuicConnection;
pub use hello::ClientHello;
pub use key_log::{KeyLog, KeyLogError};
pub use summary::{LossShares, QuicFlow, QuicSummary, SpinSummary};
pub(crate) use table::Table;
pub use wire::Version;
