//! What both sides of a connection agree on: times and windows.

use std::sync::Arc;
use std::time::Duration;

use noq_proto::{TransportConfig, VarInt};
use quic::controller::Controllers;
use quic::endpoint;

/// A peer that is silent for this long is gone.
pub const IDLE_TIMEOUT_MS: u32 = 10_000;

/// A few of these may get lost before a peer seems silent.
pub const KEEP_ALIVE: Duration = Duration::from_secs(1);

/// What may wait of one stream: a block with its hash, a batch, or a piece of a message.
pub const STREAM_WINDOW: VarInt = VarInt::from_u32(1 << 20);

/// Streams that may be on their way at the same time: as many as the window of the whole connection holds.
pub const STREAMS: u32 = 128;

/// How long the last words of a failing transfer may take.
pub const FAREWELL: Duration = Duration::from_secs(3);

/// How the sender sets up a connection: it reads what the receiver says on one stream that is its own, so nothing else of the
/// receiver may wait here.
pub fn sending(controllers: Arc<dyn Controllers>) -> TransportConfig {
    let mut config = transport(controllers);
    config
        .max_concurrent_uni_streams(VarInt::from_u32(0))
        .max_concurrent_bidi_streams(VarInt::from_u32(0))
        .receive_window(STREAM_WINDOW);
    config
}

/// How both sides set up a connection.
pub fn transport(controllers: Arc<dyn Controllers>) -> TransportConfig {
    let mut config = endpoint::transport(controllers);
    config
        .stream_receive_window(STREAM_WINDOW)
        .max_concurrent_uni_streams(VarInt::from_u32(STREAMS))
        .max_idle_timeout(Some(VarInt::from_u32(IDLE_TIMEOUT_MS).into()))
        .keep_alive_interval(Some(KEEP_ALIVE))
        // Nobody reads any, so a peer must not be able to pile them up.
        .datagram_receive_buffer_size(None);
    config
}
