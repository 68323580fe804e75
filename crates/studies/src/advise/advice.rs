//! Which candidate to choose.

use record::statistics::{Spread, mean, median};
use serde::Serialize;

use super::gain::Gain;
use super::goal::Goal;
use super::outcome::{Outcome, Outcomes};
use super::plan::Sampling;

/// What to choose for a goal, and why.
#[derive(Debug, Clone, Serialize)]
pub struct Choice {
    /// What it is chosen for.
    pub goal: Goal,
    /// The candidate, by its place.
    #[serde(skip)]
    pub place: usize,
    /// Its name.
    pub choice: &'static str,
    /// Whether it does what the goal asks for on the median path. If nobody does, all are compared.
    pub is_met: bool,
    /// On how many of the sampled paths it does.
    pub met_on: usize,
    /// What a CUBIC neighbour keeps of its goodput, and has of its round-trip time, on the median path.
    pub neighbour_goodput: Option<f64>,
    /// See [`Choice::neighbour_goodput`].
    pub neighbour_rtt_p95: Option<f64>,
    /// The other candidates.
    pub rivals: Vec<Rival>,
}

/// What the choice is better than.
#[derive(Debug, Clone, Serialize)]
pub struct Rival {
    /// Its name.
    pub controller: &'static str,
    /// Whether it does what the goal asks for on the median path.
    pub is_met: bool,
    /// The choice's score over its score.
    #[serde(flatten)]
    pub gain: Gain,
}

/// What to choose for each goal.
#[derive(Debug, Clone)]
pub struct Advice<'o> {
    /// Of what runs.
    pub outcomes: &'o Outcomes,
    /// Over what paths.
    pub sampling: &'o Sampling,
    /// For each goal.
    pub choices: Vec<Choice>,
}

/// A CUBIC flow that keeps so much is not hurt.
pub(super) const UNHURT: f64 = 0.95;

impl<'o> Advice<'o> {
    /// What these runs over these paths say; nothing if no path has outcomes.
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

    /// What to choose for this goal.
    pub fn of(&self, goal: Goal) -> &Choice {
        let found = self.choices.iter().find(|choice| choice.goal == goal);
        found.expect("a choice for each goal")
    }

    /// A quantity of a candidate over the sampled paths.
    pub fn spread(&self, candidate: usize, of: impl Fn(&Outcome) -> Option<f64>) -> Option<Spread> {
        Spread::of(self.outcomes.all_of(candidate).filter_map(of))
    }
}

/// Less than so much of the best score is too little to choose another for the sake of its neighbours.
const AS_GOOD: f64 = 0.95;

/// The candidate with the highest score. Of those that are about as good, and not clearly worse, the one that hurts a CUBIC neighbour least:
/// what gains nothing should cost nobody anything.
fn choice(goal: Goal, outcomes: &Outcomes, sampling: &Sampling) -> Option<Choice> {
    let count = outcomes.controllers().len();
    let met: Vec<usize> = (0..count).map(|one| met_on(goal, outcomes, one)).collect();
    let is_met = |one: &usize| met[*one] * 2 > outcomes.known();
    let mut fit: Vec<usize> = (0..count).filter(is_met).collect();
    if fit.is_empty() {
        fit = (0..count).collect();
    }
    let score = |one: usize| {
        let scores = outcomes.all_of(one).map(|of| goal.score(of).ln());
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
        *one == best || of.is_some_and(|of| !of.is_clear && of.mean >= AS_GOOD)
    };
    let kept = |one: usize| {
        let kept = outcomes.all_of(one);
        let kept = median(kept.filter_map(|of| of.beside_cubic.neighbour_goodput));
        kept.unwrap_or(1.0).min(UNHURT)
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

/// On how many paths the candidate does what the goal asks for.
fn met_on(goal: Goal, outcomes: &Outcomes, candidate: usize) -> usize {
    let is_met = |path: &usize| {
        let all = (0..outcomes.controllers().len()).filter_map(|one| outcomes.of(*path, one));
        let best = all.map(|of| of.alone.goodput_bps).fold(0.0, f64::max);
        let of = outcomes.of(*path, candidate);
        of.is_some_and(|of| goal.is_met(of, best))
    };
    (0..outcomes.paths()).filter(is_met).count()
}

/// One candidate's score over another's, with the path, of each path that both have.
fn ratios(goal: Goal, outcomes: &Outcomes, one: usize, over: usize) -> Vec<(usize, f64)> {
    let ratio = |path: usize| {
        let [one, over] = [one, over].map(|candidate| outcomes.of(path, candidate));
        Some((path, goal.score(one?) / goal.score(over?)))
    };
    (0..outcomes.paths()).filter_map(ratio).collect()
}
