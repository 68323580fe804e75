//! The acknowledgements that a flow's sender knew when it sent, as the timestamps that it echoes tell.

use congestion::{Bytes, PacketState, Time};

use super::Vantage;
use crate::echoes::{Echoes, Passed};

/// The sender's knowledge of acknowledgements.
#[derive(Debug, Clone, Default)]
pub struct Sender {
    /// The acknowledgements that it may still echo.
    pub echoes: Echoes,
    /// The latest acknowledgement that it is known to have received.
    pub known: Option<Passed>,
    /// Away from the sender: the bytes delivered when it last began with nothing outstanding, and when that was.
    pub began: Option<(Bytes, Time)>,
}

impl Sender {
    /// Data echo this TSval. Returns the acknowledgement, if the data are the first that echo it.
    #[inline]
    pub fn on_data(&mut self, echo: u32) -> Option<Passed> {
        let (passed, is_first) = self.echoes.on_data(echo)?;
        self.known = Some(passed);
        is_first.then_some(passed)
    }

    /// Away from the sender, the delivered bytes at a departure are those that the sender knew of, not those that have passed
    /// the capture since.
    #[inline]
    pub fn stamp(&mut self, state: &mut PacketState, vantage: Vantage) {
        let Some(known) = self.known.filter(|_| vantage == Vantage::Elsewhere) else {
            return;
        };
        if begins_again(state) && state.delivered == known.delivered {
            self.began = Some((state.delivered, state.sent_time));
        }
        state.delivered = known.delivered;
        state.delivered_time = known.at;
        state.first_sent_time = state.sent_time;
    }
}

/// True if nothing was outstanding before this packet.
pub fn begins_again(state: &PacketState) -> bool {
    state.first_sent_time == state.delivered_time
}
