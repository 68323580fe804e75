//! An estimate of the window scale for captures without the handshake: the smallest scale that the data in flight allow.
//!
//! A sender never has more in flight than the window, so each packet bounds the scale from below. If the true scale is
//! greater than this bound, the window was at most half full. If the bound is the true scale, a flow that the window limits
//! reaches the window's edge again and again.

/// The number of acknowledgements in a row whose window's edge must be reached.
const MIN_EDGES_MET: u8 = 8;

/// The greatest window scale (RFC 7323, section 2.3).
const MAX_SCALE: u8 = 14;

/// The estimate of the scale.
#[derive(Debug, Clone, Copy, Default)]
pub struct WindowScale {
    /// The latest acknowledgement, and the unscaled window that it offered.
    offered: Option<(u64, u16)>,
    least: u8,
    /// The number of acknowledgements whose window was filled up to its edge.
    met: u8,
    is_met: bool,
}

impl WindowScale {
    #[inline]
    pub fn offered(&mut self, ack: u64, window: u16) {
        if self.offered.is_none_or(|(before, _)| ack >= before) {
            self.offered = Some((ack, window));
            self.is_met = false;
        }
    }

    /// Data up to `end` are sent; `full` bytes are a packet.
    #[inline]
    pub fn on_data(&mut self, end: u64, full: u64) {
        let Some((ack, window)) = self.offered else {
            return;
        };
        let edge = |scale: u8| ack + (u64::from(window) << scale);
        // A window that has shrunk tells nothing.
        if window == 0 || edge(MAX_SCALE) < end {
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

    /// The scale, if the window's edge was reached often enough.
    pub fn scale(&self) -> Option<u8> {
        (self.met >= MIN_EDGES_MET).then_some(self.least)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rounds with these bytes in flight.
    fn after(flights: impl IntoIterator<Item = u64>) -> Option<u8> {
        let mut window = WindowScale::default();
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
        // A growing window.
        assert_eq!(after((10..200).map(|packets| packets * 1_000)), None);
    }
}
