//! ProbeBW: the steady state. Cycles through gains that average to one: sends faster for about a round trip to see
//! whether there is more bandwidth, then slower to remove the queue if there was not, then at the estimated rate.

use rand_xoshiro::rand_core::Rng;
use units::{Duration, Ratio, Time};

use super::{Bbr1, Config, State};
use crate::controller::Ack;
use crate::pacing::BURST_TIME;

/// The index of the phase that sends faster.
const UP: u8 = 0;

/// The index of the phase that sends slower. No cycle starts with it, since there is no queue to remove yet (paper,
/// "Steady-state Behavior").
const DOWN: u8 = 1;

/// A position in the gain cycle.
#[derive(Debug, Clone)]
pub struct ProbeBw {
    phase: u8,
    phase_start: Time,
}

impl ProbeBw {
    pub fn pacing_gain(&self, config: &Config) -> Ratio {
        match self.phase {
            UP => config.peak_gain,
            DOWN => config.trough_gain,
            _ => Ratio::ONE,
        }
    }

    /// Whether this is the phase that sends faster.
    pub fn is_up(&self) -> bool {
        self.phase == UP
    }

    fn advance(&mut self, now: Time, config: &Config) {
        self.phase = (self.phase + 1) % config.cycle_phases.max(2);
        self.phase_start = now;
    }
}

impl Bbr1 {
    /// Starts the cycle at a random phase other than [`DOWN`], so that flows that enter together do not probe together;
    /// at [`UP`] if the phase is not random.
    pub(super) fn enter_probe_bw(&mut self, now: Time) {
        let choices = if self.config.is_first_phase_random {
            u64::from(self.config.cycle_phases.max(2)) - 1
        } else {
            1
        };
        let choice = ((u64::from(self.rng.next_u32()) * choices) >> 32) as u8;
        self.state = State::ProbeBw(ProbeBw {
            phase: if choice < DOWN { choice } else { choice + 1 },
            phase_start: now,
        });
    }

    pub(super) fn is_in_probe_bw(&self) -> bool {
        matches!(self.state, State::ProbeBw(_))
    }

    /// Advances to the next phase if this one is done.
    pub(super) fn check_cycle_phase(&mut self, ack: &Ack) {
        let State::ProbeBw(cycle) = &self.state else {
            return;
        };
        let rtprop = self.rtprop.get().unwrap_or(Duration::MAX);
        let length = if self.config.is_phase_a_burst {
            rtprop.max(BURST_TIME)
        } else {
            rtprop
        };
        let is_full_length = ack.now.since(cycle.phase_start) > length;
        if self.is_phase_done(is_full_length, ack)
            && let State::ProbeBw(cycle) = &mut self.state
        {
            cycle.advance(ack.now, &self.config);
        }
    }

    /// Whether the phase is done. Each lasts one RTprop, with two exceptions (Linux `bbr_is_next_cycle_phase`).
    fn is_phase_done(&self, is_full_length: bool, ack: &Ack) -> bool {
        let gain = self.pacing_gain();
        let in_network = || self.in_network(ack, ack.prior_inflight);
        if gain > Ratio::ONE {
            // On a short path a round trip may end before the extra data is in flight, so the phase waits for that. It
            // does not wait if packets are lost, as a shallow buffer may never hold the extra data.
            return is_full_length
                && (!self.lost_by(ack).is_zero() || in_network() >= self.inflight_at(gain));
        }
        if gain < Ratio::ONE {
            // Once the queue is gone, sending slowly would leave the pipe partly empty.
            return is_full_length || in_network() <= self.inflight_at(Ratio::ONE);
        }
        is_full_length
    }
}

#[cfg(test)]
mod tests {
    use units::{Bytes, Rate};

    use super::super::Losses;
    use super::*;
    use crate::controller::{Connection, RttSample};
    use crate::sampling::RateSample;

    const MSS: Bytes = Bytes::new(1_500);
    const RTPROP: Duration = Duration::from_millis(40);
    const PHASES: u8 = Config::linux().cycle_phases;

    fn bbr1(seed: u64, config: Config) -> Bbr1 {
        let mut connection = Connection::new(Time::ZERO, MSS, MSS * 10);
        connection.seed = seed;
        Bbr1::new(connection, config)
    }

    fn ack(at: Duration, prior_inflight: u64, rtt: Option<RttSample>) -> Ack {
        let now = Time::ZERO + at;
        let mut ack = Ack::new(
            now,
            MSS,
            MSS * prior_inflight,
            MSS * prior_inflight - MSS,
            RateSample::default(),
        );
        ack.rtt = rtt;
        ack.is_cwnd_limited = true;
        ack
    }

    /// Whether a phase that began at time zero ends with an ACK after `ms`, before which `prior_inflight` packets were
    /// in flight. The BDP is 100 packets, and bursts have two.
    fn ends(phase: u8, ms: u64, prior_inflight: u64, newly_lost: Bytes) -> bool {
        ends_of(Config::default(), phase, ms, prior_inflight, newly_lost)
    }

    fn ends_of(config: Config, phase: u8, ms: u64, prior_inflight: u64, newly_lost: Bytes) -> bool {
        let mut bbr1 = bbr1(0, config);
        let rtt = Some(RttSample {
            rtt: RTPROP,
            is_ack_delayed: false,
        });
        bbr1.rtprop.update(Time::ZERO, rtt);
        bbr1.btl_bw
            .update(1, Rate::from_transfer(MSS * 100, RTPROP), false);
        let bw = bbr1.bw();
        bbr1.control.pacing.set_bw(bw, Ratio::ONE, MSS);
        assert_eq!(bbr1.control.pacing.quantum(), MSS * 2);
        bbr1.state = State::ProbeBw(ProbeBw {
            phase,
            phase_start: Time::ZERO,
        });
        let ack = ack(Duration::from_millis(ms), prior_inflight, rtt);
        bbr1.latest_losses = Losses {
            at: ack.now,
            bytes: newly_lost,
        };
        bbr1.check_cycle_phase(&ack);
        !matches!(&bbr1.state, State::ProbeBw(cycle) if cycle.phase == phase)
    }

    #[test]
    fn the_faster_phase_lasts_until_the_pipe_holds_a_quarter_more() {
        assert!(!ends(UP, 41, 122, Bytes::ZERO));
        assert!(ends(UP, 41, 123, Bytes::ZERO));
        assert!(!ends(UP, 40, 200, MSS), "less than a round trip");
        assert!(ends(UP, 41, 50, MSS), "it may never hold that much");
    }

    #[test]
    fn the_next_burst_counts_only_with_the_departure_model() {
        for (config, enough) in [(Config::linux(), 132), (Config::linux_4_19(), 134)] {
            assert!(!ends_of(config, UP, 41, enough - 1, Bytes::ZERO));
            assert!(ends_of(config, UP, 41, enough, Bytes::ZERO));
        }
    }

    #[test]
    fn the_slower_phase_lasts_until_the_queue_is_gone() {
        assert!(!ends(DOWN, 20, 101, Bytes::ZERO));
        assert!(ends(DOWN, 20, 100, Bytes::ZERO));
        assert!(
            ends(DOWN, 41, 200, Bytes::ZERO),
            "no longer than a round trip"
        );
    }

    #[test]
    fn the_other_phases_last_one_rtprop() {
        for phase in 2..PHASES {
            assert!(!ends(phase, 40, 1, MSS));
            assert!(ends(phase, 41, 200, Bytes::ZERO));
        }
    }

    #[test]
    fn a_phase_is_a_burst_where_its_end_has_no_room_for_bursts() {
        let cases = [
            (Config::linux(), 4),
            (Config::linux_4_19(), 4),
            (Config::paper(), 4),
            (Config::linux().off_host(), 3),
        ];
        for (config, phase) in cases {
            let mut bbr1 = bbr1(0, config);
            let rtt = Some(RttSample {
                rtt: Duration::from_micros(500),
                is_ack_delayed: false,
            });
            bbr1.rtprop.update(Time::ZERO, rtt);
            bbr1.state = State::ProbeBw(ProbeBw {
                phase: 3,
                phase_start: Time::ZERO,
            });
            bbr1.check_cycle_phase(&ack(Duration::from_micros(600), 1, rtt));
            assert!(matches!(&bbr1.state, State::ProbeBw(cycle) if cycle.phase == phase));
        }
    }

    #[test]
    fn a_cycle_starts_anywhere_but_with_the_slower_phase() {
        let mut starts = [0; PHASES as usize];
        for seed in 0..700 {
            let mut bbr1 = bbr1(seed, Config::default());
            bbr1.enter_probe_bw(Time::ZERO);
            let State::ProbeBw(cycle) = &bbr1.state else {
                panic!("just entered");
            };
            starts[usize::from(cycle.phase)] += 1;
        }
        assert_eq!(starts[usize::from(DOWN)], 0);
        let others = starts.iter().filter(|count| **count > 50).count();
        assert_eq!(others, usize::from(PHASES) - 1, "{starts:?}");
    }

    #[test]
    fn a_cycle_whose_start_is_not_random_starts_with_the_faster_phase() {
        let config = Config {
            is_first_phase_random: false,
            ..Config::default()
        };
        for seed in 0..50 {
            let mut bbr1 = bbr1(seed, config);
            bbr1.enter_probe_bw(Time::ZERO);
            assert!(matches!(&bbr1.state, State::ProbeBw(cycle) if cycle.is_up()));
        }
    }
}
