//! The experiments and criteria, as data.

use std::sync::LazyLock;

use document::de;
use scenario::{Draft, Scenario};
use serde::{Deserialize, Serialize};

/// What RFC 9743 asks.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Criteria {
    /// The experiments.
    #[serde(rename = "experiment")]
    pub experiments: Vec<Experiment>,
    /// What no run answers.
    #[serde(rename = "statement", default)]
    pub statements: Vec<Statement>,
}

/// A scenario, and the criteria that its runs answer.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Experiment {
    /// Its name.
    pub name: String,
    /// What is run, in words.
    pub about: String,
    /// Whether it runs over the drawn paths, instead of its own.
    #[serde(default)]
    pub drawn: bool,
    /// The scenario as TOML, without a name and a seed. Flows with the controller `rust:Subject` are the subject's.
    pub scenario: String,
    /// What is judged.
    pub criterion: Vec<Criterion>,
}

/// A question of the RFC, and the rule for its verdict.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Criterion {
    /// Its name.
    pub name: String,
    /// The RFC's section.
    pub section: String,
    /// The question, in words.
    pub asks: String,
    /// The group of flows that is measured; all flows by default.
    pub of: Option<usize>,
    /// The name of the [measure](record::Measure).
    pub measure: String,
    /// The direction of improvement.
    pub better: Better,
    /// Values and differences below it do not count; in the measure's unit.
    pub floor: f64,
    /// The reference with which the subject is compared.
    #[serde(default = "cubic")]
    pub compared: String,
    /// A fixed value with which the subject is compared instead.
    pub bound: Option<f64>,
    /// Up to so many times as bad as what is compared is tolerated.
    pub tolerated: f64,
    /// Who suffers if it is worse.
    #[serde(default)]
    pub protects: Protects,
}

/// A direction of improvement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Better {
    /// More is better.
    More,
    /// Less is better.
    Less,
}

/// Who suffers from a controller that is worse by a criterion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Protects {
    /// Whoever uses the controller.
    #[default]
    Itself,
    /// Whoever shares the path.
    Others,
}

/// A part of the RFC that no run answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Statement {
    /// The RFC's section.
    pub section: String,
    /// The section's title.
    pub title: String,
    /// What there is to say.
    pub text: String,
}

fn cubic() -> String {
    "cubic".to_string()
}

impl Criteria {
    /// The criteria of RFC 9743.
    pub fn rfc9743() -> &'static Criteria {
        static RFC9743: LazyLock<Criteria> = LazyLock::new(|| {
            let read = de::read_toml(include_str!("../criteria.toml"));
            let (criteria, _) = read.expect("the criteria are valid");
            criteria
        });
        &RFC9743
    }

    /// Only these criteria, with the experiments that they need.
    pub fn only(&self, names: &[&str]) -> Criteria {
        let mut kept = self.clone();
        for experiment in &mut kept.experiments {
            let criteria = &mut experiment.criterion;
            criteria.retain(|one| names.contains(&one.name.as_str()));
        }
        kept.experiments.retain(|one| !one.criterion.is_empty());
        kept
    }

    /// The names of all criteria, in their order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let criteria = self.experiments.iter().flat_map(|one| &one.criterion);
        criteria.map(|one| one.name.as_str())
    }
}

impl Experiment {
    /// Its scenario.
    pub(crate) fn template(&self) -> Scenario {
        let text = format!("name = \"{}\"\n{}", self.name, self.scenario);
        let read = Draft::parse(&text, "".as_ref()).and_then(|draft| {
            let mut draft = draft;
            if self.drawn {
                draft.set("duration", "1s")?;
            }
            draft.read()
        });
        read.unwrap_or_else(|error| panic!("{}: {error}", self.name))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use record::Measure;

    use super::*;

    #[test]
    fn the_criteria_name_measures_and_are_named_once() {
        let criteria = Criteria::rfc9743();
        let mut seen = BTreeSet::new();
        for experiment in &criteria.experiments {
            experiment.template();
            for criterion in &experiment.criterion {
                assert!(seen.insert(&criterion.name), "{}", criterion.name);
                Measure::named(&criterion.measure).unwrap();
                assert!(criterion.floor > 0.0 && criterion.tolerated > 1.0);
                assert!(
                    crate::REFERENCES
                        .iter()
                        .any(|one| one.name() == criterion.compared)
                );
            }
        }
    }

    #[test]
    fn every_section_of_the_rfc_has_an_answer() {
        let criteria = Criteria::rfc9743();
        let asked = criteria.experiments.iter().flat_map(|one| &one.criterion);
        let asked = asked.map(|one| one.section.as_str());
        let said = criteria.statements.iter().map(|one| one.section.as_str());
        let answered: BTreeSet<&str> = asked.chain(said).collect();
        let sections = [(5, 1, 5), (5, 2, 3), (5, 3, 2)];
        let deep = sections
            .iter()
            .flat_map(|(of, part, last)| (1..=*last).map(move |one| format!("{of}.{part}.{one}")));
        let flat = (1..=4).map(|one| format!("6.{one}"));
        let special = (1..=11).map(|one| format!("7.{one}"));
        for section in deep.chain(flat).chain(special) {
            assert!(answered.contains(section.as_str()), "{section}");
        }
    }
}
