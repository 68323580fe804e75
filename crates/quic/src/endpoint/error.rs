//! Errors of setting up an endpoint.

use std::io;
use std::net::SocketAddr;

/// An error of setting up an endpoint.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EndpointError {
    /// The key or the certificate could not be made.
    #[error("cannot make a certificate: {0}")]
    Certificate(#[from] rcgen::Error),
    /// The TLS library refused the configuration.
    #[error("cannot configure TLS: {0}")]
    Tls(#[from] rustls::Error),
    /// The TLS library lacks the cipher suite of QUIC's handshake.
    #[error("cannot configure TLS for QUIC: {0}")]
    Cipher(#[from] noq_proto::crypto::rustls::NoInitialCipherSuite),
    /// The address cannot be connected to.
    #[error("cannot connect: {0}")]
    Connect(#[from] noq_proto::ConnectError),
    /// The system cannot start a thread.
    #[error("cannot start a thread: {0}")]
    Thread(#[source] io::Error),
    /// The socket could not be opened.
    #[error("cannot bind {address}: {source}")]
    Bind {
        /// The requested address.
        address: SocketAddr,
        /// The system's error.
        source: io::Error,
    },
}
