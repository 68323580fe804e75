//! Prague (draft-briscoe-iccrg-prague-congestion-control-04), the controller of L4S (RFC 9330): DCTCP for the internet.
//!
//! An L4S queue marks early and often. Prague averages the share of marks, α, and reduces its window by half of that share:
//!
//! ```text
//!     α ← α + (marked / acknowledged − α) / 16      once in a virtual round trip
//!     cwnd ← cwnd × (1 − α / 2)                     at a mark, at most once in a virtual round trip
//!     cwnd ← cwnd + one packet × (RTT / virtual)²   in a round trip, for what was not marked
//! ```
//!
//! A virtual round trip takes the RTT, or 25 ms if that is longer: so flows with shorter RTTs get no more than one with 25 ms
//! ("Reduced RTT-Dependence"). A loss is answered as by Reno. Packets leave evenly, in bursts of a quarter of a millisecond.
//!
//! Not included: detection of a queue that marks ECT(1) as ECT(0), with which Reno's response would be due; CUBIC's growth,
//! for long RTTs; windows below two packets; a slow transition to independence of the RTT, which is immediate here; the
//! combination of reductions for a loss and marks of one round trip; undo and
//! proportional rate reduction for a loss in a round trip with marks. The L4S team's Linux (`tcp_prague.c`) moreover skips a
//! reduction that would follow a round trip after another, in place of one virtual round trip, and in its later versions starts
//! with α = 0, halves the window once at the first mark, and varies the pacing rate by 3 %.

use units::{Bytes, Duration, Ratio, Time};

use crate::LossWindow;
use crate::controller::{Ack, Cause, Connection, Listed};
use crate::loss_based::{Avoidance, Growth, LossBased, states};
use crate::state::State;

/// The Prague controller. [`crate::loss_based`] describes the parts shared with Reno.
pub type Prague = LossBased<Scalable>;

/// The settings of Prague.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Config {
    /// The shortest virtual round trip. Zero: the RTT itself.
    pub virtual_rtt: Duration,
}

impl Default for Config {
    /// The draft's.
    fn default() -> Config {
        Config {
            virtual_rtt: Duration::from_millis(25),
        }
    }
}

impl Prague {
    /// A controller for a new connection.
    pub fn new(connection: Connection, config: Config) -> Prague {
        let scalable = Scalable {
            config,
            alpha: ONE << GAIN_SHIFT,
            has_mark: false,
            acked: 0,
            marked: 0,
            averaged: connection.now,
            reduced: None,
            growth: 0,
        };
        LossBased::start(connection, scalable, None, LossWindow::default())
    }
}

impl Listed for Prague {
    const NAME: &'static str = <Scalable as Avoidance>::NAME;
    const STATES: &'static [State] = states::ALL;

    type Config = Config;

    fn linux() -> Config {
        Config::default()
    }

    fn with(connection: Connection, config: Config) -> Prague {
        Prague::new(connection, config)
    }
}

/// Shares are counted in units of 2⁻²⁰.
const ONE: u64 = 1 << 20;

/// The gain of the average, 1/16.
const GAIN_SHIFT: u32 = 4;

/// The factor of the window after a loss.
const BETA: Ratio = Ratio::new(1, 2);

/// Additive increase, and a decrease in proportion to the share of marks.
#[derive(Debug, Clone, Copy)]
pub struct Scalable {
    config: Config,
    /// α × 16, so that the average loses nothing by rounding. It starts at 1: the first mark ends slow start and halves the
    /// window.
    alpha: u64,
    /// Whether there was any mark. Until then there may be no L4S queue on the path, and α stays.
    has_mark: bool,
    /// The bytes acknowledged, and those of them marked, since the last average.
    acked: u64,
    marked: u64,
    averaged: Time,
    /// The time of the last reduction for marks.
    reduced: Option<Time>,
    /// The growth below a byte, in units of 2⁻²⁰.
    growth: u64,
}

impl Scalable {
    fn virtual_rtt(&self, srtt: Duration) -> Duration {
        srtt.max(self.config.virtual_rtt)
    }

    /// Averages the share of marks of a virtual round trip.
    fn average(&mut self, now: Time) {
        let share = u128::from(self.marked) * u128::from(ONE) / u128::from(self.acked.max(1));
        let share = share.min(u128::from(ONE)) as u64;
        self.alpha = self.alpha - (self.alpha >> GAIN_SHIFT) + share;
        self.averaged = now;
        (self.acked, self.marked) = (0, 0);
    }
}

impl Avoidance for Scalable {
    const NAME: &'static str = "prague";
    const IS_SCALABLE: bool = true;
    const PACING_GAIN: Ratio = Ratio::ONE;

    fn on_ack(&mut self, ack: &Ack, srtt: Duration) {
        if !ack.ce_marked.is_zero() && !self.has_mark {
            self.has_mark = true;
            self.averaged = ack.now;
            (self.acked, self.marked) = (0, 0);
        }
        self.acked = self.acked.saturating_add(ack.newly_acked.get());
        self.marked = self.marked.saturating_add(ack.ce_marked.get());
        if self.has_mark && ack.now.since(self.averaged) >= self.virtual_rtt(srtt) {
            self.average(ack.now);
        }
    }

    fn on_marks(&mut self, ack: &Ack, cwnd: Bytes, srtt: Duration) -> Option<Bytes> {
        let period = self.virtual_rtt(srtt);
        let is_due = self.reduced.is_none_or(|at| ack.now.since(at) >= period);
        if ack.ce_marked.is_zero() || !is_due {
            return None;
        }
        self.reduced = Some(ack.now);
        let alpha = self.alpha >> GAIN_SHIFT;
        let by = u128::from(cwnd.get()) * u128::from(alpha) / u128::from(2 * ONE);
        Some(cwnd - Bytes::new(by as u64))
    }

    fn on_congestion(&mut self, cwnd: Bytes, _mss: Bytes, _cause: Cause) -> Bytes {
        self.growth = 0;
        BETA.of_bytes(cwnd)
    }

    fn on_timeout(&mut self) {
        self.growth = 0;
    }

    fn grow(&mut self, growth: &Growth) -> Bytes {
        let (rtt, period) = (growth.srtt, self.virtual_rtt(growth.srtt));
        let square = |span: Duration| u128::from(span.as_nanos()) * u128::from(span.as_nanos());
        // The RTT is at most the virtual one. Without a measurement, both count as equal.
        let share = match square(period) >> 20 {
            0 => u128::from(ONE),
            _ if rtt.is_zero() => u128::from(ONE),
            period => (square(rtt) / period).min(u128::from(ONE)),
        };
        let acked = u128::from(growth.acked.min(growth.cwnd).get());
        let product = acked.saturating_mul(u128::from(growth.mss.get()).saturating_mul(share));
        let grown = product / u128::from(growth.cwnd.get().max(1)) + u128::from(self.growth);
        self.growth = (grown % u128::from(ONE)) as u64;
        let whole = u64::try_from(grown / u128::from(ONE)).unwrap_or(u64::MAX);
        growth.cwnd + Bytes::new(whole)
    }

    fn on_app_limited(&mut self, _now: Time) {}

    /// The marks that were counted meanwhile stay counted.
    fn undo(&mut self, saved: Scalable) {
        self.growth = saved.growth;
    }

    fn on_restart(&mut self) {
        self.growth = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ack_clock::{AckClock, CONNECTION, MSS, assert_near};
    use crate::controller::{Controller, Recovery};

    const RTT: Duration = Duration::from_millis(50);

    fn prague(rtt: Duration, config: Config) -> AckClock<Prague> {
        AckClock::new(Prague::new(CONNECTION, config), rtt)
    }

    /// The mean window in packets if the network marks one packet in `period`, in the second half of `rounds`.
    fn window_at(flow: &mut AckClock<Prague>, period: u64, rounds: u64) -> f64 {
        let mut sum = 0;
        let mut count = 0;
        let mut packet = 0;
        for round in 0..rounds {
            for _ in 0..flow.packets() {
                packet += 1;
                flow.is_marked = packet % period == 0;
                flow.ack();
                if round >= rounds / 2 {
                    sum += flow.controller.cwnd().get();
                    count += 1;
                }
            }
        }
        flow.is_marked = false;
        sum as f64 / count as f64 / MSS.get() as f64
    }

    #[test]
    fn the_first_mark_halves_and_ends_slow_start() {
        let mut flow = prague(RTT, Config::default());
        flow.round();
        assert_eq!((flow.packets(), flow.state()), (20, "SlowStart"));
        flow.is_marked = true;
        flow.ack();
        flow.is_marked = false;
        assert_eq!((flow.packets(), flow.state()), (10, "CongestionAvoidance"));
        // The rest of the flight is not reduced for again, and brings growth.
        flow.round();
        assert_near(
            flow.controller.cwnd().get() as f64,
            11.0 * MSS.get() as f64,
            0.01,
        );
    }

    #[test]
    fn the_window_is_inverse_to_the_share_of_marks() {
        // (1 − p) packets more in a round trip, and p/2 of the window less: W is as 1/p, and not as Reno's 1/√p.
        let window = |period| window_at(&mut prague(RTT, Config::default()), period, 2_000);
        assert_near(window(80) / window(40), 2.0, 0.1);
        assert_near(window(160) / window(80), 2.0, 0.1);
    }

    #[test]
    fn a_loss_is_answered_as_by_reno() {
        let mut flow = prague(RTT, Config::default());
        flow.round();
        flow.round();
        flow.lose();
        assert_eq!((flow.packets(), flow.state()), (20, "CongestionAvoidance"));
        flow.recovery(Recovery::Entered(Cause::Ecn));
        assert_eq!(flow.packets(), 20, "marks are counted, and no event");
    }

    #[test]
    fn alpha_follows_marks_while_losses_are_repaired() {
        for ending in [Recovery::Left, Recovery::Undone] {
            let mut flow = prague(RTT, Config::default());
            flow.round();
            flow.is_marked = true;
            flow.ack();
            flow.is_marked = false;
            flow.recovery(Recovery::Entered(Cause::Loss));
            for _ in 0..40 {
                flow.round();
            }
            flow.recovery(ending);
            let before = flow.controller.cwnd().get();
            flow.is_marked = true;
            flow.ack();
            // 40 round trips without marks leave (15/16)^40 of an α of one, with a mark or two in it: 4 % less, and not 50 %.
            let share = flow.controller.cwnd().get() as f64 / before as f64;
            assert!((0.92..0.99).contains(&share), "{share}");
        }
    }

    #[test]
    fn below_the_virtual_round_trip_growth_does_not_depend_on_the_rtt() {
        let grown = |millis| {
            let mut flow = prague(Duration::from_millis(millis), Config::default());
            flow.lose();
            flow.lose();
            let before = flow.controller.cwnd().get();
            flow.run(Duration::from_secs(10));
            // The rate, in packets a second.
            (flow.controller.cwnd().get() - before) as f64 * 1_000.0
                / millis as f64
                / MSS.get() as f64
        };
        // A packet more in each 25 ms, at an RTT of 25 ms: 40 packets a second more in each.
        for millis in [5, 12, 25] {
            assert_near(grown(millis), 400.0 * 40.0, 0.02);
        }
        assert_near(grown(50), 200.0 * 20.0, 0.02);
    }
}
