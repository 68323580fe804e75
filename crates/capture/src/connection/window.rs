//! By how many bits receive windows are to be shifted, if the handshake was not seen: as few as what is in flight allows.
//!
//! No sender has more in flight than the window. So each packet bounds the scale from below. If the true one is greater, the window has room for
//! twice as much, and never was full. If it is that one, a flow that the window limits meets its edge again and again.

/// So many packets in a row of acknowledgements have to meet the edge.
const ENOUGH: u8 = 8;

/// No window is shifted by more (RFC 7323, section 2.3).
const MOST: u8 = 14;

/// What is known of the scale.
#[derive(Debug, Clone, Copy, Default)]
pub struct Window {
    /// The latest acknowledgement, and the window that it offered, not scaled.
    offered: Option<(u64, u16)>,
    least: u8,
    /// How many acknowledgements were followed by data up to their windows' edge.
    met: u8,
    is_met: bool,
}

impl Window {
    /// An acknowledgement offers this.
    #[inline]
    pub fn offered(&mut self, ack: u64, window: u16) {
        if self.offered.is_none_or(|(before, _)| ack >= before) {
            self.offered = Some((ack, window));
            self.is_met = false;
        }
    }

    /// Data up to `end` pass; `full` bytes are a packet.
    #[inline]
    pub fn on_data(&mut self, end: u64, full: u64) {
        let Some((ack, window)) = self.offered else {
            return;
        };
        let edge = |scale: u8| ack + (u64::from(window) << scale);
        // A window that has shrunk says nothing.
        if window == 0 || edge(MOST) < end {
            return;
        }
        while edge(self.least) < end {
            self.least += 1;
            self.met = 0;
        }
        if !self.is_met && end + full > edge(self.least) {
            self.is_met = true;
            self.met = self.met.saturating_add(1);
        }
    }

    /// The scale, if the window's edge was met.
    pub fn scale(&self) -> Option<u8> {
        (self.met >= ENOUGH).then_some(self.least)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rounds in which so much is in flight.
    fn after(flights: impl IntoIterator<Item = u64>) -> Option<u8> {
        let mut window = Window::default();
        let mut ack = 0;
        for flight in flights {
            window.offered(ack, 500);
            window.on_data(ack + flight, 1_000);
            ack += flight;
        }
        window.scale()
    }

    #[test]
    fn the_edge_is_where_a_flow_stops_again_and_again() {
        assert_eq!(after([60_000, 63_500, 63_900].repeat(20)), Some(7));
        assert_eq!(after([10_000, 30_000, 40_000, 50_000].repeat(20)), None);
        // A window that grows.
        assert_eq!(after((10..200).map(|packets| packets * 1_000)), None);
    }
}
