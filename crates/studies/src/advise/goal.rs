//! What people want.

use super::outcome::Outcome;

units::named! {
    /// What a controller is chosen for.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub enum Goal, "goal" {
        /// The most goodput, alone and beside a CUBIC flow.
        #[default]
        Throughput = "throughput",
        /// The fastest small requests beside bulk flows of the same controller.
        Latency = "latency",
        /// The most goodput alone, of those that let others live.
        Fair = "fair",
    }
}

units::as_text!(Goal);

/// Beside the quickest requests, so much of the best candidate's goodput must be left: a controller that sends next to
/// nothing has no queue.
const LATENCY_GOODPUT: f64 = 0.5;

/// What a CUBIC flow must keep of what it has beside another CUBIC flow, and how even the candidate's own flows must be,
/// unless CUBIC's are no more even either: long round trips take CUBIC longer than a run.
const KEPT: f64 = 0.7;
const JAIN: f64 = 0.9;

impl Goal {
    /// How well a candidate did: twice as much is twice as good.
    pub fn score(self, outcome: &Outcome) -> f64 {
        let alone = outcome.alone.goodput_bps;
        let score = match self {
            Goal::Throughput => (alone * outcome.beside_cubic.goodput_bps).sqrt(),
            Goal::Latency => 1.0 / outcome.beside_itself.request_p95_ms,
            Goal::Fair => alone,
        };
        // Nothing at all has no ratio to anything.
        score.max(1e-9)
    }

    /// Whether the candidate does on this path what the goal asks for beside a high score. `best` is the highest goodput
    /// of a candidate that has the path to itself.
    pub fn is_met(self, outcome: &Outcome, best: f64) -> bool {
        match self {
            Goal::Throughput => true,
            Goal::Latency => outcome.alone.goodput_bps >= LATENCY_GOODPUT * best,
            Goal::Fair => {
                let kept = outcome.beside_cubic.neighbour_goodput;
                let itself = outcome.beside_itself;
                kept.is_none_or(|kept| kept >= KEPT) && itself.jain >= itself.cubic_jain.min(JAIN)
            }
        }
    }

    /// What is asked for, as a sentence goes on: `for the most goodput, …`.
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

    /// What is more if the score is: `3.1 times the goodput`.
    pub fn measured(self) -> &'static str {
        match self {
            Goal::Throughput => "goodput",
            Goal::Latency => "speed of requests",
            Goal::Fair => "goodput alone",
        }
    }
}
