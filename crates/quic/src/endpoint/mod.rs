//! QUIC endpoints that trust one certificate: TLS 1.3 only, the server's self-signed certificate pinned by its
//! fingerprint, and transport settings that do not limit a fast path.

mod client;
mod error;
mod fingerprint;
mod identity;
mod listen;
mod socket;
#[cfg(test)]
mod tests;
mod tls;
mod transport;

pub use client::Client;
pub use error::EndpointError;
pub use fingerprint::{Fingerprint, FingerprintError};
pub use identity::{Identity, SERVER_NAME};
pub use listen::listen;
pub(crate) use socket::open;
pub use socket::{SOCKET_BUFFER_BYTES, most_segments};
pub use tls::{client_config, server_config};
pub(crate) use transport::RECEIVE_WINDOW_BYTES;
pub use transport::{STREAMS, transport};
