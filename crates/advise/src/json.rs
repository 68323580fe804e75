//! Advice as JSON.

use std::collections::BTreeMap;

use serde::Serialize;

use super::advice::{Advice, Choice};
use super::goal::Goal;
use super::outcome::Outcome;
use super::ranges::Range;

/// Advice as JSON.
#[derive(Debug, Serialize)]
pub struct Json<'a> {
    /// The description of the path as given.
    path: &'a str,
    /// The fields that are ranges.
    ranges: &'a [Range],
    /// The duration of each run.
    duration_s: f64,
    /// The length of the warmup, which is not measured.
    warmup_s: f64,
    /// The least duration of a run that shows the slowest behaviour. The advice is not sure if `duration_s` is less.
    horizon_s: f64,
    /// The number of runs that ended.
    runs: usize,
    /// The goal that was asked for.
    goal: Goal,
    /// The candidate chosen for this goal.
    choice: &'static str,
    /// The choice for each goal, with the reasons.
    goals: &'a [Choice],
    /// The sampled paths.
    paths: Vec<OfPath<'a>>,
}

/// A sampled path.
#[derive(Debug, Serialize)]
struct OfPath<'a> {
    seed: u64,
    /// The value of each range on this path, by field.
    values: BTreeMap<&'a str, &'a str>,
    /// The outcome of each candidate. Candidates with a failed run are absent.
    candidates: BTreeMap<&'static str, &'a Outcome>,
}

impl<'a> Json<'a> {
    /// The advice for this goal, from this number of runs.
    pub fn new(advice: &'a Advice<'_>, goal: Goal, runs: usize) -> Json<'a> {
        let sampling = advice.sampling;
        let of_path = |(place, sampled): (usize, &'a super::plan::Sampled)| {
            let fields = sampling.ranges.iter().map(|range| range.field.as_str());
            let candidates = advice.outcomes.controllers().iter().enumerate();
            let outcome = |(candidate, name): (usize, &congestion::ControllerKind)| {
                Some((name.name(), advice.outcomes.of(place, candidate)?))
            };
            OfPath {
                seed: sampled.seed,
                values: fields
                    .zip(sampled.values.iter().map(String::as_str))
                    .collect(),
                candidates: candidates.filter_map(outcome).collect(),
            }
        };
        Json {
            path: &sampling.path,
            ranges: &sampling.ranges,
            duration_s: sampling.duration.as_secs_f64(),
            warmup_s: sampling.warmup.as_secs_f64(),
            horizon_s: sampling.horizon().as_secs_f64(),
            runs,
            goal,
            choice: advice.of(goal).choice,
            goals: &advice.choices,
            paths: sampling.sampled.iter().enumerate().map(of_path).collect(),
        }
    }
}
