//! An advice for programs.

use std::collections::BTreeMap;

use serde::Serialize;

use super::advice::{Advice, Choice};
use super::goal::Goal;
use super::outcome::Outcome;
use super::ranges::Range;

/// An advice for programs.
#[derive(Debug, Serialize)]
pub struct Json<'a> {
    /// The path as it was told.
    path: &'a str,
    /// What is not known of it.
    ranges: &'a [Range],
    /// How long each run is.
    duration_s: f64,
    /// How much of its beginning does not count.
    warmup_s: f64,
    /// How long a run must be to show what takes longest: the advice is not sure if `duration_s` is less.
    horizon_s: f64,
    /// How many runs ended.
    runs: usize,
    /// The goal that was asked for.
    goal: Goal,
    /// What to choose for it.
    choice: &'static str,
    /// What to choose for each goal, and why.
    goals: &'a [Choice],
    /// The sampled paths.
    paths: Vec<OfPath<'a>>,
}

/// A sampled path.
#[derive(Debug, Serialize)]
struct OfPath<'a> {
    seed: u64,
    /// What each range is here, by its field.
    values: BTreeMap<&'a str, &'a str>,
    /// What each candidate did; none of those with a run that failed.
    candidates: BTreeMap<&'static str, &'a Outcome>,
}

impl<'a> Json<'a> {
    /// The advice for this goal, from so many runs.
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
