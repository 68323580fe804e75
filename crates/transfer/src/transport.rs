//! The times and windows that both sides of a connection use.

use std::sync::Arc;
use std::time::Duration;

use noq_proto::{TransportConfig, VarInt};
use quic::controller::Controllers;
use quic::endpoint;

/// The silence, in milliseconds, after which a peer is taken for gone.
pub const IDLE_TIMEOUT_MS: u32 = 10_000;

/// The interval of keep-alive packets; a few of them may be lost within the idle timeout.
pub const KEEP_ALIVE: Duration = Duration::from_secs(1);

/// The receive window of a stream: a block with its hash, a batch, or a piece of a message.
pub const STREAM_WINDOW: VarInt = VarInt::from_u32(1 << 20);

/// The most concurrent streams: as many as the window of the whole connection holds.
pub const MAX_STREAMS: u32 = 128;

/// The timeout for the last messages of a failing transfer.
pub const FAREWELL_TIMEOUT: Duration = Duration::from_secs(3);

/// The sender's transport configuration. The sender reads the receiver's messages on one stream that it has opened
/// itself, so the receiver may open none.
pub fn sending(controllers: Arc<dyn Controllers>) -> TransportConfig {
    let mut config = transport(controllers);
    config
        .max_concurrent_uni_streams(VarInt::from_u32(0))
        .max_concurrent_bidi_streams(VarInt::from_u32(0))
        .receive_window(STREAM_WINDOW);
    config
}

/// The transport configuration of both sides.
pub fn transport(controllers: Arc<dyn Controllers>) -> TransportConfig {
    let mut config = endpoint::transport(controllers);
    config
        .stream_receive_window(STREAM_WINDOW)
        .max_concurrent_uni_streams(VarInt::from_u32(MAX_STREAMS))
        .max_idle_timeout(Some(VarInt::from_u32(IDLE_TIMEOUT_MS).into()))
        .keep_alive_interval(Some(KEEP_ALIVE))
        // Nobody reads datagrams, so a peer must not be able to fill a buffer with them.
        .datagram_receive_buffer_size(None);
    config
}
