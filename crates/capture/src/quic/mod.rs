//! Packets of QUIC: headers, the decryption of payloads with a key log, frames, and datagrams that were captured joined.

pub mod delays;
pub mod frames;
pub mod hello;
mod key_log;
pub mod offload;
pub mod protection;
pub mod wire;

pub use hello::ClientHello;
pub use key_log::{KeyLog, KeyLogError};
pub use wire::Version;
