//! The experiments and criteria, as data.

use std::sync::LazyLock;

use document::de;
use scenario::{Draft, Scenario};
use serde::{Deserialize, Serialize};
use units::UnknownName;

/// What RFC 9743 asks.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Criteria {
    /// The sections that have an answer, with their titles.
    #[serde(rename = "section")]
    pub sections: Vec<Section>,
    /// The experiments.
    #[serde(rename = "experiment")]
    pub experiments: Vec<Experiment>,
    /// What no run answers.
    #[serde(rename = "statement", default)]
    pub statements: Vec<Statement>,
}

/// A section of the RFC.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Section {
    /// Its number, such as `5.1.1`.
    pub number: String,
    /// Its title.
    pub title: String,
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

/// A section of the RFC that no run answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Statement {
    /// The number of the RFC's section.
    pub section: String,
    /// The section's title.
    #[serde(default)]
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
            let (mut criteria, _): (Criteria, _) = read.expect("the criteria are valid");
            for place in 0..criteria.statements.len() {
                let title = criteria.title(&criteria.statements[place].section);
                criteria.statements[place].title = title.to_string();
            }
            criteria
        });
        &RFC9743
    }

    /// The criteria of RFC 9743 with these names, and the experiments that they need; all without names.
    ///
    /// # Errors
    ///
    /// There is no criterion with one of the names.
    pub fn named(names: &[impl AsRef<str>]) -> Result<Criteria, UnknownName> {
        let all = Criteria::rfc9743();
        let mut kept = all.clone();
        let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
        if names.is_empty() {
            return Ok(kept);
        }
        if let Some(unknown) = names
            .iter()
            .find(|name| !all.names().any(|one| one == **name))
        {
            return Err(UnknownName::new("criterion", unknown, all.names()));
        }
        for experiment in &mut kept.experiments {
            let criteria = &mut experiment.criterion;
            criteria.retain(|one| names.contains(&one.name.as_str()));
        }
        kept.experiments.retain(|one| !one.criterion.is_empty());
        Ok(kept)
    }

    /// The title of the section with this number.
    pub fn title(&self, number: &str) -> &str {
        let mut sections = self.sections.iter();
        let found = sections.find(|one| one.number == number);
        found.map_or("", |one| &one.title)
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
                assert!(criterion.floor > 0.0);
                // docs/evaluate.md has the reasons for these, and for no other.
                let tolerated = match (criterion.name.as_str(), criterion.protects) {
                    ("circuit-breaker", _) => &[1.0][..],
                    (_, Protects::Others) => &[1.5],
                    (_, Protects::Itself) => &[1.25, 1.5],
                };
                assert!(
                    tolerated.contains(&criterion.tolerated),
                    "{}",
                    criterion.name
                );
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
        let titled = criteria.sections.iter().map(|one| one.number.as_str());
        assert_eq!(titled.collect::<BTreeSet<_>>(), answered);
        let deep = [("5.1", 5), ("5.2", 3), ("5.3", 2), ("6", 4), ("7", 11)];
        for (of, last) in deep {
            for part in 1..=last {
                let section = format!("{of}.{part}");
                assert!(answered.contains(section.as_str()), "{section}");
            }
        }
    }
}
