//! The control parameters of the model: the window, the pacing rate and the send quantum (BBR draft, "Updating Control
//! Parameters"). `window` has the rules for the window.

use units::{Bytes, Duration, Rate, Ratio};

use super::pacing::{self, Pacing};
use crate::controller::{Ack, Connection};

/// The control parameters, with the values of the connection that they depend on.
#[derive(Debug, Clone)]
pub struct Control {
    pub mss: Bytes,
    pub initial_cwnd: Bytes,
    pub cwnd: Bytes,
    /// The window to return to after a recovery, or after ProbeRTT.
    pub(super) saved_cwnd: Bytes,
    pub pacing: Pacing,
}

impl Control {
    /// The parameters of a new connection.
    pub fn new(connection: &Connection, pacing: pacing::Config) -> Control {
        let mss = connection.mss.max(Bytes::new(1));
        let initial_cwnd = connection.initial_cwnd.max(mss);
        Control {
            mss,
            initial_cwnd,
            cwnd: initial_cwnd,
            saved_cwnd: Bytes::ZERO,
            pacing: Pacing::new(pacing, initial_cwnd, mss),
        }
    }

    /// Sets the size of the largest packet.
    pub fn set_mss(&mut self, mss: Bytes) {
        self.mss = mss.max(Bytes::new(1));
        self.pacing.fit_quantum(self.mss);
    }

    /// Paces `window` over the first round-trip time that is measured.
    pub fn fit_first_round(&mut self, rtt: Duration, window: Bytes) {
        self.pacing.fit_first_round(rtt, window, self.mss);
    }

    /// Follows the model after an ACK. If that measured the first round-trip time, `window` is paced over it.
    pub fn update_pacing(
        &mut self,
        ack: &Ack,
        window: Bytes,
        bw: Rate,
        gain: Ratio,
        is_full: bool,
    ) {
        if let Some(sample) = ack.rtt {
            self.fit_first_round(sample.rtt, window);
        }
        self.pacing.follow(bw, gain, is_full, self.mss);
    }
}

/// The methods of [`Controller`](crate::Controller) that are the same for every BBR, using its [`Control`].
macro_rules! answers {
    ($control:ident) => {
        /// Does nothing: everything that BBR needs to know about a packet's departure comes back with its ACK or loss.
        fn on_packet_sent(&mut self, _sent: &$crate::Sent) {}

        fn on_mtu_change(&mut self, mss: $crate::Bytes) {
            self.$control.set_mss(mss);
        }

        fn cwnd(&self) -> $crate::Bytes {
            self.$control.cwnd.max(self.$control.mss)
        }

        fn pacing_rate(&self) -> $crate::Rate {
            self.$control.pacing.rate()
        }

        fn send_quantum(&self) -> $crate::Bytes {
            self.$control.pacing.quantum()
        }

        fn needs_pacing(&self) -> bool {
            true
        }
    };
}
pub(crate) use answers;
