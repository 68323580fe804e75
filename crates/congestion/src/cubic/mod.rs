//! CUBIC (RFC 9438): the window as a cubic function of the time since the last congestion.

mod curve;
mod root;

use units::{Bytes, Duration, Ratio, Time};

use crate::controller::{Cause, Connection};
use crate::loss_based::{Avoidance, Growth, LossBased};
use curve::Curve;

/// The CUBIC controller. What it shares with Reno is described in [`crate::loss_based`].
pub type Cubic = LossBased<CubicAvoidance>;

/// CUBIC's settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Config {
    /// What is left of the window after a loss. RFC 9438: 7/10.
    pub beta: Ratio,
    /// What is left of the window after an ECN mark. RFC 9438: as after a loss; RFC 8511 (experimental) would have
    /// 17/20.
    pub ecn_beta: Ratio,
    /// Whether a flow whose window falls short of its last maximum releases more, for newcomers (RFC 9438, "Fast
    /// Convergence").
    pub fast_convergence: bool,
    /// Whether HyStart++ (RFC 9406) watches over the initial slow start.
    pub hystart: bool,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            beta: Ratio::new(7, 10),
            ecn_beta: Ratio::new(7, 10),
            fast_convergence: true,
            hystart: true,
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
        LossBased::start(connection, avoidance, config.hystart)
    }
}

/// CUBIC's congestion avoidance.
#[derive(Debug, Clone, Copy)]
pub struct CubicAvoidance {
    config: Config,
    /// The window that the curve returns to: where congestion was last met, or less (fast convergence). Zero if it was
    /// not met since the start or since a timeout.
    w_max: Bytes,
    /// The window at the last congestion.
    cwnd_prior: Bytes,
    epoch: Option<Epoch>,
}

/// A stage of congestion avoidance.
#[derive(Debug, Clone, Copy)]
struct Epoch {
    /// When it started, put off by the times in which the sender did not use its window (RFC 9438, "Window Increase
    /// Function" and "Behavior for Application-Limited Flows").
    start: Time,
    /// The time of the last ACK.
    updated: Time,
    curve: Curve,
    /// The part of the window's growth, in bytes times bytes, that did not make a whole byte yet.
    remainder: u64,
    /// The window that Reno would have (RFC 9438, "Reno-Friendly Region").
    w_est: Bytes,
    /// What was acknowledged since `w_est` last grew, times α's numerator.
    credit: u64,
}

impl CubicAvoidance {
    /// Reno's estimate after `acked` bytes: α packets for each window that is acknowledged. α = 3 (1 − β) / (1 + β)
    /// makes the average window that of Reno in spite of the lesser reduction; back at the window of the last
    /// congestion it is 1, as Reno's (RFC 9438, "Reno-Friendly Region").
    fn grow_reno_estimate(epoch: &mut Epoch, beta: Ratio, cwnd_prior: Bytes, growth: &Growth) {
        let (n, d) = (u64::from(beta.numerator()), u64::from(beta.denominator()));
        let denominator = d + n;
        let numerator = if epoch.w_est < cwnd_prior {
            3 * d.saturating_sub(n)
        } else {
            denominator
        };
        let threshold = growth.cwnd.get().saturating_mul(denominator);
        epoch.credit = epoch
            .credit
            .saturating_add(growth.acked.get().saturating_mul(numerator));
        if epoch.credit >= threshold {
            epoch.credit -= threshold;
            epoch.w_est += growth.mss;
        }
    }

    /// The window's way towards the curve: as fast as to be there in one round trip, and by no more than half (RFC 9438,
    /// "Window Increase Function" and "Concave Region").
    fn approach(epoch: &mut Epoch, elapsed: Duration, growth: &Growth) -> Bytes {
        let cwnd = growth.cwnd;
        let ceiling = cwnd + Bytes::new(cwnd.get() / 2);
        let target = epoch.curve.window(elapsed + growth.srtt).min(ceiling);
        let product = (target - cwnd)
            .get()
            .saturating_mul(growth.acked.get())
            .saturating_add(epoch.remainder);
        let divisor = cwnd.get().max(1);
        epoch.remainder = product % divisor;
        cwnd + Bytes::new(product / divisor)
    }
}

impl Avoidance for CubicAvoidance {
    const NAME: &'static str = "cubic";

    fn on_congestion(&mut self, cwnd: Bytes, cause: Cause) -> Bytes {
        let beta = match cause {
            Cause::Loss => self.config.beta,
            Cause::Ecn => self.config.ecn_beta,
        };
        let reduced = beta.of_bytes(cwnd);
        self.w_max = if self.config.fast_convergence && cwnd < self.w_max {
            // cwnd × (1 + β) / 2
            Bytes::new((cwnd + reduced).get() / 2)
        } else {
            cwnd
        };
        self.cwnd_prior = cwnd;
        self.epoch = None;
        reduced
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
            curve: Curve::new(growth.cwnd, self.w_max, growth.mss),
            remainder: 0,
            w_est: growth.cwnd,
            credit: 0,
        });
        epoch.updated = growth.now;
        let elapsed = growth.now.since(epoch.start);
        Self::grow_reno_estimate(epoch, self.config.beta, self.cwnd_prior, growth);
        if epoch.curve.window(elapsed) < epoch.w_est {
            growth.cwnd.max(epoch.w_est)
        } else {
            Self::approach(epoch, elapsed, growth)
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
