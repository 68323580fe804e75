//! The timing of probes for bandwidth, on two time scales for coexistence with Reno and CUBIC (BBR draft, "Time Scale
//! for Bandwidth Probing").
//!
//! A probe risks losses. Reno needs as many rounds without losses as its window has packets. On paths on which Reno
//! works well today this is not many, and BBR waits as long. On others it waits two to three seconds.

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use units::{Bytes, Duration, Time};

use super::Bbr3;

/// The least wait, in time: a Reno flow of 25 Mbit/s and 30 ms needs 1.9 s between losses ("Design Considerations for Choosing
/// Constant Parameters").
const MIN_WAIT: Duration = Duration::from_secs(2);
/// The range of the random addition to the wait.
const MAX_RANDOM_WAIT: Duration = Duration::from_secs(1);
/// The longest wait, in rounds: few enough to bear a loss of 1 % in each of them.
const MAX_ROUNDS: u64 = 63;

/// The clock of probes.
#[derive(Debug, Clone)]
pub struct ProbeTiming {
    rng: SplitMix64,
    /// The start of this cycle (`BBR.cycle_stamp`).
    cycle_start: Time,
    /// The longest wait (`BBR.bw_probe_wait`).
    wait: Duration,
    /// Rounds since the latest probe (`BBR.rounds_since_probe_up`).
    rounds: u64,
}

impl ProbeTiming {
    pub fn new(now: Time, seed: u64) -> ProbeTiming {
        ProbeTiming {
            rng: SplitMix64::seed_from_u64(seed),
            cycle_start: now,
            wait: Duration::ZERO,
            rounds: 0,
        }
    }

    /// `PickProbeWait`. Starts a cycle.
    pub fn pick_wait(&mut self, now: Time) {
        self.rounds = u64::from(self.rng.next_u32() & 1);
        let part = u64::from(self.rng.next_u32());
        let random = (MAX_RANDOM_WAIT.as_nanos().saturating_mul(part)) >> 32;
        self.wait = MIN_WAIT + Duration::from_nanos(random);
        self.cycle_start = now;
    }

    pub fn on_round(&mut self) {
        self.rounds = self.rounds.saturating_add(1);
    }

    /// `HasElapsedInPhase` or `IsRenoCoexistenceProbeTime`, with a target of `packets`.
    fn is_due(&self, now: Time, packets: u64) -> bool {
        now > self.cycle_start + self.wait || self.rounds >= packets.min(MAX_ROUNDS)
    }
}

impl Bbr3 {
    /// The condition of `IsTimeToProbeBW`. With a BDP of less than a packet there are no rounds to wait for.
    pub(super) fn is_time_to_probe(&self, now: Time) -> bool {
        let packets = self.target_inflight().get() / self.control.mss.get();
        self.probe_timing.is_due(now, packets)
    }

    /// `TargetInflight`: the estimated BDP, unless congestion has cut the window.
    pub(super) fn target_inflight(&self) -> Bytes {
        self.bdp(self.bw, units::Ratio::ONE).min(self.control.cwnd)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Duration::from_millis(ms)
    }

    #[test]
    fn two_to_three_seconds_whatever_the_seed() {
        let (mut least, mut most) = (Duration::MAX, Duration::ZERO);
        for seed in 0..1_000 {
            let mut timing = ProbeTiming::new(at(0), seed);
            timing.pick_wait(at(0));
            least = least.min(timing.wait);
            most = most.max(timing.wait);
            assert!(!timing.is_due(at(2_000), 1_000));
            assert!(timing.is_due(at(3_001), 1_000));
        }
        assert!(least < Duration::from_millis(2_020), "{least}");
        assert!(most > Duration::from_millis(2_980), "{most}");
        assert!(most < Duration::from_secs(3));
    }

    #[test]
    fn as_many_rounds_as_the_target_has_packets_but_at_most_63() {
        for (packets, rounds) in [(10, 10), (62, 62), (63, 63), (1_000, 63)] {
            let mut starts = [false; 2];
            for seed in 0..20 {
                let mut timing = ProbeTiming::new(at(0), seed);
                timing.pick_wait(at(0));
                let first = timing.rounds;
                starts[first as usize] = true;
                (first..rounds).for_each(|_| {
                    assert!(!timing.is_due(at(1), packets));
                    timing.on_round();
                });
                assert!(timing.is_due(at(1), packets));
            }
            assert_eq!(starts, [true; 2], "chance takes a round off or not");
        }
    }
}
