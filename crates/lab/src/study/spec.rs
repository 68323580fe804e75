//! A study's file.

use super::shelf::Text;
use crate::scenario::value::{self, Entry, Value};
use crate::scenario::{Draft, ScenarioError};
use crate::sweep::{Sweep, SweepError};

/// A sweep, or a scenario alone, that can be run on any engine.
#[derive(Debug, Clone)]
pub struct Study {
    /// The name of its file.
    pub name: String,
    /// The file, for people.
    pub place: String,
    /// What is run.
    pub sweep: Sweep,
    /// Whether the records keep their samples over time. Those of hundreds of runs would need gigabytes: who only asks for
    /// summaries and transfers does without.
    pub keeps_samples: bool,
}

/// How much of a study is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Length {
    /// All of it.
    #[default]
    Whole,
    /// What its `[quick]` makes of it.
    Quick,
}

/// The table that says what a first impression does otherwise.
const QUICK: &str = "quick";

impl Study {
    /// Reads a study. What says `scenario` is a sweep, everything else is a scenario. With [`Length::Quick`], the fields
    /// in `[quick]` are replaced; of a field that varies, the values in its list are kept and the others are left out.
    ///
    /// # Errors
    ///
    /// The text makes no sense. Points are not checked yet.
    pub fn read(text: &Text, length: Length) -> Result<Study, SweepError> {
        let entries = Value::from_toml(&text.text)?;
        let (quick, rest): (Vec<Entry>, Vec<Entry>) = entries
            .iter()
            .cloned()
            .partition(|entry| entry.key == QUICK);
        let numbered = |mut error: ScenarioError| {
            error.line = error.line.or(value::line_of(&entries, &error.field));
            SweepError::Text(error)
        };
        let is_sweep = rest.iter().any(|entry| entry.key == "scenario");
        let mut sweep = match is_sweep {
            true => {
                if rest.iter().any(|entry| entry.key == "engine") {
                    let reason = "a study has none; it is up to the command";
                    return Err(numbered(ScenarioError::new("engine", reason)));
                }
                Sweep::read(&rest, &text.directory)?
            }
            false => Sweep::alone(Draft::new(rest, &text.directory)),
        };
        if length == Length::Quick {
            for entry in &quick {
                shorten(&mut sweep, &entry.value).map_err(|error| numbered(error.within(QUICK)))?;
            }
        }
        Ok(Study {
            name: text.name.clone(),
            place: text.place.clone(),
            sweep,
            keeps_samples: true,
        })
    }
}

fn shorten(sweep: &mut Sweep, quick: &Value) -> Result<(), ScenarioError> {
    let fields = quick.entries("a table of fields, such as duration = \"5s\"")?;
    fields.iter().try_for_each(|field| {
        let shortened = match &field.value {
            Value::List(kept) => sweep.keep(&field.key, kept),
            value => sweep.replace(&field.key, value),
        };
        shortened.map_err(|mut error| {
            error.line = error.line.or(field.line);
            error
        })
    })
}
