//! RACK's wait for an overtaken packet (RFC 8985, "Reordering Window Adaptation"), and its starting point.
//!
//! RFC 8985 begins with a quarter of the minimum round-trip time, and adds another quarter for each round trip in
//! which a D-SACK shows that this was too short. Reordering by half a round trip therefore costs several recoveries.
//! The RFC also counts from the round-trip time of the newest delivered packet. While a queue drains, that is shorter
//! than those of the packets sent before it, so these seem to be late.
//!
//! So this file also measures two things. One is the lateness of overtaken packets that did arrive: a single one
//! suffices to know how long to wait. The other is the longest recent round-trip time, which is at least that of the
//! packets next to an overtaken one. The RFC's bounds stay: both are ignored until reordering is seen, the window is
//! at most the smoothed round-trip time, and after 16 recoveries without a new reason it returns to its initial
//! value. The price is also the RFC's: on a path that reorders, losses are detected later by that much.

use congestion::filter::WindowedMax;
use congestion::{Duration, Time};

use super::rtt::Rtt;

/// The recoveries for which a widened window lasts without a new reason (RFC 8985, `RACK.reo_wnd_persist`).
const PERSIST_RECOVERIES: u8 = 16;

#[derive(Debug, Clone)]
pub struct Reordering {
    /// The window in quarters of the minimum round-trip time (`RACK.reo_wnd_mult`), at most 255 (Linux
    /// `tcp_rack_update_reo_wnd`).
    steps: u8,
    persistence: u8,
    /// The end of the data sent at the latest D-SACK that widened the window (`RACK.dsack_round`).
    widened_at: Option<u64>,
    /// The greatest lateness of a packet if it exceeds the first step; else zero.
    lateness: Duration,
    /// The longest round-trip time of the packets that arrived within the last two round trips.
    longest_rtt: WindowedMax<Duration, Time>,
}

impl Reordering {
    pub fn new() -> Reordering {
        Reordering {
            steps: 1,
            persistence: 0,
            widened_at: None,
            lateness: Duration::ZERO,
            longest_rtt: WindowedMax::new(Duration::ZERO),
        }
    }

    /// Notes a packet that arrived before all packets sent after it, with the RTT `sample`.
    pub fn on_in_order(&mut self, now: Time, sample: Duration, rtt: &Rtt) {
        // The filter is exact for half of its window, or longer.
        self.longest_rtt.set_window(rtt.min() * 2);
        self.longest_rtt.update(now, sample);
    }

    /// Notes the arrival of an overtaken packet, with the RTT `sample` instead of `expected`.
    pub fn on_late(&mut self, sample: Duration, expected: Duration, rtt: &Rtt) {
        let lateness = sample.saturating_sub(expected);
        if lateness > step(rtt) {
            self.lateness = self.lateness.max(lateness);
            self.persistence = PERSIST_RECOVERIES;
        }
    }

    /// Widens the window after a D-SACK for an unnecessary retransmission, by one step a round trip (step 4, "Update
    /// RACK reordering window"). `una` and `next` are the ends of the acknowledged and the sent data.
    pub fn on_duplicate(&mut self, una: u64, next: u64) {
        if self.widened_at.is_some_and(|sent| una < sent) {
            return;
        }
        self.widened_at = Some(next);
        self.steps = self.steps.saturating_add(1);
        self.persistence = PERSIST_RECOVERIES;
    }

    /// Notes the end of a recovery.
    pub fn on_recovery_end(&mut self) {
        self.persistence = self.persistence.saturating_sub(1);
        if self.persistence == 0 {
            self.steps = 1;
            self.lateness = Duration::ZERO;
        }
    }

    /// The wait for an overtaken packet (`RACK_update_reo_wnd`): the RFC's steps, or the measured lateness and a step
    /// for its variation.
    pub fn window(&self, rtt: &Rtt) -> Duration {
        let steps = step(rtt) * u64::from(self.steps);
        let measured = if self.lateness.is_zero() {
            Duration::ZERO
        } else {
            self.lateness + step(rtt)
        };
        steps.max(measured).min(rtt.smoothed().unwrap_or_default())
    }

    /// The round-trip time that an overtaken packet would have had in order; zero before the first measurement.
    pub fn longest_rtt(&self) -> Duration {
        self.longest_rtt.get().unwrap_or_default()
    }
}

/// The step by which the window grows.
fn step(rtt: &Rtt) -> Duration {
    rtt.min() / 4
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    fn at(ms: u64) -> Time {
        Time::ZERO + Duration::from_millis(ms)
    }

    /// A path of 40 ms on which every packet has arrived in order.
    fn steady() -> (Reordering, Rtt) {
        let mut rtt = Rtt::default();
        let mut reordering = Reordering::new();
        for now in 0..40 {
            rtt.update(at(now), ms(40), ms(40));
            reordering.on_in_order(at(now), ms(40), &rtt);
        }
        (reordering, rtt)
    }

    #[test]
    fn widens_by_a_step_for_each_round_trip_with_duplicates() {
        let (mut reordering, rtt) = steady();
        assert_eq!(reordering.window(&rtt), ms(10));
        reordering.on_duplicate(0, 100);
        reordering.on_duplicate(99, 200);
        assert_eq!(reordering.window(&rtt), ms(20));
        for next in 2..10 {
            reordering.on_duplicate(next * 100, (next + 1) * 100);
        }
        assert_eq!(reordering.window(&rtt), ms(40), "the round trip at most");
    }

    #[test]
    fn one_late_packet_tells_how_long_to_wait() {
        let (mut reordering, rtt) = steady();
        reordering.on_late(ms(50), ms(40), &rtt);
        assert_eq!(reordering.window(&rtt), ms(10), "within the first step");
        reordering.on_late(ms(60), ms(40), &rtt);
        reordering.on_late(ms(55), ms(40), &rtt);
        assert_eq!(reordering.window(&rtt), ms(30));
        reordering.on_late(ms(120), ms(40), &rtt);
        assert_eq!(reordering.window(&rtt), ms(40), "the round trip at most");
    }

    #[test]
    fn a_queue_that_drains_makes_nothing_late() {
        let (mut reordering, rtt) = steady();
        for now in 40..60 {
            reordering.on_in_order(at(now), ms(100 - now), &rtt);
        }
        // The first of them was overtaken then, and takes 8 ms longer.
        assert_eq!(reordering.longest_rtt(), ms(60));
        reordering.on_late(ms(68), reordering.longest_rtt(), &rtt);
        assert_eq!(reordering.window(&rtt), ms(10));
        for now in 60..200 {
            reordering.on_in_order(at(now), ms(40), &rtt);
        }
        assert_eq!(reordering.longest_rtt(), ms(40), "that was long ago");
    }

    #[test]
    fn forgets_after_sixteen_recoveries() {
        let (mut reordering, rtt) = steady();
        reordering.on_late(ms(60), ms(40), &rtt);
        reordering.on_duplicate(0, 100);
        for _ in 0..PERSIST_RECOVERIES {
            assert_eq!(reordering.window(&rtt), ms(30));
            reordering.on_recovery_end();
        }
        assert_eq!(reordering.window(&rtt), ms(10));
    }
}
