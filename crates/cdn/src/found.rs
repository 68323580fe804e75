//! The results of the laboratory: the truth, the study's estimates, and the value of its policy.

use experiment::{Effect, Measure};
use serde::Serialize;

use crate::machine::Machine;

/// The measures of the results: the throughput of large objects, and the times of small and medium ones.
pub const MEASURES: [Measure; 5] = [
    Measure::Throughput,
    Measure::Time10k,
    Measure::Time100k,
    Measure::Time1m,
    Measure::Time3m,
];

/// The results of the laboratory.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Found {
    /// The name of the CDN.
    pub name: String,
    /// The seed of all random choices.
    pub seed: u64,
    /// The number of lines in the study, which are its units.
    pub lines: usize,
    /// The number of connections in the study.
    pub connections: u64,
    /// The number of connections in all runs, which give the truth.
    pub runs_connections: u64,
    /// The study's verdict.
    pub verdict: String,
    /// For each arm but the first and each measure: the truth and the estimate over all networks.
    pub measures: Vec<Estimate>,
    /// The results for each network.
    pub networks: Vec<OfNetwork>,
    /// The choices that can be in force everywhere: each arm alone, and last the policy.
    pub choices: Vec<Choice>,
    /// The value of the policy over each draw of lines that the study has not seen; in real time, over the same lines.
    pub draws: Vec<Choice>,
    /// The results with arms drawn again.
    pub redraws: Redraws,
    /// The policy.
    pub policy: String,
    /// For a CDN in real time, the circumstances of the measurement.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub real: Option<Real>,
}

/// The circumstances of a measurement in real time.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Real {
    /// The number of downloads that were started.
    pub downloads: u64,
    /// The number of complete downloads.
    pub whole: u64,
    /// The number of inspections in which a connection of the server had a controller.
    pub looks: u64,
    /// The number of inspections in which that controller was not the one in force for its client.
    pub others: u64,
    /// The first such case, in words.
    pub first_other: Option<String>,
    /// The numbers of connections to which the program in the kernel gave a controller, and for which the kernel
    /// refused it.
    pub assigned: [u64; 2],
    /// The state of the machine. If it did not keep up, the other results are invalid.
    pub machine: Machine,
}

/// The truth and the study's estimate for one measure.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Estimate {
    /// The measure.
    pub measure: Measure,
    /// The arm's controller. It is compared with the first arm's.
    pub controller: String,
    /// The true effect: all lines with this arm against all lines with the first. `None` with too few objects.
    pub truth: Option<f64>,
    /// The study's estimate. `None` with too few data.
    pub told: Option<Effect>,
    /// With arms drawn again: the number of intervals that contain the truth, and the number of intervals.
    pub covered: [usize; 2],
    /// For a network whose lines share a link, the mean estimate with arms drawn again. `None` for all else.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean: Option<f64>,
}

/// The results for a network.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OfNetwork {
    /// Its name.
    pub name: String,
    /// The kind of the network.
    pub kind: String,
    /// The link that its lines share with each other, and with those of other networks. `None` if they share nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub over: Option<String>,
    /// Its autonomous system.
    pub system: u32,
    /// The number of its lines.
    pub lines: usize,
    /// The throughput of large objects for each arm but the first.
    pub throughput: Vec<Estimate>,
    /// The time of objects below 10 kB for each arm but the first.
    pub small: Vec<Estimate>,
    /// The policy's rule for its lines, and the rule's controller.
    pub rule: [String; 2],
    /// For each choice in force: the effects against the first arm, in the order of [`MEASURES`].
    pub changes: Vec<Vec<Option<f64>>>,
    /// For each choice in force: the effect on the bytes that the background traffic delivers, against the first arm.
    /// `None` without such traffic.
    pub background: Vec<Option<f64>>,
}

/// A choice that can be in force everywhere.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Choice {
    /// The controller, or the policy.
    pub name: String,
    /// The effects against the first arm over all networks, in the order of [`MEASURES`].
    pub changes: Vec<Option<f64>>,
    /// The network whose throughput is furthest below that of its best arm, and the relative difference.
    pub worst: Option<(String, f64)>,
}

/// The results of studies of the same lines with arms drawn again.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Redraws {
    /// The number of studies.
    pub studies: usize,
    /// The number of studies that made a policy.
    pub policies: usize,
    /// The number of policies with a throughput within 3 % of the best arm's in each network whose lines share nothing.
    pub near_best: usize,
    /// The relative difference of the worst of these networks' throughput from its best arm: for the median policy, and
    /// for the worst. `None` if the lines of all networks share links.
    pub worst: Option<[f64; 2]>,
}

/// A policy is near the best arm if its throughput is at most this share below it in each network.
pub const MAX_SHORTFALL: f64 = 0.03;

impl OfNetwork {
    /// The relative difference between the throughput with a choice in force and with the best arm.
    pub fn of_best(&self, choice: usize) -> Option<f64> {
        of_best(&self.changes, choice)
    }
}

/// Like [`OfNetwork::of_best`], from the effects of all choices against the first arm.
pub(crate) fn of_best(changes: &[Vec<Option<f64>>], choice: usize) -> Option<f64> {
    let throughput = |choice: usize| changes.get(choice)?.first().copied().flatten();
    // The last choice is the policy and not an arm.
    let arms = 0..changes.len().saturating_sub(1);
    let best = arms.filter_map(throughput).reduce(f64::max)?;
    Some((1.0 + throughput(choice)?) / (1.0 + best) - 1.0)
}

impl Estimate {
    /// The relative difference between the mean estimate in mixes of arms and the truth. `None` if lines share nothing.
    pub fn interference(&self) -> Option<f64> {
        Some((1.0 + self.mean?) / (1.0 + self.truth?) - 1.0)
    }
}

impl Found {
    /// The index of the policy among the choices.
    pub fn policy_place(&self) -> usize {
        self.choices.len().saturating_sub(1)
    }
}
