//! The goals for which a controller is chosen.

use super::outcome::Outcome;

units::named! {
    /// The purpose for which a controller is chosen.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub enum Goal, "goal" {
        /// The most goodput, alone and beside a CUBIC flow.
        #[default]
        Throughput = "throughput",
        /// The fastest small requests beside bulk flows of the same controller.
        Latency = "latency",
        /// The most goodput alone, among candidates that leave others their share.
        Fair = "fair",
    }
}

units::as_text!(Goal);

/// With the fastest requests, at least this share of the best candidate's goodput must be left. Otherwise a controller
/// that sends next to nothing wins, since it has no queue.
const MIN_LATENCY_GOODPUT: f64 = 0.5;

/// The share of its goodput beside CUBIC that a CUBIC flow must keep, and the least Jain index of the candidate's own
/// flows. The index may be lower where CUBIC's is, because CUBIC may converge more slowly than a run lasts on long
/// paths.
const MIN_CUBIC_SHARE: f64 = 0.7;
const MIN_JAIN: f64 = 0.9;

impl Goal {
    /// The candidate's score. Twice as much is twice as good.
    pub fn score(self, outcome: &Outcome) -> f64 {
        let alone = outcome.alone.goodput_bps;
        let score = match self {
            Goal::Throughput => (alone * outcome.beside_cubic.goodput_bps).sqrt(),
            Goal::Latency => 1.0 / outcome.beside_itself.request_p95_ms,
            Goal::Fair => alone,
        };
        // A score of zero has no ratio to any other.
        score.max(1e-9)
    }

    /// Whether the candidate meets the goal's condition on this path. `best` is the highest goodput of a candidate
    /// alone on the path.
    pub fn is_met(self, outcome: &Outcome, best: f64) -> bool {
        match self {
            Goal::Throughput => true,
            Goal::Latency => outcome.alone.goodput_bps >= MIN_LATENCY_GOODPUT * best,
            Goal::Fair => {
                let kept = outcome.beside_cubic.neighbour_goodput;
                let itself = outcome.beside_itself;
                kept.is_none_or(|kept| kept >= MIN_CUBIC_SHARE)
                    && itself.jain >= itself.cubic_jain.min(MIN_JAIN)
            }
        }
    }

    /// The goal as the end of a sentence: `for the most goodput, …`.
    pub fn meaning(self) -> &'static str {
        match self {
            Goal::Throughput => "the most goodput, alone and beside CUBIC",
            Goal::Latency => {
                "the fastest small requests beside bulk flows of the same controller, with at least half of the best goodput"
            }
            Goal::Fair => {
                "the most goodput alone, among candidates that leave CUBIC 0.7 of what another CUBIC leaves it and share evenly \
                 with themselves"
            }
        }
    }

    /// The quantity that the score measures: `3.1 times the goodput`.
    pub fn measured(self) -> &'static str {
        match self {
            Goal::Throughput => "goodput",
            Goal::Latency => "speed of requests",
            Goal::Fair => "goodput alone",
        }
    }
}
