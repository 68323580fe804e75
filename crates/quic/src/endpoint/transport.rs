//! Transport settings that do not limit a fast path.

use std::sync::Arc;
use std::time::Duration;

use noq_proto::{TransportConfig, VarInt};

use crate::controller::Controllers;

/// The receive window of all streams together, in bytes: two bandwidth-delay products (BBR's maximum inflight) of 1
/// Gbit/s × 100 ms, and some room for a late application.
pub(crate) const RECEIVE_WINDOW_BYTES: u32 = 32 << 20;

/// The receive window of one stream, in bytes.
///
/// noq ends a connection ("too many gaps in stream buffer") when more than 1024 separate pieces of one stream wait for
/// missing data. An honest sender can cause this: if it overruns a deep buffer in slow start, it loses every other
/// packet of a whole window. With this window, and packets of at least 1200 bytes, 1024 pieces do not fit. A flow that
/// needs more in flight uses several streams: [`STREAMS`] use all of the receive window.
const STREAM_WINDOW_BYTES: u32 = 2 << 20;

/// The number of streams over which a bulk flow spreads, so that no stream's window limits it.
pub const STREAMS: u32 = RECEIVE_WINDOW_BYTES / STREAM_WINDOW_BYTES;

/// The bytes that a sender keeps, sent or unsent, until they are acknowledged. They are twice the receive window, so
/// that the path or the receiver limits a flow, and never its own buffer (which would mark it application-limited).
const SEND_WINDOW_BYTES: u64 = 2 * RECEIVE_WINDOW_BYTES as u64;

/// A connection whose peer has been silent for this long is lost (RFC 9000, "Idle Timeout").
const IDLE_TIMEOUT_MS: u32 = 30_000;

/// A sender that waits for the application keeps its connection alive at this interval.
const KEEP_ALIVE_INTERVAL: Duration = Duration::from_secs(5);

/// The transport settings of every flow, with the controllers that `controllers` makes.
pub fn transport(controllers: Arc<dyn Controllers>) -> TransportConfig {
    let mut config = TransportConfig::default();
    config
        .congestion_controller_factory(controllers)
        .stream_receive_window(VarInt::from_u32(STREAM_WINDOW_BYTES))
        .receive_window(VarInt::from_u32(RECEIVE_WINDOW_BYTES))
        .send_window(SEND_WINDOW_BYTES)
        .max_idle_timeout(Some(VarInt::from_u32(IDLE_TIMEOUT_MS).into()))
        .keep_alive_interval(Some(KEEP_ALIVE_INTERVAL));
    config
}
