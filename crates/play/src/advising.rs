//! Advice for the path of a scenario, as `fullpipe advise --from` gives it. Whoever asks runs what the plan says.

use std::path::Path;

use advise::words;
use advise::{
    Advice, Case, Choice, Gathering, Goal, Json, Measured, Outcomes, Question, RangedPath, Rows,
    Sampling,
};
use congestion::ControllerKind;
use document::DocumentError;
use serde::Serialize;

use crate::bounds;
use crate::play::read;

/// The candidates of `fullpipe advise`.
const CANDIDATES: [ControllerKind; 4] = [
    ControllerKind::Bbr3,
    ControllerKind::Bbr1,
    ControllerKind::Cubic,
    ControllerKind::Reno,
];

/// Advice under way: the runs that it takes, and what those that are over have measured. Errors are one line for people.
#[derive(Debug)]
pub struct Advising {
    sampling: Sampling,
    cases: Vec<Case>,
    gathering: Gathering,
}

/// The runs to do.
#[derive(Serialize)]
struct Plan {
    /// What the runs are, in a line.
    about: String,
    /// The scenario of each run as text.
    scenarios: Vec<String>,
}

/// The advice, in words, as tables and as data.
#[derive(Serialize)]
struct Answer<'a> {
    goals: Vec<OfGoal>,
    /// A table of what each candidate does.
    candidates: Rows,
    /// What the columns of this table are.
    columns: String,
    /// What `fullpipe advise --json` prints for the default goal.
    summary: Json<'a>,
}

/// What `fullpipe advise` prints for a goal.
#[derive(Serialize)]
struct OfGoal {
    goal: Goal,
    sentences: Vec<String>,
    /// A table of the choice against each rival, if there are any.
    rivals: Option<Rows>,
}

impl OfGoal {
    fn of(advice: &Advice<'_>, choice: &Choice) -> OfGoal {
        let mut lines = vec![words::headline(advice, choice)];
        lines.extend(words::sentences(advice, choice));
        lines.push(words::others(advice, choice.goal));
        OfGoal {
            goal: choice.goal,
            sentences: lines.iter().map(|line| words::sentence(line)).collect(),
            rivals: advise::rivals(choice),
        }
    }
}

impl Advising {
    /// Plans the runs for the path of the scenario with this text.
    ///
    /// # Errors
    ///
    /// The text is no scenario of one path, or it or one of the runs is too large.
    pub fn begin(text: &str) -> Result<Advising, String> {
        read(text)?;
        let begun = || {
            let mut path = RangedPath::parse(text, Path::new(""))?;
            path.complete();
            let question = Question {
                path,
                controllers: CANDIDATES.to_vec(),
                paths: None,
                duration: None,
                seed: 1,
            };
            let sampling = question.sampling()?;
            let cases = sampling.cases(&question.controllers);
            for case in &cases {
                let checked = bounds::check(&sampling.scenario(case));
                checked.map_err(|error| question.path.located(error))?;
            }
            Ok(Advising {
                gathering: Gathering::new(cases.len()),
                sampling,
                cases,
            })
        };
        begun().map_err(|error: DocumentError| error.to_string())
    }

    /// The sampled paths, and the length of each run.
    pub fn sampling(&self) -> &Sampling {
        &self.sampling
    }

    /// The runs to do.
    pub fn cases(&self) -> &[Case] {
        &self.cases
    }

    /// What the runs are, in a line.
    pub fn about(&self) -> String {
        words::runs(&self.sampling, self.cases.len())
    }

    /// The runs to do as JSON: `about`, and the text of each as `scenarios`.
    pub fn plan(&self) -> Vec<u8> {
        let scenarios = self.cases.iter();
        let plan = Plan {
            about: self.about(),
            scenarios: scenarios
                .map(|case| self.sampling.scenario(case).to_string())
                .collect(),
        };
        serde_json::to_vec(&plan).expect("texts")
    }

    /// Keeps what the run at this place of the plan has measured.
    ///
    /// # Errors
    ///
    /// There is no such run.
    pub fn note(&mut self, place: usize, measured: Measured) -> Result<(), String> {
        if place >= self.cases.len() {
            return Err(format!("the plan has no run {place}"));
        }
        self.gathering.note(place, measured);
        Ok(())
    }

    /// The advice from the runs that were noted, as JSON: for each of the `goals` its `sentences` and a table of text, `rivals`, with
    /// `headings` and `rows`; such a table of all `candidates`, whose `columns` are explained; and the `summary` that
    /// `fullpipe advise --json` prints.
    ///
    /// # Errors
    ///
    /// There is no path on which all runs ended, or on which data arrived.
    pub fn answer(&self) -> Result<Vec<u8>, String> {
        let outcomes = Outcomes::new(&CANDIDATES, &self.cases, &self.gathering);
        let Some(advice) = Advice::new(&outcomes, &self.sampling) else {
            return Err(words::nothing(&outcomes, &self.sampling));
        };
        let goals = advice.choices.iter();
        let answer = Answer {
            goals: goals.map(|choice| OfGoal::of(&advice, choice)).collect(),
            candidates: advise::candidates(&advice),
            columns: words::sentence(words::COLUMNS),
            summary: Json::new(&advice, Goal::default(), self.gathering.noted()),
        };
        serde_json::to_vec(&answer).map_err(|error| error.to_string())
    }
}
