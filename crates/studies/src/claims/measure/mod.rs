//! Numbers that claims are about, each a pure function of a record.

mod app;
mod cycle;
mod delay;
mod host;
mod loss;
mod probe_rtt;
mod recovery;
mod rounds;
mod share;
mod startup;
mod steps;
mod subject;
mod transfers;

pub use subject::{Flows, Select, Subject};

use crate::runs::Unit;
use scenario::nearest;

/// How a number is had from a record.
#[derive(Debug)]
pub struct Measure {
    /// Its name in the table of claims.
    pub name: &'static str,
    /// What it counts.
    pub unit: Unit,
    /// What it is.
    pub about: &'static str,
    /// The number; nothing if the record does not contain it.
    pub of: fn(&Subject<'_>) -> Option<f64>,
}

/// No measure has this name. Says which one is meant, or all that there are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownMeasure(pub String);

impl Measure {
    /// All measures, by subject.
    pub fn all() -> impl Iterator<Item = &'static Measure> {
        [
            share::MEASURES,
            delay::MEASURES,
            host::MEASURES,
            loss::MEASURES,
            startup::MEASURES,
            cycle::MEASURES,
            steps::MEASURES,
            probe_rtt::MEASURES,
            recovery::MEASURES,
            app::MEASURES,
            transfers::MEASURES,
        ]
        .into_iter()
        .flatten()
    }

    /// The measure with this name.
    ///
    /// # Errors
    ///
    /// There is none.
    pub fn named(name: &str) -> Result<&'static Measure, UnknownMeasure> {
        let found = Measure::all().find(|measure| measure.name == name);
        found.ok_or_else(|| {
            let names: Vec<&str> = Measure::all().map(|measure| measure.name).collect();
            UnknownMeasure(match nearest(name, &names) {
                Some(near) => format!("is no measure; did you mean `{near}`?"),
                None => format!("is no measure; known: {}", names.join(", ")),
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_near_ones_are_guessed() {
        let mut names: Vec<&str> = Measure::all().map(|measure| measure.name).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
        assert_eq!(Measure::named("goodput").unwrap().name, "goodput");
        let UnknownMeasure(hint) = Measure::named("limit_shar").unwrap_err();
        assert!(hint.contains("`limit_share`"), "{hint}");
    }
}
