//! A calibration from the files of its cases, and what there is to tell when its runs are done.

use super::comparison::compare;
use super::contender::Pair;
use super::page::Compared;
use super::plan::{Calibration, Case, Choice, Kept, Side};
use super::set::Set;
use crate::runs::Store;
use crate::study::{Shelf, ShelfError};
use crate::sweep::SweepError;
use units::hint;

/// Why there is nothing to calibrate. Prints as one line.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CalibrationError {
    /// There is no file.
    #[error(transparent)]
    Shelf(#[from] ShelfError),
    /// A set makes no sense.
    #[error("{place}: {error}")]
    Set {
        /// Its file.
        place: String,
        /// What is wrong.
        error: Box<SweepError>,
    },
    /// A pattern is of no case's name. Also has the hint on a near one, and the patterns of all.
    #[error(
        "no case is called {name}; --list shows those that there are, with patterns such as {patterns}{hint}"
    )]
    Unknown {
        /// The pattern.
        name: String,
        /// `; did you mean …?`, or nothing.
        hint: String,
        /// A pattern for each first part of the names.
        patterns: String,
    },
    /// No case is left.
    #[error("there is no case that both sides can run")]
    Nothing,
}

/// The error that none of the cases has this name, or a name of this pattern.
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
    /// The chosen cases of the shelf's sets for these contenders. There is at least one that both can run.
    ///
    /// # Errors
    ///
    /// A file is missing or makes no sense, or nothing is left of the choice.
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

    /// The sides in the order in which they are run: virtual time first, so that a mistake in the simulator shows before an
    /// hour has gone by. Two of the same engine in real time are one group: they take turns, as the machine is not the same
    /// all the time.
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

    /// How long the runs of all cases take, one after the other, on the engines in real time; or on one, if none is.
    pub fn real_time_s(&self) -> f64 {
        let duration =
            |case: &Case| Some(case.scenario.duration?.as_secs_f64() * case.often as f64);
        let durations = self.cases.iter().filter_map(duration);
        let real = (self.sides.iter()).filter(|side| side.contender.engine.is_real_time());
        let runs = self.repeats * (real.count().max(1) as u64);
        durations.sum::<f64>() * runs as f64
    }

    /// The cases that both engines can run, compared, with what the store has of both.
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

    /// How many more runs some cases have, in parentheses after a space; empty if none has more.
    pub fn exception(&self) -> String {
        let often = self.cases.iter().map(|case| case.often).max();
        let often = often.filter(|often| *often > 1);
        often.map_or(String::new(), |often| {
            format!(" ({often} times as many of those that chance decides)")
        })
    }

    /// Where the results come from: one line each.
    pub fn notes(&self, store: &Store<Kept>, command: &str) -> Vec<String> {
        let runs = self.sides.each_ref().map(|side| {
            let runs = report::count(side.repeats, "run");
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
