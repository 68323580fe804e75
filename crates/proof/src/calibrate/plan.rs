//! The cases of several sets, and their runs on two engines.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use wildmatch::WildMatch;

use super::contender::{Contender, Pair, Tolerance};
use super::observation::Observation;
use super::quantity::Quantity;
use super::set::{Explanation, Set};
use document::DocumentError;
use lab::EngineError;
use scenario::Scenario;
use studies::runs::{Plan, Point, Run, Store};
use studies::sweep::SweepError;
use tables::statistics::Spread;

/// A scenario that runs on two engines.
#[derive(Debug, Clone)]
pub struct Case {
    /// The unique name.
    pub name: String,
    /// The name of the set.
    pub set: String,
    /// The scenario, run with a different seed each time.
    pub scenario: Scenario,
    /// The known reasons for differences between the engines.
    pub explained: Vec<Explanation>,
    /// The largest allowed differences.
    pub tolerance: Tolerance,
    /// The factor by which the case is run more often than others, since single runs of it vary much.
    pub often: u64,
    /// The reason why an engine cannot run the case, if there is one.
    pub skipped: Option<String>,
}

/// The choice of cases to run.
#[derive(Debug, Clone, Default)]
pub struct Choice {
    /// Patterns of names, with `*` for any characters and `?` for one; all cases if empty.
    pub patterns: Vec<WildMatch>,
    /// Only cases that their sets call quick.
    pub is_quick: bool,
}

/// The cases of several sets, and their runs on two engines.
#[derive(Debug, Clone)]
pub struct Calibration {
    /// The cases, in the order of the sets.
    pub cases: Vec<Case>,
    /// The engines.
    pub sides: [Side; 2],
    /// The number of runs of each case on each engine; [more](Side::repeats) in virtual time beside an engine in real
    /// time.
    pub repeats: u64,
}

/// One of the engines with its runs.
#[derive(Debug, Clone)]
pub struct Side {
    /// The engine, with a replaced controller if there is one.
    pub contender: Contender,
    /// The number of runs of each case, before [`Case::often`].
    pub repeats: u64,
    /// The runs: each case once, then each case again. A run's point is the index of its case.
    pub plan: Plan,
}

/// The factor by which a case that varies by chance is run more often. Medians of nine runs vary 0.6 times as much as
/// those of three.
const CHANCE_REPEATS: u64 = 3;

/// The stored result of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Kept {
    /// The origin of the result.
    pub made: Made,
    /// The observation.
    pub observation: Observation,
}

/// The origin of a result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Made {
    /// The build of the program.
    pub build: String,
    /// The version of the program, or of the kernel if the run was in the kernel.
    pub version: String,
    /// The time when the run ended, in RFC 3339.
    pub at: String,
    /// The machine's load average over one minute at that time, if known.
    pub load: Option<f64>,
}

impl Case {
    fn new(set: &Set, plan: &Plan, point: &Point, pair: &Pair, choice: &Choice) -> Case {
        let name = pair.name(set.name_of(&plan.fields, &point.values));
        let is_chance = !choice.is_quick && set.chance.iter().any(|one| one.matches(&name));
        Case {
            often: if is_chance { CHANCE_REPEATS } else { 1 },
            set: set.name.clone(),
            scenario: Scenario {
                name: name.clone(),
                ..Scenario::clone(&point.scenario)
            },
            explained: explanations(set, &name),
            tolerance: pair.tolerance,
            skipped: refusal(pair, &point.scenario),
            name,
        }
    }

    /// The known reason why the engines differ in this quantity.
    pub fn explanation(&self, quantity: Quantity) -> Option<&str> {
        let mut explained = self.explained.iter();
        let found = explained.find(|one| one.quantity.is_none_or(|of| of == quantity));
        found.map(|one| one.because.as_str())
    }
}

impl Choice {
    fn takes(&self, set: &Set, name: &str) -> bool {
        let is_named = |patterns: &[WildMatch]| patterns.iter().any(|one| one.matches(name));
        (self.patterns.is_empty() || is_named(&self.patterns))
            && (!self.is_quick || is_named(&set.quick))
    }
}

impl Calibration {
    /// The chosen cases of the sets for these contenders. A case must have the controller that a contender replaces.
    /// Cases that an engine cannot run are [skipped](Case::skipped).
    ///
    /// # Errors
    ///
    /// A point of a set is invalid, or two cases have the same name. The error comes with the index of its set.
    pub fn new(
        sets: &[Set],
        choice: &Choice,
        pair: &Pair,
        repeats: u64,
    ) -> Result<Calibration, (usize, SweepError)> {
        let mut cases: Vec<Case> = Vec::new();
        let mut sides = pair.contenders.clone().map(|contender| Side {
            plan: Plan::new(contender.name.clone(), ["case"]),
            repeats: repeats.saturating_mul(contender.often()),
            contender,
        });
        let repeats_of = sides.each_ref().map(|side| side.repeats);
        for (place, set) in sets.iter().enumerate() {
            let blame = |error| (place, error);
            let plan = |(engine, tag): &(_, String), repeats: u64| {
                let mut sweep = set.sweep.clone();
                (sweep.engine, sweep.repeats) = (*engine, repeats.saturating_mul(CHANCE_REPEATS));
                sweep.plan(tag).map_err(blame)
            };
            let [first, second] = tagged(&pair.contenders);
            let plans = [plan(&first, repeats_of[0])?, plan(&second, repeats_of[1])?];
            for (point, each) in plans[0].points.iter().enumerate() {
                if !pair.contenders.iter().all(|one| one.takes(&each.scenario)) {
                    continue;
                }
                let case = Case::new(set, &plans[0], each, pair, choice);
                if cases.iter().any(|other| other.name == case.name) {
                    let reason = format!("there are two cases {}", case.name);
                    return Err(blame(DocumentError::new("case", reason).into()));
                }
                if !choice.takes(set, &case.name) {
                    continue;
                }
                for (side, plan) in sides.iter_mut().zip(&plans) {
                    let repeats = side.repeats.saturating_mul(case.often);
                    let runs = plan.runs.iter().filter(|run| run.point == point);
                    side.add(&case, runs.filter(|run| run.repeat < repeats));
                }
                cases.push(case);
            }
        }
        for side in &mut sides {
            // Each case runs once first, so that an interrupted calibration has seen all cases.
            side.plan.runs.sort_by_key(|run| run.repeat);
        }
        Ok(Calibration {
            cases,
            sides,
            repeats,
        })
    }

    /// The observations of a case in the store, for each engine.
    pub fn observations<'s>(
        &self,
        case: usize,
        store: &'s Store<Kept>,
    ) -> [Vec<&'s Observation>; 2] {
        let of_side = |side: &Side| {
            let runs = side.plan.runs.iter().filter(|run| run.point == case);
            let kept = runs.filter_map(|run| store.get(&run.key));
            kept.map(|kept| &kept.observation).collect()
        };
        self.sides.each_ref().map(of_side)
    }
}

/// The engines with tags for their runs. An engine that is compared with itself runs everything twice.
fn tagged(contenders: &[Contender; 2]) -> [(lab::EngineKind, String); 2] {
    let [first, second] = contenders.each_ref().map(|one| (one.engine, one.tag()));
    let is_same = first == second;
    let second = (
        second.0,
        if is_same {
            "second".to_owned()
        } else {
            second.1
        },
    );
    [first, second]
}

fn explanations(set: &Set, name: &str) -> Vec<Explanation> {
    let explained = set.explained.iter();
    explained
        .filter(|one| one.case.matches(name))
        .cloned()
        .collect()
}

/// The reason why one of the engines cannot run the scenario.
fn refusal(pair: &Pair, scenario: &Scenario) -> Option<String> {
    let refused = |one: &Contender| one.engine.engine().check(&one.of(scenario)).err();
    let error: EngineError = pair.contenders.iter().find_map(refused)?;
    Some(error.to_string())
}

impl Side {
    /// Adds a case with these runs of its point; without runs if it is skipped.
    fn add<'r>(&mut self, case: &Case, runs: impl Iterator<Item = &'r Run>) {
        let named = |scenario: &Scenario| Scenario {
            name: case.name.clone(),
            ..self.contender.of(scenario)
        };
        self.plan
            .add_point(vec![case.name.clone()], case.scenario.clone());
        for run in runs.filter(|_| case.skipped.is_none()) {
            let scenario = named(&run.scenario);
            self.plan.add_run(run.repeat, scenario, run.key.clone());
        }
    }

    /// The runs still to be done. The store has no result of them, or one from another program or version than `now`.
    /// With `reuse`, the program may differ.
    pub fn missing(&self, store: &Store<Kept>, now: &Made, reuse: bool) -> Vec<&Run> {
        let is_done = |run: &Run| {
            store.get(&run.key).is_some_and(|kept| {
                let is_same = reuse || kept.made.build == now.build;
                is_same && kept.made.version == now.version
            })
        };
        let runs = self.plan.runs.iter();
        runs.filter(|run| !is_done(run)).collect()
    }

    /// The versions, the period and the machine's load of the runs, in one line. Nothing if the store has no runs.
    pub fn origin(&self, store: &Store<Kept>) -> Option<String> {
        let kept = self.plan.runs.iter().filter_map(|run| store.get(&run.key));
        let made: Vec<&Made> = kept.map(|kept| &kept.made).collect();
        let versions: BTreeSet<&str> = made.iter().map(|made| made.version.as_str()).collect();
        let versions = Vec::from_iter(versions);
        let first = made.iter().map(|made| made.at.as_str()).min()?;
        let last = made.iter().map(|made| made.at.as_str()).max()?;
        let loads = Spread::of(made.iter().filter_map(|made| made.load));
        let load = loads.map_or(String::new(), |load| {
            let Spread { median, min, max } = load;
            format!(", load average {median:.1} ({min:.1}–{max:.1})")
        });
        let (name, versions) = (&self.contender.name, versions.join(", "));
        Some(format!("{name}: {versions}, {first} to {last}{load}."))
    }
}
