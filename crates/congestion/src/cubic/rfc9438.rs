//! The growth of the window in RFC 9438: towards the curve, or as Reno's would if that is faster.

use units::{Bytes, Duration, Ratio};

use super::curve::Curve;
use crate::loss_based::Growth;

/// The growth of the window in a stage of congestion avoidance.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    /// The remainder of the window's growth below a whole byte, in bytes times bytes.
    remainder: u64,
    /// The estimate of Reno's window (RFC 9438, "Reno-Friendly Region").
    w_est: Bytes,
    /// The bytes acknowledged since `w_est` last grew, times α's numerator.
    credit: u64,
}

impl Pace {
    pub fn new(growth: &Growth) -> Pace {
        Pace {
            remainder: 0,
            w_est: growth.cwnd,
            credit: 0,
        }
    }

    /// The window `elapsed` after the stage began, which reduced it by `beta` from `cwnd_prior`.
    pub fn grow(
        &mut self,
        curve: &Curve,
        elapsed: Duration,
        beta: Ratio,
        cwnd_prior: Bytes,
        growth: &Growth,
    ) -> Bytes {
        self.grow_reno_estimate(beta, cwnd_prior, growth);
        if curve.window(elapsed) < self.w_est {
            growth.cwnd.max(self.w_est)
        } else {
            self.approach(curve, elapsed, growth)
        }
    }

    /// Grows Reno's estimate after `acked` bytes: α packets for each acknowledged window. α = 3 (1 − β) / (1 + β) makes
    /// the average window that of Reno in spite of the smaller reduction. Back at the window of the last congestion α
    /// is 1, as Reno's (RFC 9438, "Reno-Friendly Region").
    fn grow_reno_estimate(&mut self, beta: Ratio, cwnd_prior: Bytes, growth: &Growth) {
        let (n, d) = (u64::from(beta.numerator()), u64::from(beta.denominator()));
        let denominator = d + n;
        let numerator = if self.w_est < cwnd_prior {
            3 * d.saturating_sub(n)
        } else {
            denominator
        };
        let threshold = growth.cwnd.get().saturating_mul(denominator);
        self.credit = self
            .credit
            .saturating_add(growth.acked.get().saturating_mul(numerator));
        if self.credit >= threshold {
            self.credit -= threshold;
            self.w_est += growth.mss;
        }
    }

    /// Moves the window towards the curve, at a pace that gets there in one round trip, and by at most half (RFC 9438,
    /// "Window Increase Function" and "Concave Region").
    fn approach(&mut self, curve: &Curve, elapsed: Duration, growth: &Growth) -> Bytes {
        let cwnd = growth.cwnd;
        let ceiling = cwnd + Bytes::new(cwnd.get() / 2);
        let target = curve.window(elapsed + growth.srtt).min(ceiling);
        let product = (target - cwnd)
            .get()
            .saturating_mul(growth.acked.get())
            .saturating_add(self.remainder);
        let divisor = cwnd.get().max(1);
        self.remainder = product % divisor;
        cwnd + Bytes::new(product / divisor)
    }
}
