//! CUBIC: the window as a cubic function of the time since the last congestion, in the variants of Linux and of RFC
//! 9438.
//!
//! | file | content |
//! | --- | --- |
//! | `curve`, `root` | the cubic function and its inverse |
//! | `linux`, `rfc9438` | the growth of the window along it, and along Reno's |

mod curve;
mod linux;
mod rfc9438;
mod root;

use units::{Bytes, Ratio, Time};

use crate::LossWindow;
use crate::controller::{Cause, Connection, Listed};
use crate::hystart::HyStart;
use crate::loss_based::{Avoidance, Growth, LossBased, states};
use crate::state::State;
use curve::Curve;

/// The CUBIC controller. [`crate::loss_based`] describes the parts shared with Reno.
pub type Cubic = LossBased<CubicAvoidance>;

/// The variants of CUBIC. They agree on the curve and the reductions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Variant {
    /// Linux's, the most common on the Internet: RFC 8312, in whole packets. It gets less than RFC 9438's where losses
    /// or short round trips keep the window small.
    Linux,
    /// RFC 9438's, in bytes: no slower than Reno anywhere.
    Rfc9438,
}

/// The variants of HyStart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HyStartVariant {
    /// Linux's, the original.
    Linux,
    /// HyStart++ (RFC 9406).
    Rfc9406,
}

/// The settings of CUBIC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Config {
    /// The variant of CUBIC.
    pub variant: Variant,
    /// C, in packets/s³: the speed at which the window leaves and seeks its last maximum. RFC 9438: 2/5. Linux, in
    /// fixed point: 410/1024.
    pub c: Ratio,
    /// The factor of the window after a loss. RFC 9438: 7/10. Linux, in fixed point: 717/1024.
    pub beta: Ratio,
    /// The factor of the window after an ECN mark. RFC 9438: as after a loss; RFC 8511 (experimental): 17/20.
    pub ecn_beta: Ratio,
    /// Whether a flow whose window falls short of its last maximum releases more, for newcomers (RFC 9438, "Fast
    /// Convergence").
    pub fast_convergence: bool,
    /// The variant of HyStart in slow start, if any.
    pub hystart: Option<HyStartVariant>,
    /// The window after a timeout. Linux: what is in flight and one packet. RFC 5681: one packet.
    pub loss_window: LossWindow,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            variant: Variant::Linux,
            c: Ratio::new(2, 5),
            beta: Ratio::new(7, 10),
            ecn_beta: Ratio::new(7, 10),
            fast_convergence: true,
            hystart: Some(HyStartVariant::Linux),
            loss_window: LossWindow::default(),
        }
    }
}

impl Cubic {
    /// A controller for a new connection.
    pub fn new(connection: Connection, config: Config) -> Cubic {
        let avoidance = CubicAvoidance {
            config,
            w_max: Bytes::ZERO,
            cwnd_prior: Bytes::ZERO,
            epoch: None,
        };
        let hystart = config.hystart.map(|hystart| match hystart {
            HyStartVariant::Linux => HyStart::linux(connection.now, connection.is_paced),
            HyStartVariant::Rfc9406 => HyStart::rfc9406(),
        });
        LossBased::start(connection, avoidance, hystart, config.loss_window)
    }
}

/// CUBIC's congestion avoidance.
#[derive(Debug, Clone, Copy)]
pub struct CubicAvoidance {
    config: Config,
    /// The window to which the curve returns: the window at the last congestion, or less (fast convergence). Zero if
    /// there was none since the start or a timeout.
    w_max: Bytes,
    /// The window at the last congestion.
    cwnd_prior: Bytes,
    epoch: Option<Epoch>,
}

/// A stage of congestion avoidance.
#[derive(Debug, Clone, Copy)]
struct Epoch {
    /// The start of the stage, postponed by the times in which the sender did not use its window (RFC 9438, "Window
    /// Increase Function" and "Behavior for Application-Limited Flows").
    start: Time,
    /// The time of the last ACK.
    updated: Time,
    curve: Curve,
    pace: Pace,
}

/// The growth of the window along the curve.
#[derive(Debug, Clone, Copy)]
enum Pace {
    Linux(linux::Pace),
    Rfc9438(rfc9438::Pace),
}

impl CubicAvoidance {
    /// The counted part of `window`: Linux counts whole packets.
    fn whole(&self, window: Bytes, mss: Bytes) -> Bytes {
        match self.config.variant {
            Variant::Linux => mss * window.get().checked_div(mss.get()).unwrap_or(0),
            Variant::Rfc9438 => window,
        }
    }
}

impl Listed for Cubic {
    const NAME: &'static str = <CubicAvoidance as Avoidance>::NAME;
    const STATES: &'static [State] = states::ALL;

    type Config = Config;

    fn linux() -> Config {
        Config::default()
    }

    fn with(connection: Connection, config: Config) -> Cubic {
        Cubic::new(connection, config)
    }
}

impl Avoidance for CubicAvoidance {
    const NAME: &'static str = "cubic";

    fn on_congestion(&mut self, cwnd: Bytes, mss: Bytes, cause: Cause) -> Bytes {
        let beta = match cause {
            Cause::Loss | Cause::RepairedLoss => self.config.beta,
            Cause::Ecn => self.config.ecn_beta,
        };
        let reduced = beta.of_bytes(cwnd);
        let w_max = if self.config.fast_convergence && cwnd < self.w_max {
            // cwnd × (1 + β) / 2
            Bytes::new((cwnd + reduced).get() / 2)
        } else {
            cwnd
        };
        self.w_max = self.whole(w_max, mss);
        self.cwnd_prior = cwnd;
        self.epoch = None;
        self.whole(reduced, mss)
    }

    /// Congestion avoidance then starts at the bottom of a curve, with K = 0 (RFC 9438, "Timeout").
    fn on_timeout(&mut self) {
        self.w_max = Bytes::ZERO;
        self.epoch = None;
    }

    fn grow(&mut self, growth: &Growth) -> Bytes {
        let epoch = self.epoch.get_or_insert_with(|| Epoch {
            start: growth.now,
            updated: growth.now,
            curve: Curve::new(growth.cwnd, self.w_max, growth.mss, self.config.c),
            pace: match self.config.variant {
                Variant::Linux => Pace::Linux(linux::Pace::new(self.config.beta, growth)),
                Variant::Rfc9438 => Pace::Rfc9438(rfc9438::Pace::new(growth)),
            },
        });
        epoch.updated = growth.now;
        let elapsed = growth.now.since(epoch.start);
        let curve = &epoch.curve;
        match &mut epoch.pace {
            Pace::Linux(pace) => pace.grow(curve, elapsed, !self.w_max.is_zero(), growth),
            Pace::Rfc9438(pace) => {
                pace.grow(curve, elapsed, self.config.beta, self.cwnd_prior, growth)
            }
        }
    }

    fn on_app_limited(&mut self, now: Time) {
        if let Some(epoch) = &mut self.epoch {
            epoch.start += now.since(epoch.updated);
            epoch.updated = now;
        }
    }

    fn on_restart(&mut self) {
        self.epoch = None;
    }
}

#[cfg(test)]
mod tests {
    use units::Duration;

    use super::*;
    use crate::ack_clock::{AckClock, CONNECTION, MSS, assert_near};
    use crate::controller::{Controller, Recovery};
    use crate::reno::{self, Reno};

    const RTT: Duration = Duration::from_millis(100);

    /// RFC 9438's CUBIC, without HyStart.
    fn rfc_9438() -> Config {
        Config {
            variant: Variant::Rfc9438,
            hystart: None,
            ..Config::default()
        }
    }

    fn avoidance(config: Config) -> CubicAvoidance {
        CubicAvoidance {
            config,
            w_max: Bytes::ZERO,
            cwnd_prior: Bytes::ZERO,
            epoch: None,
        }
    }

    /// A flow without HyStart that has just recovered from a loss at a window of `packets` × 10 · 2ⁿ.
    fn recovered(doublings: u32, rtt: Duration) -> AckClock<Cubic> {
        let mut flow = AckClock::new(Cubic::new(CONNECTION, rfc_9438()), rtt);
        for _ in 0..doublings {
            flow.round();
        }
        flow.lose();
        flow
    }

    #[test]
    fn the_window_follows_the_cubic_function() {
        let mut flow = recovered(7, RTT);
        let w_max = 1_280.0;
        assert_eq!(flow.packets(), 896);
        // The first ACK after the recovery starts the stage.
        flow.ack();
        let start = flow.now;
        let k = (w_max * 0.3_f64 / 0.4).cbrt();
        let window = |t: f64| 0.4 * (t - k).powi(3) + w_max;
        let mut t = 0.0;
        while t < 2.0 * k {
            flow.round();
            t = flow.now.since(start).as_secs_f64();
            let actual = flow.controller.cwnd().get() as f64 / MSS.get() as f64;
            // The window approaches the curve within one round trip.
            let (low, high) = (window(t - 0.1), window(t + 0.1));
            assert!(
                (low * 0.998..high * 1.002).contains(&actual),
                "{actual} at {t} s, not between {low} and {high}"
            );
        }
    }

    #[test]
    fn the_mean_window_is_that_of_the_rfc() {
        // RFC 9438, "Discussion": (C (3 + β) / (4 (1 − β)))^(1/4) × (RTT / p)^(3/4); the table of "Fairness to Reno" for
        // 100 ms gives 187 and 1054 packets for these loss rates.
        let config = Config {
            fast_convergence: false,
            ..rfc_9438()
        };
        for (period, mean) in [(10_000, 187.0), (100_000, 1_054.0)] {
            let mut flow = AckClock::new(Cubic::new(CONNECTION, config), RTT);
            // CUBIC reaches its equilibrium slowly. The flow starts near it, and leaving it would show.
            let maximum = mean * 4.0 / 3.7;
            assert_near(flow.mean_window(maximum as u64, period), mean, 0.05);
        }
    }

    #[test]
    fn at_a_small_bdp_it_is_as_fast_as_reno() {
        for period in [100, 1_000] {
            let rtt = Duration::from_millis(10);
            let config = Config {
                fast_convergence: false,
                hystart: Some(HyStartVariant::Linux),
                ..rfc_9438()
            };
            let mut cubic = AckClock::new(Cubic::new(CONNECTION, config), rtt);
            let mut reno = AckClock::new(Reno::new(CONNECTION, reno::Config::default()), rtt);
            assert_near(
                cubic.mean_window(10, period),
                reno.mean_window(10, period),
                0.15,
            );
        }
    }

    #[test]
    fn back_at_the_last_congestion_it_grows_like_reno() {
        // The round trip is so short that the curve has not moved yet.
        let mut flow = recovered(4, Duration::from_millis(1));
        assert_eq!(flow.packets(), 112);
        let mut rounds = 0;
        while flow.packets() < 160 {
            flow.round();
            rounds += 1;
        }
        // 3 × (1 − 0.7) / (1 + 0.7) packets a round.
        assert_near(f64::from(rounds), 48.0 * 1.7 / 0.9, 0.03);
        for _ in 0..50 {
            flow.round();
        }
        assert_near(flow.packets() as f64, 210.0, 0.01);
    }

    #[test]
    fn fast_convergence_releases_more() {
        for (fast_convergence, second, third) in [(true, 68, 85), (false, 80, 85)] {
            let mut avoidance = avoidance(Config {
                fast_convergence,
                ..Config::default()
            });
            assert_eq!(
                avoidance.on_congestion(MSS * 100, MSS, Cause::Loss),
                MSS * 70
            );
            assert_eq!(avoidance.w_max, MSS * 100);
            // Short of the last maximum: 80 × (1 + 0.7) / 2.
            assert_eq!(
                avoidance.on_congestion(MSS * 80, MSS, Cause::Loss),
                MSS * 56
            );
            assert_eq!(avoidance.w_max, MSS * second);
            // Beyond it.
            avoidance.on_congestion(MSS * 85, MSS, Cause::Loss);
            assert_eq!(avoidance.w_max, MSS * third);
        }
    }

    #[test]
    fn ecn_has_a_factor_of_its_own() {
        let mut avoidance = avoidance(Config {
            ecn_beta: Ratio::new(17, 20),
            ..Config::default()
        });
        assert_eq!(
            avoidance.on_congestion(MSS * 100, MSS, Cause::Ecn),
            MSS * 85
        );
        assert_eq!(
            avoidance.on_congestion(MSS * 100, MSS, Cause::Loss),
            MSS * 70
        );
    }

    #[test]
    fn time_without_data_does_not_count() {
        let mut busy = recovered(7, RTT);
        let mut paused = recovered(7, RTT);
        busy.run(Duration::from_secs(3));
        paused.run(Duration::from_secs(3));
        // An application may pause in two ways: it sends less than the window, or nothing.
        let before = paused.controller.cwnd();
        paused.is_cwnd_limited = false;
        paused.run(Duration::from_secs(20));
        paused.is_cwnd_limited = true;
        paused
            .controller
            .on_packet_sent(&crate::controller::Sent::new(paused.now, MSS, MSS));
        paused.now += Duration::from_millis(250);
        paused.controller.on_idle_restart(paused.now);
        assert_eq!(paused.controller.cwnd(), before);
        busy.run(Duration::from_secs(3));
        paused.run(Duration::from_secs(3));
        assert!(busy.packets() > 896 + 100, "the curve rises meanwhile");
        assert_near(paused.packets() as f64, busy.packets() as f64, 0.002);
    }

    #[test]
    fn undo_returns_to_the_curve() {
        let mut flow = recovered(7, RTT);
        flow.run(Duration::from_secs(3));
        let mut undisturbed = AckClock::new(flow.controller.clone(), RTT);
        undisturbed.now = flow.now;
        flow.recovery(Recovery::Entered(Cause::Loss));
        flow.recovery(Recovery::Undone);
        for _ in 0..100_000 {
            flow.ack();
            undisturbed.ack();
        }
        assert_eq!(flow.controller.cwnd(), undisturbed.controller.cwnd());
    }

    #[test]
    fn after_a_timeout_the_curve_starts_flat() {
        let mut flow = recovered(7, RTT);
        flow.controller.on_timeout(flow.now, Bytes::ZERO);
        flow.recovery(Recovery::Left);
        while flow.state() == "SlowStart" {
            flow.ack();
        }
        // 0.7 × 896, and from there 0.4 t³, ahead by up to a round trip: not back to 896 as after a loss.
        assert_eq!(flow.packets(), 627);
        flow.run(Duration::from_secs(4));
        let actual = flow.packets() as f64;
        assert!((627.0 + 25.0..627.0 + 28.0).contains(&actual), "{actual}");
    }

    #[test]
    fn growth_is_at_most_half_a_window_a_round() {
        let mut flow = recovered(2, Duration::from_secs(10));
        for _ in 0..10 {
            let before = flow.controller.cwnd().get();
            flow.round();
            let after = flow.controller.cwnd().get();
            // Half of it for each acknowledged window; the growth in between is acknowledged in the next.
            assert!(after <= before * 165 / 100, "{before} to {after}");
        }
    }
}
