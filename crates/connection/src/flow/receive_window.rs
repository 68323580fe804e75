//! The receive window, as acknowledgements offer it.

use crate::window_scale::WindowScale;

use super::stream::Stream;

/// The receive window of a flow's receiver.
#[derive(Debug, Clone, Copy, Default)]
pub struct ReceiveWindow {
    /// Its end.
    pub edge: Option<u64>,
    /// True if the handshake told its scale.
    is_sure: bool,
    /// An estimate of the scale, for captures without the handshake.
    estimate: WindowScale,
    /// The position of a window of zero, if the latest one was.
    closed_at: Option<u64>,
    /// The end of the byte that was sent only to get an answer.
    pub probed: Option<u64>,
}

impl ReceiveWindow {
    /// An acknowledgement offers `window`. `scale` is its scale, if the handshake told it.
    #[inline]
    pub fn on_ack(&mut self, ack: u64, window: u16, scale: Option<u8>) {
        self.closed_at = (window == 0).then_some(ack);
        self.estimate.offered(ack, window);
        self.is_sure = scale.is_some();
        let scale = scale.or_else(|| self.estimate.scale());
        if let Some(scale) = scale {
            self.extend(ack + (u64::from(window) << scale));
        } else {
            self.edge = None;
        }
    }

    /// The receiver accepts data up to this position.
    pub fn extend(&mut self, edge: u64) {
        self.edge = Some(self.edge.map_or(edge, |old| old.max(edge)));
    }

    /// New data up to `end` are sent; `full` bytes are a packet.
    #[inline]
    pub fn on_data(&mut self, end: u64, full: u64) {
        self.estimate.on_data(end, full);
    }

    /// Nothing is known of the window until the next acknowledgement.
    pub fn forget(&mut self) {
        (self.edge, self.closed_at, self.probed) = (None, None, None);
    }

    /// True if data may end here.
    pub fn has_room(&self, end: u64) -> bool {
        self.edge.is_none_or(|edge| end <= edge)
    }

    /// True if data end behind the window. Their sender may know of more room, if its acknowledgement was not captured.
    #[inline]
    pub fn is_exceeded(&self, end: u64) -> bool {
        self.is_sure && !self.has_room(end)
    }

    /// True if a segment of one byte only asks for an answer: it is a keepalive, whose byte is acknowledged (RFC 9293,
    /// section 3.8.4), or a probe of a zero window (section 3.8.6.1).
    pub fn is_probe(&self, seq: u64, stream: &Stream) -> bool {
        let is_alive = stream.unacked() == 0 && seq + 1 == stream.una;
        is_alive || self.closed_at == Some(seq)
    }
}
