//! Reno (RFC 5681): one packet more in each round trip, half the window at each loss.

use units::{Bytes, Ratio, Time};

use crate::LossWindow;
use crate::controller::{Cause, Connection, Listed};
use crate::hystart::HyStart;
use crate::loss_based::{Avoidance, Growth, LossBased, states};
use crate::state::State;

/// The Reno controller. [`crate::loss_based`] describes the parts shared with CUBIC.
pub type Reno = LossBased<Aimd>;

/// The settings of Reno.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Config {
    /// The factor of the window after a loss. RFC 5681: 1/2.
    pub beta: Ratio,
    /// The factor of the window after an ECN mark. RFC 3168: as after a loss; RFC 8511 (experimental): 4/5.
    pub ecn_beta: Ratio,
    /// Whether HyStart++ is active in the initial slow start. RFC 9406 allows it for any controller that slow-starts;
    /// off by default, as in RFC 5681.
    pub hystart: bool,
    /// The window after a timeout. Linux: what is in flight and one packet. RFC 5681: one packet.
    pub loss_window: LossWindow,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            beta: Ratio::new(1, 2),
            ecn_beta: Ratio::new(1, 2),
            hystart: false,
            loss_window: LossWindow::default(),
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
        let hystart = config.hystart.then(HyStart::rfc9406);
        LossBased::start(connection, aimd, hystart, config.loss_window)
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

impl Listed for Reno {
    const NAME: &'static str = <Aimd as Avoidance>::NAME;
    const STATES: &'static [State] = states::ALL;

    type Config = Config;

    fn linux() -> Config {
        Config::default()
    }

    fn with(connection: Connection, config: Config) -> Reno {
        Reno::new(connection, config)
    }
}

impl Avoidance for Aimd {
    const NAME: &'static str = "reno";

    fn on_congestion(&mut self, cwnd: Bytes, _mss: Bytes, cause: Cause) -> Bytes {
        self.credit = Bytes::ZERO;
        match cause {
            Cause::Loss | Cause::RepairedLoss => self.beta.of_bytes(cwnd),
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

#[cfg(test)]
mod tests {
    use units::Duration;

    use super::*;
    use crate::ack_clock::{AckClock, CONNECTION, MSS, assert_near};
    use crate::controller::{Controller, Recovery};

    const RTT: Duration = Duration::from_millis(50);

    fn reno() -> AckClock<Reno> {
        AckClock::new(Reno::new(CONNECTION, Config::default()), RTT)
    }

    #[test]
    fn doubles_in_slow_start_then_adds_a_packet_a_round() {
        let mut flow = reno();
        assert_eq!(flow.state(), "SlowStart");
        flow.round();
        assert_eq!(flow.packets(), 20);
        flow.round();
        assert_eq!(flow.packets(), 40);
        flow.lose();
        assert_eq!((flow.packets(), flow.state()), (20, "CongestionAvoidance"));
        for packets in 21..100 {
            flow.round();
            assert_eq!(flow.packets(), packets);
        }
    }

    #[test]
    fn what_a_large_ack_brings_beyond_a_window_counts_towards_the_next() {
        let mut flow = reno();
        flow.lose();
        assert_eq!(flow.packets(), 5);
        let ack = |flow: &mut AckClock<Reno>| {
            let mut ack = crate::controller::Ack::new(
                flow.now,
                MSS * 4,
                MSS * 5,
                MSS,
                crate::sampling::RateSample::default(),
            );
            ack.is_cwnd_limited = true;
            flow.controller.on_ack(&ack);
            flow.packets()
        };
        // 4, 8 − 5, 7 − 6.
        assert_eq!([ack(&mut flow), ack(&mut flow), ack(&mut flow)], [5, 6, 7]);
    }

    #[test]
    fn follows_the_inverse_square_root_law() {
        // The mean of a sawtooth between W/2 and W that loses one packet in 3/8 W² (Mathis et al., "The Macroscopic
        // Behavior of the TCP Congestion Avoidance Algorithm", 1997).
        for period in [1_000, 10_000, 100_000] {
            let expected = (1.5 * period as f64).sqrt();
            assert_near(reno().mean_window(10, period), expected, 0.15);
        }
    }

    #[test]
    fn ecn_has_a_factor_of_its_own() {
        let config = Config {
            ecn_beta: Ratio::new(4, 5),
            ..Config::default()
        };
        let mut flow = AckClock::new(Reno::new(CONNECTION, config), RTT);
        flow.recovery(Recovery::Entered(Cause::Ecn));
        assert_eq!(flow.controller.cwnd(), MSS * 8);
    }

    #[test]
    fn hystart_is_a_setting() {
        for hystart in [false, true] {
            let config = Config {
                hystart,
                ..Config::default()
            };
            let mut flow = AckClock::new(Reno::new(CONNECTION, config), RTT);
            // Forty packets a round trip: the window of the third round queues.
            flow.bottleneck = units::Rate::from_transfer(MSS * 40, RTT);
            for _ in 0..12 {
                flow.round();
            }
            let expected = if hystart {
                "CongestionAvoidance"
            } else {
                "SlowStart"
            };
            assert_eq!(flow.state(), expected);
        }
    }
}
