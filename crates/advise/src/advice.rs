//! The choice among the candidates.

use serde::Serialize;
use tables::statistics::{Spread, mean, median};

use super::gain::Gain;
use super::goal::Goal;
use super::outcome::{Outcome, Outcomes};
use super::plan::Sampling;

/// The chosen candidate for a goal, with the reasons.
#[derive(Debug, Clone, Serialize)]
pub struct Choice {
    /// The goal.
    pub goal: Goal,
    /// The index of the chosen candidate.
    #[serde(skip)]
    pub place: usize,
    /// The name of the chosen candidate.
    pub choice: &'static str,
    /// Whether the choice meets the goal's condition on the median path. If no candidate does, all are compared.
    pub is_met: bool,
    /// The number of sampled paths on which the choice meets the goal's condition.
    pub met_on: usize,
    /// The goodput that a CUBIC neighbour keeps on the median path, as a share of its goodput beside CUBIC.
    pub neighbour_goodput: Option<f64>,
    /// The round-trip time of that neighbour (95th percentile), over that beside CUBIC.
    pub neighbour_rtt_p95: Option<f64>,
    /// The other candidates.
    pub rivals: Vec<Rival>,
}

/// A candidate that was not chosen.
#[derive(Debug, Clone, Serialize)]
pub struct Rival {
    /// The candidate's name.
    pub controller: &'static str,
    /// Whether the candidate meets the goal's condition on the median path.
    pub is_met: bool,
    /// The score of the choice over the score of this candidate.
    #[serde(flatten)]
    pub gain: Gain,
}

/// A choice for each goal.
#[derive(Debug, Clone)]
pub struct Advice<'o> {
    /// The outcomes of the runs.
    pub outcomes: &'o Outcomes,
    /// The sampled paths.
    pub sampling: &'o Sampling,
    /// One choice for each goal.
    pub choices: Vec<Choice>,
}

/// The least share of its goodput beside CUBIC with which a CUBIC flow counts as not hurt.
pub(crate) const MIN_UNHURT_SHARE: f64 = 0.95;

impl<'o> Advice<'o> {
    /// Chooses for each goal from these runs. Returns nothing if no path has outcomes.
    pub fn new(outcomes: &'o Outcomes, sampling: &'o Sampling) -> Option<Advice<'o>> {
        if outcomes.known() == 0 {
            return None;
        }
        let choices = Goal::ALL
            .iter()
            .map(|goal| choice(*goal, outcomes, sampling));
        Some(Advice {
            outcomes,
            sampling,
            choices: choices.collect::<Option<_>>()?,
        })
    }

    /// The choice for this goal.
    pub fn of(&self, goal: Goal) -> &Choice {
        let found = self.choices.iter().find(|choice| choice.goal == goal);
        found.expect("a choice for each goal")
    }

    /// The distribution of a candidate's quantity over the sampled paths.
    pub fn spread(&self, candidate: usize, of: impl Fn(&Outcome) -> Option<f64>) -> Option<Spread> {
        Spread::of(self.outcomes.all_of(candidate).filter_map(of))
    }
}

/// A candidate whose mean score is at least this share of the best may be chosen for its neighbours' sake.
const MIN_SCORE_SHARE: f64 = 0.95;

/// The candidate with the highest score. Among those that are about as good, and not clearly worse, the one that hurts
/// a CUBIC neighbour least: harm must buy something.
fn choice(goal: Goal, outcomes: &Outcomes, sampling: &Sampling) -> Option<Choice> {
    let count = outcomes.controllers().len();
    let met: Vec<usize> = (0..count).map(|one| met_on(goal, outcomes, one)).collect();
    let is_met = |one: &usize| met[*one] * 2 > outcomes.known();
    let mut fit: Vec<usize> = (0..count).filter(is_met).collect();
    if fit.is_empty() {
        fit = (0..count).collect();
    }
    let score = |one: usize| {
        let scores = outcomes.all_of(one).map(|of| libm::log(goal.score(of)));
        mean(&scores.collect::<Vec<f64>>()).unwrap_or(f64::NEG_INFINITY)
    };
    let best = *fit
        .iter()
        .max_by(|one, other| score(**one).total_cmp(&score(**other)))?;
    let gain = |one: usize, over: usize| {
        let rivals = count.saturating_sub(1);
        Gain::of(&ratios(goal, outcomes, one, over), rivals, sampling)
    };
    let is_as_good = |one: &usize| {
        let of = gain(*one, best);
        *one == best || of.is_some_and(|of| !of.is_clear && of.mean >= MIN_SCORE_SHARE)
    };
    let kept = |one: usize| {
        let kept = outcomes.all_of(one);
        let kept = median(kept.filter_map(|of| of.beside_cubic.neighbour_goodput));
        kept.unwrap_or(1.0).min(MIN_UNHURT_SHARE)
    };
    let place = fit
        .iter()
        .copied()
        .filter(is_as_good)
        .max_by(|one, other| {
            let by_harm = kept(*one).total_cmp(&kept(*other));
            by_harm.then(score(*one).total_cmp(&score(*other)))
        })?;
    let rival = |one: usize| {
        Some(Rival {
            controller: outcomes.controllers()[one].name(),
            is_met: is_met(&one),
            gain: gain(place, one)?,
        })
    };
    let usual =
        |of: &dyn Fn(&Outcome) -> Option<f64>| median(outcomes.all_of(place).filter_map(of));
    let rivals = (0..count).filter(|one| *one != place);
    Some(Choice {
        goal,
        place,
        choice: outcomes.controllers()[place].name(),
        is_met: is_met(&place),
        met_on: met[place],
        neighbour_goodput: usual(&|of| of.beside_cubic.neighbour_goodput),
        neighbour_rtt_p95: usual(&|of| of.beside_cubic.neighbour_rtt_p95),
        rivals: rivals.map(rival).collect::<Option<_>>()?,
    })
}

/// The number of paths on which the candidate meets the goal's condition.
fn met_on(goal: Goal, outcomes: &Outcomes, candidate: usize) -> usize {
    let is_met = |path: &usize| {
        let all = (0..outcomes.controllers().len()).filter_map(|one| outcomes.of(*path, one));
        let best = all.map(|of| of.alone.goodput_bps).fold(0.0, f64::max);
        let of = outcomes.of(*path, candidate);
        of.is_some_and(|of| goal.is_met(of, best))
    };
    (0..outcomes.paths()).filter(is_met).count()
}

/// The ratio of two candidates' scores on each path that both have, with the index of the path.
fn ratios(goal: Goal, outcomes: &Outcomes, one: usize, over: usize) -> Vec<(usize, f64)> {
    let ratio = |path: usize| {
        let [one, over] = [one, over].map(|candidate| outcomes.of(path, candidate));
        Some((path, goal.score(one?) / goal.score(over?)))
    };
    (0..outcomes.paths()).filter_map(ratio).collect()
}
