//! How long RACK waits for a packet that was overtaken (RFC 8985, "Reordering Window Adaptation"), and from when on.
//!
//! RFC 8985 begins with a quarter of the least round-trip time, and adds another for each round trip in which a D-SACK shows
//! that this was too little: reordering by half a round trip costs several recoveries. And it counts from the round-trip
//! time of the newest packet that has arrived; while a queue drains, that is shorter than the one which the packets sent
//! before it had, and these seem to be late.
//!
//! So both are measured, in addition: how late overtaken packets did arrive, and one is enough to know how long to wait; and
//! the longest recent round-trip time, which is at least that of the packets which came next to an overtaken one. The RFC's
//! bounds stay: until reordering is seen nothing of this counts, the window is at most the smoothed round-trip time, and
//! after 16 recoveries without a reason for more it is what it was at first. The price is also the RFC's: where packets are
//! reordered, a loss is found as much later.

use congestion::filter::WindowedMax;
use congestion::{Duration, Time};

use super::rtt::Rtt;

/// Recoveries for which a widened window stays without another reason (RFC 8985, `RACK.reo_wnd_persist`).
const PERSISTENCE: u8 = 16;

#[derive(Debug, Clone)]
pub struct Reordering {
    /// The window in quarters of the least round-trip time (`RACK.reo_wnd_mult`), at most 255 (Linux
    /// `tcp_rack_update_reo_wnd`).
    steps: u8,
    persistence: u8,
    /// What had been sent at the latest D-SACK that widened the window (`RACK.dsack_round`).
    widened_at: Option<u64>,
    /// The most that a packet was late, where that was more than the first step; else zero.
    lateness: Duration,
    /// Of the packets that arrived within the last two round trips.
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

    /// A packet has arrived before all that was sent after it, in `sample`.
    pub fn on_in_order(&mut self, now: Time, sample: Duration, rtt: &Rtt) {
        // Of half its window the filter's answer is exact or more, whatever has left it.
        self.longest_rtt.set_window(rtt.min() * 2);
        self.longest_rtt.update(now, sample);
    }

    /// A packet that was overtaken has arrived after all, in `sample` instead of `expected`.
    pub fn on_late(&mut self, sample: Duration, expected: Duration, rtt: &Rtt) {
        let lateness = sample.saturating_sub(expected);
        if lateness > step(rtt) {
            self.lateness = self.lateness.max(lateness);
            self.persistence = PERSISTENCE;
        }
    }

    /// A D-SACK tells that a packet was repeated in vain: more patience is needed, by one step a round trip (step 4,
    /// "Update RACK reordering window"). `una` and `next` are what is acknowledged and sent.
    pub fn on_duplicate(&mut self, una: u64, next: u64) {
        if self.widened_at.is_some_and(|sent| una < sent) {
            return;
        }
        self.widened_at = Some(next);
        self.steps = self.steps.saturating_add(1);
        self.persistence = PERSISTENCE;
    }

    /// A recovery has ended.
    pub fn on_recovery_end(&mut self) {
        self.persistence = self.persistence.saturating_sub(1);
        if self.persistence == 0 {
            self.steps = 1;
            self.lateness = Duration::ZERO;
        }
    }

    /// How long to wait for a packet that was overtaken (`RACK_update_reo_wnd`): the RFC's steps, or as long as it took
    /// before and a step for the variation of that.
    pub fn window(&self, rtt: &Rtt) -> Duration {
        let steps = step(rtt) * u64::from(self.steps);
        let measured = if self.lateness.is_zero() {
            Duration::ZERO
        } else {
            self.lateness + step(rtt)
        };
        steps.max(measured).min(rtt.smoothed().unwrap_or_default())
    }

    /// The round-trip time that an overtaken packet would have had in its place; zero before the first measurement.
    pub fn longest_rtt(&self) -> Duration {
        self.longest_rtt.get().unwrap_or_default()
    }
}

/// What the window grows by.
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
        // The first of them was overtaken then, and takes 8 ms more.
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
        for _ in 0..PERSISTENCE {
            assert_eq!(reordering.window(&rtt), ms(30));
            reordering.on_recovery_end();
        }
        assert_eq!(reordering.window(&rtt), ms(10));
    }
}
