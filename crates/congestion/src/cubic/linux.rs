//! How fast Linux lets the window grow (`bictcp_update`, `tcp_cong_avoid_ai`).
//!
//! Linux is older than RFC 9438 and keeps to its predecessor, RFC 8312. Where losses or a short round trip keep the window
//! small, that shows: with a random loss of 1 % it delivers a tenth less at 10 Mbit/s × 40 ms and a fifth less at
//! 100 Mbit/s × 5 ms. The kernel 6.18 was seen to do the same.
//!
//! - The estimate of Reno's window never grows at Reno's own pace, not even back at the window of the last congestion.
//! - As long as the window stands still, the curve and the estimate are looked at no more than 32 times a second: at 5 ms,
//!   every sixth round trip.
//! - The window is counted in whole packets. Its growth is a pace, so many packets to be acknowledged for one more, and
//!   what was on the way to the next packet is lost in a reduction.
//! - What stays is the limit of half a window a round, and, as long as congestion was never met, there is a least pace: a
//!   twentieth.

use units::{Bytes, Duration, Ratio};

use super::curve::Curve;
use crate::loss_based::Growth;

/// Linux's clock tick (`HZ` = 250, its default): within one the curve is not looked at again.
const TICK: u64 = 4_000_000;
/// For so many ticks a window that stands still keeps its pace (`HZ / 32`).
const REST: u64 = 250 / 32;
/// Above the curve the window grows by one packet in so many windows.
const WINDOWS_ABOVE: u64 = 100;
/// The slowest pace before the first congestion.
const SLOWEST_UNKNOWING: u64 = 20;
/// The fastest pace.
const FASTEST: u64 = 2;
/// Reno's estimate grows by a packet in so many eighths of a window (`beta_scale`): 1/α, which is (1 + β) / 3 (1 − β) and
/// with a β of 7/10 15/8.
const fn reno_eighths(beta: Ratio) -> u64 {
    let (n, d) = (beta.numerator() as u64, beta.denominator() as u64);
    match (8 * (d + n)).checked_div(3 * d.saturating_sub(n)) {
        Some(eighths) => eighths,
        None => u64::MAX,
    }
}

/// How fast the window grows in a stage of congestion avoidance.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    seen: Option<Seen>,
    /// So many packets are to be acknowledged for the window to grow by one (`cnt`).
    packets: u64,
    /// What was acknowledged since the window last grew (`snd_cwnd_cnt`).
    credit: Bytes,
    /// The window that Reno would have, in packets (`tcp_cwnd`).
    w_est: u64,
    /// What that grows by a packet in, in eighths of a window.
    reno_eighths: u64,
    /// What was acknowledged since that last grew (`ack_cnt`).
    reno_credit: Bytes,
}

/// When the curve was last looked at, and for which window (`last_time`, `last_cwnd`).
#[derive(Debug, Clone, Copy)]
struct Seen {
    tick: u64,
    cwnd: Bytes,
}

impl Pace {
    pub fn new(beta: Ratio, growth: &Growth) -> Pace {
        Pace {
            seen: None,
            packets: FASTEST,
            credit: Bytes::ZERO,
            w_est: packets(growth.cwnd, growth.mss),
            reno_eighths: reno_eighths(beta),
            reno_credit: Bytes::ZERO,
        }
    }

    /// The window `elapsed` after the stage began. `has_met` if congestion was met before.
    pub fn grow(
        &mut self,
        curve: &Curve,
        elapsed: Duration,
        has_met: bool,
        growth: &Growth,
    ) -> Bytes {
        self.reno_credit += growth.acked;
        self.look(curve, elapsed, has_met, growth);
        let price = growth.mss * self.packets;
        let mut gained = 0;
        // At a former, slower pace more may have come together than one packet is worth: it makes no more than one.
        if self.credit >= price {
            self.credit = Bytes::ZERO;
            gained = 1;
        }
        self.credit += growth.acked;
        let bought = packets(self.credit, price);
        self.credit -= price * bought;
        growth.cwnd + growth.mss * (gained + bought)
    }

    /// Sets the pace, unless it may rest (`bictcp_update`).
    fn look(&mut self, curve: &Curve, elapsed: Duration, has_met: bool, growth: &Growth) {
        let cwnd = packets(growth.cwnd, growth.mss);
        let tick = growth.now.as_nanos() / TICK;
        let age = self.seen.map(|seen| tick.saturating_sub(seen.tick));
        let stands = self.seen.is_some_and(|seen| seen.cwnd == growth.cwnd);
        if stands && age.is_some_and(|age| age <= REST) {
            return;
        }
        if age != Some(0) {
            self.seen = Some(Seen {
                tick,
                cwnd: growth.cwnd,
            });
            let target = curve.packets(elapsed + growth.min_rtt, growth.mss);
            self.packets = match target.saturating_sub(cwnd) {
                0 => cwnd.saturating_mul(WINDOWS_ABOVE),
                missing => cwnd / missing,
            };
            if !has_met {
                self.packets = self.packets.min(SLOWEST_UNKNOWING);
            }
        }
        self.keep_up_with_reno(cwnd, growth.mss);
        self.packets = self.packets.max(FASTEST);
    }

    /// If Reno's window is larger, the pace is one that gets there in a round.
    fn keep_up_with_reno(&mut self, cwnd: u64, mss: Bytes) {
        let price = mss * (cwnd.saturating_mul(self.reno_eighths) / 8).max(1);
        let gained = self.reno_credit.get().saturating_sub(1) / price.get().max(1);
        self.reno_credit -= price * gained;
        self.w_est = self.w_est.saturating_add(gained);
        if let Some(pace) = cwnd.checked_div(self.w_est.saturating_sub(cwnd)) {
            self.packets = self.packets.min(pace);
        }
    }
}

/// The whole packets of `mss` in `bytes`.
fn packets(bytes: Bytes, mss: Bytes) -> u64 {
    bytes.get() / mss.get().max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ack_clock::{AckClock, CONNECTION, MSS};
    use crate::controller::Controller;
    use crate::cubic::{Config, Cubic, Variant};

    /// A flow without HyStart that has just recovered from a loss at a window of 10 · 2ⁿ packets.
    fn recovered(variant: Variant, doublings: u32, rtt: Duration) -> AckClock<Cubic> {
        let config = Config {
            variant,
            hystart: None,
            ..Config::default()
        };
        let mut flow = AckClock::new(Cubic::new(CONNECTION, config), rtt);
        for _ in 0..doublings {
            flow.round();
        }
        flow.lose();
        flow
    }

    #[test]
    fn renos_pace_is_that_of_the_kernel() {
        // tcp_cubic.c: "8*(BICTCP_BETA_SCALE+beta) / 3 / (BICTCP_BETA_SCALE - beta)".
        for (beta, eighths) in [((717, 1024), 15), ((7, 10), 15), ((1, 2), 8), ((9, 10), 50)] {
            assert_eq!(reno_eighths(Ratio::new(beta.0, beta.1)), eighths);
        }
        assert_eq!(reno_eighths(Ratio::ONE), u64::MAX);
    }

    #[test]
    fn back_at_the_last_congestion_it_stays_slower_than_reno() {
        // The curve, which takes 2.5 s to be back at 20 packets, is below all the time.
        let rtt = Duration::from_millis(40);
        for (variant, expected) in [(Variant::Linux, 29..=31), (Variant::Rfc9438, 37..=40)] {
            let mut flow = recovered(variant, 1, rtt);
            assert_eq!(flow.packets(), 14);
            for _ in 0..30 {
                flow.round();
            }
            assert!(expected.contains(&flow.packets()), "{}", flow.packets());
        }
    }

    #[test]
    fn a_window_that_stands_still_keeps_its_pace_for_a_thirty_second() {
        let mut flow = recovered(Variant::Linux, 1, Duration::from_millis(5));
        // At first the curve is less than a packet below the next.
        while flow.packets() == 14 {
            flow.ack();
        }
        let start = flow.now;
        while flow.packets() == 15 {
            flow.ack();
        }
        let millis = flow.now.since(start).as_millis_f64();
        assert!((28.0..36.0).contains(&millis), "{millis}");
        // Reno would have gained 8/15 packets in each of these round trips, which is made up for within two.
        flow.round();
        flow.round();
        assert!((17..=20).contains(&flow.packets()), "{}", flow.packets());
    }

    #[test]
    fn the_window_is_in_whole_packets() {
        let mut flow = recovered(Variant::Linux, 1, Duration::from_millis(40));
        for acks in 0..400 {
            assert_eq!(flow.controller.cwnd().get() % MSS.get(), 0);
            flow.ack();
            if acks % 97 == 0 {
                flow.lose();
            }
        }
    }

    #[test]
    fn before_the_first_congestion_it_grows_by_a_twentieth_a_round() {
        let mut flow = recovered(Variant::Linux, 4, Duration::from_millis(10));
        flow.controller.on_timeout(flow.now, Bytes::ZERO);
        flow.recovery(crate::controller::Recovery::Left);
        while flow.state() == "SlowStart" {
            flow.ack();
        }
        assert_eq!(flow.packets(), 78);
        for _ in 0..10 {
            flow.round();
        }
        let expected = (78.0 * 1.05_f64.powi(10)) as u64;
        assert!(flow.packets().abs_diff(expected) <= 3, "{}", flow.packets());
    }
}
