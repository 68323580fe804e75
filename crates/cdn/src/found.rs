//! What the laboratory has found: the truth, what the study says of it, and what its policy is worth.

use experiment::{Effect, Measure};
use serde::Serialize;

use crate::machine::Machine;

/// The sizes whose time small and medium objects are told by, and what large ones are.
pub const MEASURES: [Measure; 5] = [
    Measure::Throughput,
    Measure::Time10k,
    Measure::Time100k,
    Measure::Time1m,
    Measure::Time3m,
];

/// What the laboratory has found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Found {
    /// What the CDN is called.
    pub name: String,
    /// What its random choices derive from.
    pub seed: u64,
    /// Lines, and so units, of the study.
    pub lines: usize,
    /// Connections that the study has seen.
    pub connections: u64,
    /// Connections of all runs, of which the truth is.
    pub runs_connections: u64,
    /// The study's verdict.
    pub verdict: String,
    /// What the study says of each arm but the first, in each measure, over all networks.
    pub measures: Vec<Told>,
    /// The same of throughput in each network.
    pub networks: Vec<OfNetwork>,
    /// What can be in force everywhere: each arm alone, and last the policy.
    pub choices: Vec<Choice>,
    /// What the policy is worth over each draw of lines that the study has not seen; in real time, over the same lines.
    pub draws: Vec<Choice>,
    /// What comes of other draws of who has which arm.
    pub redraws: Redraws,
    /// The policy.
    pub policy: String,
    /// Of a CDN in real time, what is known of how it went.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub real: Option<Real>,
}

/// How it went in real time.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Real {
    /// Downloads that were begun.
    pub downloads: u64,
    /// Those that came whole.
    pub whole: u64,
    /// How often a connection of the server was looked at, and had a controller.
    pub looks: u64,
    /// How often it was another one than that which was in force for its client; and the first of these in words.
    pub others: u64,
    /// See `others`.
    pub first_other: Option<String>,
    /// Connections that got a controller by the program in the kernel, and those of which the kernel refused it.
    pub assigned: [u64; 2],
    /// Whether the machine kept up. If it did not, nothing else here is a result.
    pub machine: Machine,
}

/// The truth, and what the study says of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Told {
    /// In what.
    pub measure: Measure,
    /// The arm's controller; it is compared with the first arm's.
    pub controller: String,
    /// How much it changes: by all lines with either arm. Nothing where there are too few such objects.
    pub truth: Option<f64>,
    /// What the study says; nothing where it has too little.
    pub told: Option<Effect>,
    /// Of other draws, in how many the interval has the truth, and how many have an interval.
    pub covered: [usize; 2],
}

/// A network.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OfNetwork {
    /// Its name.
    pub name: String,
    /// Who is at the other end.
    pub kind: String,
    /// Its autonomous system.
    pub system: u32,
    /// How many lines it has.
    pub lines: usize,
    /// Throughput of large objects: the truth and what is told, for each arm but the first.
    pub throughput: Vec<Told>,
    /// And the time of objects below 10 kB.
    pub small: Vec<Told>,
    /// The policy's rule for its lines, and that rule's controller.
    pub rule: [String; 2],
    /// With each choice in force, how much measures change over the first arm, in the order of [`MEASURES`].
    pub changes: Vec<Vec<Option<f64>>>,
}

/// What can be in force everywhere.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Choice {
    /// A controller, or the policy.
    pub name: String,
    /// How much measures change over the first arm, over all networks, in the order of [`MEASURES`].
    pub changes: Vec<Option<f64>>,
    /// The network where throughput is furthest below that of the best arm, and by how much.
    pub worst: Option<(String, f64)>,
}

/// What comes of other draws of who has which arm, of the same lines.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Redraws {
    /// How many.
    pub studies: usize,
    /// How many of these made a policy.
    pub policies: usize,
    /// How many of the policies have throughput within 3 % of the best arm's in each network.
    pub near_best: usize,
    /// How far below the best arm the worst network was with the median policy, and with the worst.
    pub worst: Option<[f64; 2]>,
}

/// Policies are to be this near to the best arm, in each network.
pub const NEAR: f64 = 0.03;

impl OfNetwork {
    /// How far the throughput with a choice in force is from that of the best arm.
    pub fn of_best(&self, choice: usize) -> Option<f64> {
        of_best(&self.changes, choice)
    }
}

/// The same by how much each choice changes measures over the first arm.
pub(crate) fn of_best(changes: &[Vec<Option<f64>>], choice: usize) -> Option<f64> {
    let throughput = |choice: usize| changes.get(choice)?.first().copied().flatten();
    // The last choice is the policy, and no arm.
    let arms = 0..changes.len().saturating_sub(1);
    let best = arms.filter_map(throughput).reduce(f64::max)?;
    Some((1.0 + throughput(choice)?) / (1.0 + best) - 1.0)
}

impl Found {
    /// The place of the policy among the choices.
    pub fn policy_place(&self) -> usize {
        self.choices.len().saturating_sub(1)
    }
}
