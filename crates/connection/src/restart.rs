//! Slow start after idle. For each retransmission timeout without data, loss-based controllers halve their window, down to
//! the initial one. Then they grow quickly up to three quarters of their former window (Linux `tcp_cwnd_restart`).

use congestion::Bytes;

/// The growth of the data in flight after idle.
#[derive(Debug, Clone, Copy, Default)]
pub struct Restart {
    /// The most in flight since the last loss.
    peak: Bytes,
    /// Slow start ends here, after idle.
    goal: Option<Bytes>,
    /// The most in flight in the present round, and in the round before, since the idle time.
    present: Bytes,
    before: Bytes,
}

impl Restart {
    /// The flow has been idle for a retransmission timeout.
    pub fn on_idle(&mut self) {
        self.goal = Some(Bytes::new(self.peak.get() / 4 * 3));
        (self.present, self.before) = (Bytes::ZERO, Bytes::ZERO);
    }

    /// A round ends. In slow start, each has at least a quarter more in flight than the one before. A flow that does not grow
    /// like this has not begun again: BBR does not (Linux `tcp_slow_start_after_idle_check`).
    pub fn on_round(&mut self) {
        let is_growing = self.present * 4 >= self.before * 5;
        self.goal = self.goal.filter(|_| is_growing);
        self.before = std::mem::take(&mut self.present);
    }

    /// A loss has set another window.
    pub fn on_loss(&mut self) {
        *self = Restart::default();
    }

    /// New data are sent, and `flight` includes them. Returns whether the flow may still grow after idle.
    #[inline]
    pub fn on_flight(&mut self, flight: Bytes) -> bool {
        self.peak = self.peak.max(flight);
        self.present = self.present.max(flight);
        self.goal = self.goal.filter(|goal| flight < *goal);
        self.goal.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::Restart;
    use congestion::Bytes;

    #[test]
    fn after_idle_a_flow_grows_to_three_quarters_of_what_it_had() {
        let mut restart = Restart::default();
        let mut grows = |flight| restart.on_flight(Bytes::new(flight));
        assert!(!grows(10) && !grows(80));
        restart.on_idle();
        let mut grows = |flight| restart.on_flight(Bytes::new(flight));
        assert!(grows(10) && grows(59));
        // Another object, before the window is as large as before.
        restart.on_idle();
        let mut grows = |flight| restart.on_flight(Bytes::new(flight));
        assert!(grows(10) && !grows(60) && !grows(20));
        // The threshold does not fall with what an object needs.
        restart.on_idle();
        let mut grows = |flight| restart.on_flight(Bytes::new(flight));
        assert!(grows(59) && !grows(60));
        restart.on_idle();
        restart.on_loss();
        assert!(!restart.on_flight(Bytes::new(10)));
    }

    #[test]
    fn a_flow_that_sends_at_once_what_it_had_has_not_begun_again() {
        // A flow was idle, and had this much in flight in each of the next rounds.
        let after_idle = |rounds: [u64; 3]| {
            let mut restart = Restart::default();
            assert!(!restart.on_flight(Bytes::new(90)));
            restart.on_idle();
            rounds.map(|flight| {
                let may_grow = restart.on_flight(Bytes::new(flight));
                restart.on_round();
                may_grow
            })
        };
        assert_eq!(after_idle([10, 20, 40]), [true; 3]);
        // BBR sends a third of what it had in Startup.
        assert_eq!(after_idle([30, 31, 31]), [true, true, false]);
    }
}
