//! Fullpipe's congestion controllers inside a real QUIC stack, and file transfer over it.

pub mod bulk;
pub mod controller;
pub mod endpoint;
pub mod observer;
pub mod transfer;
