//! The model of a token-bucket policer: a link that is fast while tokens last, and then drops packets above a much
//! lower rate.
//!
//! The bandwidth filter alone would keep the flow probing above the policed rate, where packets are dropped. Two
//! successive lossy intervals with about the same throughput indicate a policer. BBR then sends at the average of both
//! rates, without gain cycling, for a while. (Paper, "Token-bucket policers"; Linux `bbr_lt_bw_sampling`, whose
//! "long-term bandwidth" is the policed rate here; Flach et al., "An Internet-Wide Analysis of Traffic Policing",
//! SIGCOMM 2016. All constants are Linux's.)

use units::{Bytes, Duration, Rate, Ratio, Time};

/// The fewest rounds in an interval, to even out the moment at which it ends.
const MIN_INTERVAL_ROUNDS: u8 = 4;
/// The most rounds in an interval: losses further apart are not a policer's.
const MAX_INTERVAL_ROUNDS: u8 = 4 * MIN_INTERVAL_ROUNDS;
/// The least ratio of lost to delivered bytes in a lossy interval: about a fifth, far more than a healthy path loses.
const MIN_LOSS_RATIO: Ratio = Ratio::new(50, 256);
/// The largest relative difference between the rates of two intervals that agree …
const MAX_RELATIVE_DIFFERENCE: Ratio = Ratio::new(1, 8);
/// … or the largest absolute one, at rates so low that single packets count: 4 kbit/s.
const MAX_RATE_DIFFERENCE: Rate = Rate::from_bits_per_sec(4_000);
/// The shortest interval that measures a rate.
const MIN_INTERVAL: Duration = Duration::from_millis(1);
/// The rounds for which the policed rate is used, before checking again whether there is a policer.
const POLICED_ROUNDS: u8 = 48;

/// The counters of the connection at one ACK.
#[derive(Debug, Clone, Copy)]
pub struct Observation {
    /// The time of the ACK.
    pub now: Time,
    /// Bytes delivered so far.
    pub delivered: Bytes,
    /// Bytes lost so far.
    pub lost: Bytes,
    /// Whether losses were found since the last one.
    pub has_losses: bool,
    /// Whether the application limits the flow.
    pub is_app_limited: bool,
    /// Whether a round begins.
    pub is_round_start: bool,
    /// ProbeBW is going on.
    pub is_probe_bw: bool,
}

/// The state of the policer's detection.
#[derive(Debug, Clone)]
pub struct Policer {
    phase: Phase,
    /// The start of the interval, or of the use of the policed rate.
    start: Time,
    start_delivered: Bytes,
    start_lost: Bytes,
    rounds: u8,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Before the first loss: a bucket must run empty before its rate can be measured.
    Waiting,
    /// During an interval, with the rate of the preceding lossy interval if there was one.
    Sampling { previous: Option<Rate> },
    /// A policer with this rate was detected.
    Policed(Rate),
}

impl Default for Policer {
    fn default() -> Policer {
        Policer::new()
    }
}

impl Policer {
    /// Starts without any observation.
    pub fn new() -> Policer {
        Policer {
            phase: Phase::Waiting,
            start: Time::ZERO,
            start_delivered: Bytes::ZERO,
            start_lost: Bytes::ZERO,
            rounds: 0,
        }
    }

    /// The policed rate while a policer is assumed.
    pub fn rate(&self) -> Option<Rate> {
        match self.phase {
            Phase::Policed(rate) => Some(rate),
            Phase::Waiting | Phase::Sampling { .. } => None,
        }
    }

    /// Forgets all observations.
    pub fn reset(&mut self) {
        self.phase = Phase::Waiting;
    }

    /// Takes the observation at an ACK or a timeout. Returns whether a policed rate was just given up.
    pub fn observe(&mut self, seen: &Observation) -> bool {
        if self.rate().is_some() {
            return self.believe(seen);
        }
        self.sample(seen);
        false
    }

    /// Counts the rounds with the policed rate.
    fn believe(&mut self, seen: &Observation) -> bool {
        if !seen.is_probe_bw || !seen.is_round_start {
            return false;
        }
        self.rounds += 1;
        let is_over = self.rounds >= POLICED_ROUNDS;
        if is_over {
            self.reset();
        }
        is_over
    }

    fn sample(&mut self, seen: &Observation) {
        let previous = match self.phase {
            Phase::Policed(_) => return,
            Phase::Waiting if !seen.has_losses => return,
            Phase::Waiting => {
                self.start_interval(seen, None);
                None
            }
            Phase::Sampling { previous } => previous,
        };
        if seen.is_app_limited {
            return self.reset(); // it would underestimate
        }
        if seen.is_round_start {
            self.rounds += 1;
        }
        if self.rounds < MIN_INTERVAL_ROUNDS {
            return;
        }
        if self.rounds > MAX_INTERVAL_ROUNDS {
            return self.reset();
        }
        // An interval ends with a loss as it began, when the bucket is empty.
        if !seen.has_losses {
            return;
        }
        let delivered = seen.delivered - self.start_delivered;
        let lost = seen.lost - self.start_lost;
        if delivered.is_zero() || lost < MIN_LOSS_RATIO.of_bytes(delivered) {
            return;
        }
        let length = seen.now.since(self.start);
        if length < MIN_INTERVAL {
            return;
        }
        self.end_interval(seen, Rate::from_transfer(delivered, length), previous);
    }

    fn end_interval(&mut self, seen: &Observation, rate: Rate, previous: Option<Rate>) {
        match previous {
            Some(previous) if agree(rate, previous) => {
                let (rate, previous) = (rate.bytes_per_sec(), previous.bytes_per_sec());
                self.phase = Phase::Policed(Rate::from_bytes_per_sec(rate.midpoint(previous)));
                self.rounds = 0;
            }
            _ => self.start_interval(seen, Some(rate)),
        }
    }

    fn start_interval(&mut self, seen: &Observation, previous: Option<Rate>) {
        self.phase = Phase::Sampling { previous };
        self.start = seen.now;
        self.start_delivered = seen.delivered;
        self.start_lost = seen.lost;
        self.rounds = 0;
    }
}

fn agree(rate: Rate, previous: Rate) -> bool {
    let difference =
        Rate::from_bytes_per_sec(rate.bytes_per_sec().abs_diff(previous.bytes_per_sec()));
    difference <= previous.scale(MAX_RELATIVE_DIFFERENCE) || difference <= MAX_RATE_DIFFERENCE
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rounds of 100 ms in which `delivered` and `lost` bytes are settled.
    struct Path {
        policer: Policer,
        now: Time,
        delivered: Bytes,
        lost: Bytes,
    }

    impl Path {
        fn new() -> Path {
            Path {
                policer: Policer::new(),
                now: Time::ZERO,
                delivered: Bytes::ZERO,
                lost: Bytes::ZERO,
            }
        }

        fn round(&mut self, delivered: u64, lost: u64) {
            self.now += Duration::from_millis(100);
            self.delivered += Bytes::new(delivered);
            self.lost += Bytes::new(lost);
            self.policer.observe(&Observation {
                now: self.now,
                delivered: self.delivered,
                lost: self.lost,
                has_losses: lost > 0,
                is_app_limited: false,
                is_round_start: true,
                is_probe_bw: true,
            });
        }
    }

    #[test]
    fn two_lossy_intervals_of_the_same_rate() {
        let mut path = Path::new();
        path.round(100_000, 0);
        for _ in 0..8 {
            assert_eq!(path.policer.rate(), None);
            path.round(10_000, 5_000);
        }
        // The round that opens the first interval counts as its first.
        assert_eq!(path.policer.rate(), Some(Rate::from_bytes_per_sec(100_000)));
    }

    #[test]
    fn light_loss_is_no_policer() {
        let mut path = Path::new();
        for _ in 0..100 {
            path.round(10_000, 1_900);
        }
        assert_eq!(path.policer.rate(), None);
    }

    #[test]
    fn rates_that_differ_are_no_policer() {
        let mut path = Path::new();
        for round in 0..20 {
            path.round(if round % 8 < 4 { 10_000 } else { 20_000 }, 5_000);
            assert_eq!(path.policer.rate(), None);
        }
    }

    #[test]
    fn at_low_rates_four_kilobits_are_no_difference() {
        let kbit = |rate: u64| Rate::from_bits_per_sec(rate * 1_000);
        assert!(agree(kbit(12), kbit(8)));
        assert!(!agree(kbit(13), kbit(8)));
        assert!(agree(kbit(900), kbit(800)));
        assert!(!agree(kbit(901), kbit(800)));
    }

    #[test]
    fn losses_far_apart_are_no_interval() {
        let mut path = Path::new();
        path.round(10_000, 5_000);
        for _ in 0..15 {
            path.round(10_000, 0);
            assert_ne!(path.policer.phase, Phase::Waiting);
        }
        path.round(10_000, 0);
        assert_eq!(path.policer.phase, Phase::Waiting);
    }

    #[test]
    fn an_application_limit_starts_over() {
        let mut path = Path::new();
        for _ in 0..6 {
            path.round(10_000, 5_000);
        }
        path.policer.observe(&Observation {
            now: path.now,
            delivered: path.delivered,
            lost: path.lost,
            has_losses: false,
            is_app_limited: true,
            is_round_start: false,
            is_probe_bw: true,
        });
        assert_eq!(path.policer.phase, Phase::Waiting);
    }

    #[test]
    fn the_belief_ends() {
        let mut path = Path::new();
        for _ in 0..8 {
            path.round(10_000, 5_000);
        }
        // Forty-eight rounds after the one that revealed the policer.
        for _ in 0..48 {
            assert!(path.policer.rate().is_some());
            path.round(10_000, 0);
        }
        assert_eq!(path.policer.rate(), None);
    }
}
