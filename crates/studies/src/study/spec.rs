//! A study's file.

use super::shelf::Text;
use crate::runs::Plan;
use crate::sweep::{Sweep, SweepError, axis_label};
use scenario::tree::{Entry, Node};
use scenario::{Draft, ScenarioError, de};

/// A sweep, or a scenario alone, that can be run on any engine.
#[derive(Debug, Clone)]
pub struct Study {
    /// The name of its file.
    pub name: String,
    /// The file, for people.
    pub place: String,
    /// `caption`: what there is to know of the runs, for below a picture of them; one line.
    pub caption: Option<String>,
    /// What is run, if nothing is done otherwise.
    pub sweep: Sweep,
    /// Whether the records keep their samples over time. Those of hundreds of runs would need gigabytes: who only asks for
    /// summaries and transfers does without.
    pub keeps_samples: bool,
    length: Length,
    /// What is done otherwise, in which case; in this order.
    alterations: Vec<(When, Node)>,
}

/// When something is done otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum When {
    On(lab::EngineKind),
    Quick,
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

/// What the runs are, in words.
const CAPTION: &str = "caption";

/// What is no part of the sweep or scenario.
fn is_own(entry: &Entry) -> bool {
    [QUICK, CAPTION].contains(&entry.key.as_str()) || entry.key.parse::<lab::EngineKind>().is_ok()
}

impl Study {
    /// Reads a study. What says `scenario` is a sweep, everything else is a scenario. With [`Length::Quick`], the fields
    /// in `[quick]` are replaced; of a field that varies, the values in its list are kept and the others are left out.
    /// `[linux]` and the like do the same for an engine.
    ///
    /// # Errors
    ///
    /// The text makes no sense. Points are not checked yet.
    pub fn read(text: &Text, length: Length) -> Result<Study, SweepError> {
        let entries = Node::from_toml(&text.text)?;
        let (own, rest): (Vec<Entry>, Vec<Entry>) = entries.iter().cloned().partition(is_own);
        let numbered = |error: ScenarioError| SweepError::Text(error.on_line_in(&entries));
        let is_sweep = rest.iter().any(|entry| entry.key == "scenario");
        let sweep = if is_sweep {
            if rest.iter().any(|entry| entry.key == "engine") {
                let reason = "a study has none; it is up to the command";
                return Err(numbered(ScenarioError::new("engine", reason)));
            }
            Sweep::read(&rest, &text.directory)?
        } else {
            Sweep::alone(Draft::new(rest, &text.directory))
        };
        let (mut caption, mut alterations) = (None, Vec::new());
        for Entry { key, value, .. } in own {
            if key == CAPTION {
                let text = value.text("a sentence or two");
                caption = Some(text.map_err(|error| numbered(error.within(&key)))?.into());
                continue;
            }
            // Mistakes show at once, and not when that engine or a first impression is asked for.
            let checked = check(&sweep, &value).and_then(|()| alter(&mut sweep.clone(), &value));
            checked.map_err(|error| numbered(error.within(&key)))?;
            let when = match key.parse() {
                Ok(engine) => When::On(engine),
                Err(_) => When::Quick,
            };
            alterations.push((when, value));
        }
        // A first impression has the last word.
        alterations.sort_by_key(|(when, _)| *when == When::Quick);
        Ok(Study {
            name: text.name.clone(),
            place: text.place.clone(),
            caption,
            sweep,
            keeps_samples: true,
            length,
            alterations,
        })
    }

    /// What a first impression does otherwise, if it is one and does: `duration = 5s; path.loss = 1%`.
    pub fn less(&self) -> Option<String> {
        if self.length != Length::Quick {
            return None;
        }
        let of_quick = self
            .alterations
            .iter()
            .filter(|(when, _)| *when == When::Quick);
        let fields = of_quick.filter_map(|(_, value)| value.entries(EXAMPLE).ok());
        let fields = fields.flatten().map(|field| {
            let value = match &field.value {
                Node::List(kept) => kept.iter().map(axis_label).collect::<Vec<_>>().join(", "),
                value => axis_label(value),
            };
            format!("{} = {value}", field.key)
        });
        let fields: Vec<String> = fields.collect();
        (!fields.is_empty()).then(|| fields.join("; "))
    }

    /// What is run on an engine.
    ///
    /// # Errors
    ///
    /// A point makes no sense, or what is done otherwise there leaves nothing to run.
    pub fn plan(&self, engine: lab::EngineKind) -> Result<Plan, SweepError> {
        let mut sweep = self.sweep.clone();
        sweep.engine = engine;
        let applies = |when: When| match when {
            When::Quick => self.length == Length::Quick,
            When::On(of) => of == engine,
        };
        let mut altered = self.alterations.iter().filter(|(when, _)| applies(*when));
        altered.try_for_each(|(_, value)| alter(&mut sweep, value))?;
        // Nothing is kept from one program to the next, so that it does not matter which one this is.
        sweep.plan("")
    }
}

/// Whether every value that is kept is there.
fn check(sweep: &Sweep, fields: &Node) -> Result<(), ScenarioError> {
    for field in fields.entries(EXAMPLE)? {
        if let (Node::List(kept), Some(known)) = (&field.value, sweep.values(&field.key)) {
            let unknown = kept
                .iter()
                .map(axis_label)
                .find(|kept| !known.contains(kept));
            if let Some(unknown) = unknown {
                let reason = format!("the axis has no {unknown}, but {}", known.join(", "));
                let mut error = ScenarioError::new(&field.key, reason);
                error.line = field.line;
                return Err(error);
            }
        }
    }
    Ok(())
}

const EXAMPLE: &str = "a table of fields, such as duration = \"5s\"";

/// Replaces fields of the scenario, and leaves out values of those that vary.
fn alter(sweep: &mut Sweep, fields: &Node) -> Result<(), ScenarioError> {
    let fields = fields.entries(EXAMPLE)?;
    fields.iter().try_for_each(|field| {
        let altered = match &field.value {
            Node::List(kept) => sweep.keep(&field.key, kept),
            value if field.key == "repeats" => de::read(value).and_then(|repeats| match repeats {
                0 => Err(ScenarioError::new(
                    "repeats",
                    "0 repeats are no runs; give 1 or more",
                )),
                repeats => {
                    sweep.repeats = repeats;
                    Ok(())
                }
            }),
            value => sweep.replace(&field.key, value),
        };
        altered.map_err(|mut error| {
            error.line = error.line.or(field.line);
            error
        })
    })
}
