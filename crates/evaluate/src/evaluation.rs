//! An evaluation: a row for each criterion.

use lab::EngineKind;
use record::{Dimension, Measure};
use serde::{Deserialize, Serialize};
use studies::runs::Ratio;
use tables::numbers::{bits_per_sec, percent, span};
use tables::statistics::Sorted;

use crate::case::{Case, Extent, Planned};
use crate::criteria::{Better, Criterion, Protects, Statement};
use crate::verdict::{self, Verdict};

/// A controller, judged by all criteria. It is plain data, which JSON keeps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Evaluation {
    /// The version of the program.
    pub version: String,
    /// The controller's name in scenarios.
    pub controller: String,
    /// The engine of the runs.
    pub engine: EngineKind,
    /// The seeds of each experiment with a path of its own; 0 without such experiments.
    pub seeds: u64,
    /// The number of drawn paths; 0 without experiments over them.
    pub paths: usize,
    /// A row for each criterion, in their order.
    pub rows: Vec<Row>,
    /// What no run answers.
    pub statements: Vec<Statement>,
    /// The runs that failed, with the reason.
    pub failed: Vec<String>,
}

/// The judgement by one criterion.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The criterion's name.
    pub name: String,
    /// The number of the RFC's section.
    pub section: String,
    /// The section's title.
    pub title: String,
    /// The question.
    pub asks: String,
    /// What was run.
    pub about: String,
    /// The name of the measure.
    pub measure: String,
    /// The direction of improvement.
    pub better: Better,
    /// Who suffers if it is worse.
    pub protects: Protects,
    /// The reference with which it is compared; null if it is compared with `bound`.
    pub compared: Option<String>,
    /// The fixed value with which it is compared.
    pub bound: Option<f64>,
    /// Values and differences below it do not count.
    pub floor: f64,
    /// Up to so many times as bad is tolerated.
    pub tolerated: f64,
    /// How many times as bad as what it is compared with; null without runs.
    pub times_as_bad: Option<Ratio>,
    /// The verdict.
    pub verdict: Verdict,
    /// The seed of each case; for a drawn path its number. A case of which a run failed is missing.
    pub seeds: Vec<u64>,
    /// The values of the subject, and then of each reference.
    pub values: Vec<Values>,
    /// The name of the case in which the subject is worst, compared with the others.
    pub worst_case: String,
    /// How many times as bad it is there.
    pub worst: Option<f64>,
    /// The scenario of that case.
    pub scenario: String,
}

/// The values of one controller, case by case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Values {
    /// The controller.
    pub controller: String,
    /// A value for each case in the measure's unit; null where the run has none.
    pub cases: Vec<Option<f64>>,
}

impl Values {
    /// The median of the cases that have a value.
    pub fn median(&self) -> Option<f64> {
        self.known().median()
    }

    /// The values of the cases that have one, sorted.
    pub(crate) fn known(&self) -> Sorted {
        self.cases.iter().flatten().copied().collect()
    }
}

/// The value of a criterion for a case and a controller: nothing without a run, or without a value of the run.
type Measured<'m> = &'m dyn Fn(&Case, usize, usize) -> Option<Option<f64>>;

impl Evaluation {
    pub(crate) fn of(planned: &Planned, failed: Vec<String>, measured: Measured<'_>) -> Evaluation {
        let experiments = planned.criteria.experiments.iter().enumerate();
        let rows = experiments.flat_map(|(place, experiment)| {
            let cases = planned
                .cases
                .iter()
                .filter(move |one| one.experiment == place);
            let cases: Vec<&Case> = cases.collect();
            let criteria = experiment.criterion.iter().enumerate();
            criteria
                .map(|(at, criterion)| {
                    let value = |case: &Case, controller| measured(case, controller, at);
                    row(planned, &experiment.about, criterion, &cases, &value)
                })
                .collect::<Vec<_>>()
        });
        Evaluation {
            version: env!("CARGO_PKG_VERSION").to_string(),
            controller: planned.controller.clone(),
            engine: planned.engine,
            seeds: planned.extent.seeds,
            paths: planned.extent.paths,
            rows: rows.collect(),
            statements: planned.criteria.statements.clone(),
            failed,
        }
    }

    /// How much was run.
    pub fn extent(&self) -> Extent {
        Extent {
            seeds: self.seeds,
            paths: self.paths,
        }
    }

    /// The row of a criterion.
    pub fn row(&self, name: &str) -> Option<&Row> {
        self.rows.iter().find(|row| row.name == name)
    }

    /// The controllers to show, by their places among a row's values: the subject, and the references that are not the
    /// same.
    pub(crate) fn shown(&self) -> Vec<(usize, String)> {
        let Some(first) = self.rows.first() else {
            return Vec::new();
        };
        let names = first.values.iter().map(|one| one.controller.clone());
        let mut shown: Vec<(usize, String)> = names.enumerate().collect();
        let mut others = shown.iter().skip(1);
        if let Some(&(place, _)) = others.find(|(_, name)| *name == self.controller) {
            let is_same = |row: &Row| row.values[0].cases == row.values[place].cases;
            if self.rows.iter().all(is_same) {
                shown.remove(place);
            } else {
                shown[0].1 += " as set";
            }
        }
        shown
    }

    /// The number of criteria with this verdict.
    pub fn count(&self, verdict: Verdict) -> usize {
        let rows = self.rows.iter();
        rows.filter(|row| row.verdict == verdict).count()
    }
}

fn row(
    planned: &Planned,
    about: &str,
    criterion: &Criterion,
    cases: &[&Case],
    value: &dyn Fn(&Case, usize) -> Option<Option<f64>>,
) -> Row {
    // Only cases in which all runs have ended are compared.
    let references = &planned.references;
    let controllers = 0..=references.len();
    let is_whole = |case: &&&Case| controllers.clone().all(|one| value(case, one).is_some());
    let cases: Vec<&Case> = cases.iter().filter(is_whole).copied().collect();
    let names = [planned.controller.as_str()]
        .into_iter()
        .chain(references.iter().map(|kind| kind.name()));
    let of = |(place, name): (usize, &str)| Values {
        controller: name.to_owned(),
        cases: cases
            .iter()
            .map(|case| value(case, place).flatten())
            .collect(),
    };
    let values: Vec<Values> = names.enumerate().map(of).collect();
    let compared = references
        .iter()
        .position(|kind| kind.name() == criterion.compared);
    let other = |case: usize| match (criterion.bound, compared) {
        (Some(bound), _) => Some(bound),
        (None, place) => values[place? + 1].cases[case],
    };
    let ratio = |case: usize| {
        let (floor, own) = (criterion.floor, values[0].cases[case]);
        verdict::times_as_bad(criterion.better, floor, own, other(case))
    };
    let ratios: Vec<(usize, f64)> = (0..cases.len())
        .filter_map(|case| Some((case, ratio(case)?)))
        .collect();
    let times_as_bad = Ratio::of(ratios.iter().map(|(_, ratio)| *ratio), 1);
    let worst = ratios.iter().max_by(|one, next| one.1.total_cmp(&next.1));
    let worst_case = worst.and_then(|(case, _)| cases.get(*case));
    Row {
        name: criterion.name.clone(),
        section: criterion.section.clone(),
        title: planned.criteria.title(&criterion.section).to_owned(),
        asks: criterion.asks.clone(),
        about: about.to_owned(),
        measure: criterion.measure.clone(),
        better: criterion.better,
        protects: criterion.protects,
        compared: criterion
            .bound
            .is_none()
            .then(|| criterion.compared.clone()),
        bound: criterion.bound,
        floor: criterion.floor,
        tolerated: criterion.tolerated,
        verdict: times_as_bad.map_or(Verdict::Unsure, |ratio| Verdict::of(criterion, &ratio)),
        times_as_bad,
        worst_case: worst_case.map_or_else(String::new, |case| case.name.clone()),
        worst: worst.map(|(_, ratio)| *ratio),
        seeds: cases.iter().map(|case| case.scenario.seed).collect(),
        scenario: worst_case.map_or_else(String::new, |case| case.scenario.to_string()),
        values,
    }
}

impl Row {
    /// A value of its measure, as text.
    pub(crate) fn told(&self, value: Option<f64>) -> String {
        let Some(value) = value else {
            return "–".to_owned();
        };
        match Measure::named(&self.measure).map(|measure| measure.unit) {
            Ok(Dimension::Share) => percent(value),
            Ok(Dimension::Rate) => bits_per_sec(value),
            Ok(Dimension::Time) => span(value),
            _ => format!("{value:.2}"),
        }
    }

    /// What it is compared with, as text.
    pub(crate) fn against(&self) -> String {
        match &self.compared {
            Some(name) => name.clone(),
            None => self.told(self.bound),
        }
    }
}
