//! The growth of the window in Linux (`bictcp_update`, `tcp_cong_avoid_ai`).
//!
//! Linux predates RFC 9438 and follows its predecessor, RFC 8312. This shows where losses or a short round trip keep
//! the window small: with a random loss of 1 % it delivers a tenth less at 10 Mbit/s × 40 ms and a fifth less at 100
//! Mbit/s × 5 ms. Kernel 6.18 was measured to do the same.
//!
//! - The estimate of Reno's window never grows at Reno's own pace, not even when it is back at the window of the last
//!   congestion.
//! - While the window does not change, the curve and the estimate are evaluated at most 32 times a second: at 5 ms,
//!   every sixth round trip.
//! - The window is counted in whole packets. Its growth is a pace, the number of packets to acknowledge for one more.
//!   Progress towards the next packet is lost in a reduction.
//! - The limit of half a window per round remains. Before the first congestion there is a least pace: a twentieth.

use units::{Bytes, Duration, Ratio};

use super::curve::Curve;
use crate::loss_based::Growth;

/// Linux's clock tick in ns (`HZ` = 250, its default). Within one the curve is evaluated once.
const TICK_NS: u64 = 4_000_000;
/// The ticks for which an unchanged window keeps its pace (`HZ / 32`).
const MAX_REST_TICKS: u64 = 250 / 32;
/// The windows to acknowledge for one packet of growth when the window is above the curve.
const WINDOWS_ABOVE: u64 = 100;
/// The most packets to acknowledge for one of growth, before the first congestion.
const MAX_INITIAL_PACE_PACKETS: u64 = 20;
/// The fewest packets to acknowledge for one of growth.
const MIN_PACE_PACKETS: u64 = 2;
/// The eighths of a window to acknowledge for one packet of growth in Reno's estimate (`beta_scale`): 1/α, which is (1
/// + β) / 3 (1 − β), and with a β of 7/10 15/8.
const fn reno_eighths(beta: Ratio) -> u64 {
    let (n, d) = (beta.numerator() as u64, beta.denominator() as u64);
    match (8 * (d + n)).checked_div(3 * d.saturating_sub(n)) {
        Some(eighths) => eighths,
        None => u64::MAX,
    }
}

/// The growth of the window in a stage of congestion avoidance.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    seen: Option<Seen>,
    /// The packets to acknowledge for the window to grow by one (`cnt`).
    packets: u64,
    /// The bytes acknowledged since the window last grew (`snd_cwnd_cnt`).
    credit: Bytes,
    /// The estimate of Reno's window, in packets (`tcp_cwnd`).
    w_est: u64,
    /// The eighths of a window to acknowledge for one packet of growth of the estimate.
    reno_eighths: u64,
    /// The bytes acknowledged since the estimate last grew (`ack_cnt`).
    reno_credit: Bytes,
}

/// The time and window of the last evaluation of the curve (`last_time`, `last_cwnd`).
#[derive(Debug, Clone, Copy)]
struct Seen {
    tick: u64,
    cwnd: Bytes,
}

impl Pace {
    pub fn new(beta: Ratio, growth: &Growth) -> Pace {
        Pace {
            seen: None,
            packets: MIN_PACE_PACKETS,
            credit: Bytes::ZERO,
            w_est: packets(growth.cwnd, growth.mss),
            reno_eighths: reno_eighths(beta),
            reno_credit: Bytes::ZERO,
        }
    }

    /// The window `elapsed` after the stage began. `has_met` says whether there was congestion before.
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
        // At a former, slower pace more credit than for one packet may have accumulated. It still makes one packet.
        if self.credit >= price {
            self.credit = Bytes::ZERO;
            gained = 1;
        }
        self.credit += growth.acked;
        let bought = packets(self.credit, price);
        self.credit -= price * bought;
        growth.cwnd + growth.mss * (gained + bought)
    }

    /// Updates the pace, unless it is recent enough (`bictcp_update`).
    fn look(&mut self, curve: &Curve, elapsed: Duration, has_met: bool, growth: &Growth) {
        let cwnd = packets(growth.cwnd, growth.mss);
        let tick = growth.now.as_nanos() / TICK_NS;
        let age = self.seen.map(|seen| tick.saturating_sub(seen.tick));
        let stands = self.seen.is_some_and(|seen| seen.cwnd == growth.cwnd);
        if stands && age.is_some_and(|age| age <= MAX_REST_TICKS) {
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
                self.packets = self.packets.min(MAX_INITIAL_PACE_PACKETS);
            }
        }
        self.keep_up_with_reno(cwnd, growth.mss);
        self.packets = self.packets.max(MIN_PACE_PACKETS);
    }

    /// If Reno's window is larger, sets the pace that reaches it in a round.
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
        // The curve stays below, since it takes 2.5 s to return to 20 packets.
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
        // At first the curve is less than a packet below the next packet.
        while flow.packets() == 14 {
            flow.ack();
        }
        let start = flow.now;
        while flow.packets() == 15 {
            flow.ack();
        }
        let millis = flow.now.since(start).as_millis_f64();
        assert!((28.0..36.0).contains(&millis), "{millis}");
        // Reno would have gained 8/15 packets in each of these round trips, which are made up within two.
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
