//! Opens a calibration from the files of its cases, and collects its results.

use super::comparison::compare;
use super::contender::Pair;
use super::page::Compared;
use super::plan::{Calibration, Case, Choice, Kept, Side};
use super::set::Set;
use crate::study::{Shelf, ShelfError};
use studies::runs::Store;
use studies::sweep::SweepError;
use tables::numbers;
use units::hint;

/// The reasons for which a calibration cannot be opened. Each prints as one line.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CalibrationError {
    /// A file is missing.
    #[error(transparent)]
    Shelf(#[from] ShelfError),
    /// A set is invalid.
    #[error("{place}: {error}")]
    Set {
        /// The file of the set.
        place: String,
        /// The error in the set.
        error: Box<SweepError>,
    },
    /// A pattern matches no case.
    #[error(
        "no case is named {name}; --list shows all names, with patterns such as {patterns}{hint}"
    )]
    Unknown {
        /// The pattern.
        name: String,
        /// `; did you mean …?`, or empty.
        hint: String,
        /// A pattern for each first part of the cases' names.
        patterns: String,
    },
    /// No case can run on both sides.
    #[error("there is no case that both sides can run")]
    Nothing,
}

/// The error that no case matches this name or pattern.
fn unknown(name: String, cases: &[Case]) -> CalibrationError {
    let mut patterns: Vec<String> = Vec::new();
    for case in cases {
        let first = case.name.split('-').next().unwrap_or_default();
        let pattern = format!("{first}-*");
        if !patterns.contains(&pattern) {
            patterns.push(pattern);
        }
    }
    let names = cases.iter().map(|case| case.name.as_str());
    let known: Vec<&str> = patterns.iter().map(String::as_str).chain(names).collect();
    CalibrationError::Unknown {
        hint: hint(&name, &known),
        patterns: patterns.join(", "),
        name,
    }
}

impl Calibration {
    /// The chosen cases of the shelf's sets for these contenders. At least one can run on both.
    ///
    /// # Errors
    ///
    /// A file is missing or invalid, a pattern matches no case, or no chosen case can run on both sides.
    pub fn open(
        shelf: &Shelf,
        choice: &Choice,
        pair: &Pair,
        repeats: u64,
    ) -> Result<Calibration, CalibrationError> {
        let texts = shelf.all()?;
        let wrong = |place: usize, error| CalibrationError::Set {
            place: texts
                .get(place)
                .map(|text| text.place.clone())
                .unwrap_or_default(),
            error: Box::new(error),
        };
        let sets = texts.iter().enumerate().map(|(place, text)| {
            Set::parse(&text.text, &text.directory).map_err(|error| wrong(place, error))
        });
        let sets: Vec<Set> = sets.collect::<Result<_, _>>()?;
        let calibration = Calibration::new(&sets, choice, pair, repeats)
            .map_err(|(place, error)| wrong(place, error))?;
        let cases = &calibration.cases;
        let mut patterns = choice.patterns.iter();
        let unmatched = patterns.find(|one| !cases.iter().any(|case| one.matches(&case.name)));
        if let Some(pattern) = unmatched {
            let all = Choice {
                patterns: Vec::new(),
                ..choice.clone()
            };
            let all = Calibration::new(&sets, &all, pair, repeats);
            let all = all.map_err(|(place, error)| wrong(place, error))?;
            return Err(unknown(pattern.to_string(), &all.cases));
        }
        if cases.iter().all(|case| case.skipped.is_some()) {
            return Err(CalibrationError::Nothing);
        }
        Ok(calibration)
    }

    /// The sides in the order in which they are run. Virtual time comes first, so that a mistake in the simulator shows
    /// early. Two sides on the same engine in real time form one group and take turns, since the machine's load changes
    /// over time.
    pub fn in_order(&self) -> Vec<Vec<&Side>> {
        let [first, second] = &self.sides;
        let engines = [first, second].map(|side| side.contender.engine);
        if engines[0] == engines[1] && engines[0].is_real_time() {
            return vec![vec![first, second]];
        }
        let mut sides = vec![vec![first], vec![second]];
        sides.sort_by_key(|group| {
            group
                .iter()
                .any(|side| side.contender.engine.is_real_time())
        });
        sides
    }

    /// The total duration of all cases' runs in sequence, on the engines in real time; on one engine if none is.
    pub fn real_time_s(&self) -> f64 {
        let duration =
            |case: &Case| Some(case.scenario.duration?.as_secs_f64() * case.often as f64);
        let durations = self.cases.iter().filter_map(duration);
        let real = (self.sides.iter()).filter(|side| side.contender.engine.is_real_time());
        let runs = self.repeats * (real.count().max(1) as u64);
        durations.sum::<f64>() * runs as f64
    }

    /// The comparisons of all cases that both engines can run, from the results in the store.
    pub fn compared<'s>(&'s self, store: &'s Store<Kept>) -> Vec<Compared<'s>> {
        let cases = self.cases.iter().enumerate();
        let run = cases.filter(|(_, case)| case.skipped.is_none());
        run.map(|(place, case)| {
            let runs = self.observations(place, store);
            let [first, second] = &runs;
            (compare(case, [first, second]), runs)
        })
        .collect()
    }

    /// A remark, in parentheses after a space, on cases that are run more often. Empty if there are none.
    pub fn exception(&self) -> String {
        let often = self.cases.iter().map(|case| case.often).max();
        let often = often.filter(|often| *often > 1);
        often.map_or(String::new(), |often| {
            format!(" ({often} times as many of those that chance decides)")
        })
    }

    /// The origin of the results, one line each.
    pub fn notes(&self, store: &Store<Kept>, command: &str) -> Vec<String> {
        let runs = self.sides.each_ref().map(|side| {
            let runs = numbers::count(side.repeats, "run");
            format!("{runs} of each case on {}", side.contender.name)
        });
        let (runs, chance) = (runs.join(", "), self.exception());
        let version = env!("CARGO_PKG_VERSION");
        let made = format!(
            "Made with `{command}` by fullpipe {version}; {runs}{chance}, seeds derived from 1 as in a sweep."
        );
        let origins = self.sides.iter().filter_map(|side| side.origin(store));
        std::iter::once(made).chain(origins).collect()
    }
}
