//! A transport that does not get in a fast path's way.

use std::sync::Arc;
use std::time::Duration;

use noq_proto::{TransportConfig, VarInt};

use crate::controller::Controllers;

/// How much of all streams together the receiver takes before the application has read it, in bytes: two bandwidth-delay products
/// (what BBR keeps in flight at most) of 1 Gbit/s × 100 ms, and some room for the application to be late.
pub(crate) const RECEIVE_WINDOW_BYTES: u32 = 32 << 20;

/// How much of one stream the receiver takes.
///
/// noq ends a connection ("too many gaps in stream buffer") when more than 1024 separate pieces of one stream wait for
/// holes to be filled. An honest sender gets there too: one that overruns a deep buffer in slow start loses every other
/// packet of a whole window. With this window, and packets of at least 1200 bytes, 1024 pieces do not fit. A flow that
/// needs more in flight spreads over several streams: [`STREAMS`] use all of the receive window.
const STREAM_WINDOW: u32 = 2 << 20;

/// The number of streams over which a bulk flow spreads, so that no stream's window limits it.
pub const STREAMS: u32 = RECEIVE_WINDOW_BYTES / STREAM_WINDOW;

/// How much the sender keeps, sent or unsent, until it is acknowledged. Twice the receive window, so that a flow is
/// limited by the path or by the receiver and never by its own buffer (and is never marked application-limited for it).
const SEND_WINDOW: u64 = 2 * RECEIVE_WINDOW_BYTES as u64;

/// A connection whose peer has been silent for this long is lost (RFC 9000, "Idle Timeout").
const IDLE_TIMEOUT_MS: u32 = 30_000;

/// A sender that waits for the application keeps its connection this way.
const KEEP_ALIVE: Duration = Duration::from_secs(5);

/// The transport that every flow uses, with congestion control by what `controllers` makes.
pub fn transport(controllers: Arc<dyn Controllers>) -> TransportConfig {
    let mut config = TransportConfig::default();
    config
        .congestion_controller_factory(controllers)
        .stream_receive_window(VarInt::from_u32(STREAM_WINDOW))
        .receive_window(VarInt::from_u32(RECEIVE_WINDOW_BYTES))
        .send_window(SEND_WINDOW)
        .max_idle_timeout(Some(VarInt::from_u32(IDLE_TIMEOUT_MS).into()))
        .keep_alive_interval(Some(KEEP_ALIVE));
    config
}
