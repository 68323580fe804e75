//! Fullpipe's congestion controllers inside a real QUIC stack, and file transfer over it.

pub mod endpoint;
