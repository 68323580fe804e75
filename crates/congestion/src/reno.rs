//! Reno (RFC 5681): one packet more in each round trip, half the window at each loss.

use units::{Bytes, Ratio, Time};

use crate::controller::{Cause, Connection};
use crate::loss_based::{Avoidance, Growth, LossBased};

/// The Reno controller. What it shares with CUBIC is described in [`crate::loss_based`].
pub type Reno = LossBased<Aimd>;

/// Reno's settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Config {
    /// What is left of the window after a loss. RFC 5681: 1/2.
    pub beta: Ratio,
    /// What is left of the window after an ECN mark. RFC 3168: as after a loss; RFC 8511 (experimental) would have 4/5.
    pub ecn_beta: Ratio,
    /// Whether HyStart++ watches over the initial slow start. RFC 9406 allows it for any controller that slow-starts;
    /// off by default, as RFC 5681 has it.
    pub hystart: bool,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            beta: Ratio::new(1, 2),
            ecn_beta: Ratio::new(1, 2),
            hystart: false,
        }
    }
}

impl Reno {
    /// A controller for a new connection.
    pub fn new(connection: Connection, config: Config) -> Reno {
        let aimd = Aimd {
            beta: config.beta,
            ecn_beta: config.ecn_beta,
            credit: Bytes::ZERO,
        };
        LossBased::start(connection, aimd, config.hystart)
    }
}

/// Additive increase, multiplicative decrease.
#[derive(Debug, Clone, Copy)]
pub struct Aimd {
    beta: Ratio,
    ecn_beta: Ratio,
    /// Bytes acknowledged since the window last grew (RFC 3465, "Congestion Avoidance").
    credit: Bytes,
}

impl Avoidance for Aimd {
    const NAME: &'static str = "reno";

    fn on_congestion(&mut self, cwnd: Bytes, cause: Cause) -> Bytes {
        self.credit = Bytes::ZERO;
        match cause {
            Cause::Loss => self.beta.of_bytes(cwnd),
            Cause::Ecn => self.ecn_beta.of_bytes(cwnd),
        }
    }

    fn on_timeout(&mut self) {
        self.credit = Bytes::ZERO;
    }

    fn grow(&mut self, growth: &Growth) -> Bytes {
        self.credit += growth.acked;
        if self.credit < growth.cwnd {
            return growth.cwnd;
        }
        self.credit -= growth.cwnd;
        growth.cwnd + growth.mss
    }

    fn on_app_limited(&mut self, _now: Time) {}

    fn on_restart(&mut self) {
        self.credit = Bytes::ZERO;
    }
}
