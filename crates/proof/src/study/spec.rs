//! The file of a study.

use super::shelf::Text;
use document::tree::{Entry, Node};
use document::{DocumentError, de};
use scenario::Draft;
use studies::runs::Plan;
use studies::sweep::{Sweep, SweepError, axis_label};

/// A sweep or a single scenario, for any engine.
#[derive(Debug, Clone)]
pub struct Study {
    /// The name of the file.
    pub name: String,
    /// The displayed path of the file.
    pub place: String,
    /// `caption`: one line about the runs, for use below a picture.
    pub caption: Option<String>,
    /// The sweep without alterations.
    pub sweep: Sweep,
    /// True if records have samples over time. Samples of hundreds of runs need gigabytes; figures of summaries and
    /// transfers do without.
    pub keeps_samples: bool,
    length: Length,
    /// The alterations with their conditions, in this order.
    alterations: Vec<(When, Node)>,
}

/// The condition of an alteration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum When {
    On(lab::EngineKind),
    Quick,
}

/// The length of a study.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Length {
    /// The whole study.
    #[default]
    Whole,
    /// The first impression of its `[quick]`.
    Quick,
}

/// The table of alterations for a first impression.
const QUICK: &str = "quick";

/// The key of the caption.
const CAPTION: &str = "caption";

/// True if the entry is no part of the sweep or scenario.
fn is_own(entry: &Entry) -> bool {
    [QUICK, CAPTION].contains(&entry.key.as_str()) || entry.key.parse::<lab::EngineKind>().is_ok()
}

impl Study {
    /// Reads a study. A text with `scenario` is a sweep; any other is a scenario. With [`Length::Quick`], fields in
    /// `[quick]` are replaced; of a varying field, only the listed values are kept. `[linux]` and the like do the same
    /// for an engine.
    ///
    /// # Errors
    ///
    /// The text is invalid. Points are not checked yet.
    pub fn read(text: &Text, length: Length) -> Result<Study, SweepError> {
        let entries = Node::from_toml(&text.text)?;
        let (own, rest): (Vec<Entry>, Vec<Entry>) = entries.iter().cloned().partition(is_own);
        let numbered = |error: DocumentError| SweepError::Text(error.on_line_in(&entries));
        let is_sweep = rest.iter().any(|entry| entry.key == "scenario");
        let sweep = if is_sweep {
            if rest.iter().any(|entry| entry.key == "engine") {
                let reason = "a study has none; it is up to the command";
                return Err(numbered(DocumentError::new("engine", reason)));
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
            // Mistakes show at once, rather than when the engine or a first impression is requested.
            let checked = check(&sweep, &value).and_then(|()| alter(&mut sweep.clone(), &value));
            checked.map_err(|error| numbered(error.within(&key)))?;
            let when = match key.parse() {
                Ok(engine) => When::On(engine),
                Err(_) => When::Quick,
            };
            alterations.push((when, value));
        }
        // A first impression overrides an engine.
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

    /// The differences of a first impression from the file, if there are any: `duration = 5s; path.loss = 1%`.
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

    /// The plan for an engine.
    ///
    /// # Errors
    ///
    /// A point is invalid, or the alterations leave nothing to run.
    pub fn plan(&self, engine: lab::EngineKind) -> Result<Plan, SweepError> {
        let mut sweep = self.sweep.clone();
        sweep.engine = engine;
        let applies = |when: When| match when {
            When::Quick => self.length == Length::Quick,
            When::On(of) => of == engine,
        };
        let mut altered = self.alterations.iter().filter(|(when, _)| applies(*when));
        altered.try_for_each(|(_, value)| alter(&mut sweep, value))?;
        // No results are kept, so the program's build does not matter.
        sweep.plan("")
    }
}

/// Checks that every kept value is one of its axis.
fn check(sweep: &Sweep, fields: &Node) -> Result<(), DocumentError> {
    for field in fields.entries(EXAMPLE)? {
        if let (Node::List(kept), Some(known)) = (&field.value, sweep.values(&field.key)) {
            let unknown = kept
                .iter()
                .map(axis_label)
                .find(|kept| !known.contains(kept));
            if let Some(unknown) = unknown {
                let reason = format!("the axis has no {unknown}, but {}", known.join(", "));
                let mut error = DocumentError::new(&field.key, reason);
                error.line = field.line;
                return Err(error);
            }
        }
    }
    Ok(())
}

const EXAMPLE: &str = "a table of fields, such as duration = \"5s\"";

/// Replaces fields of the scenario, and drops values of varying fields.
fn alter(sweep: &mut Sweep, fields: &Node) -> Result<(), DocumentError> {
    let fields = fields.entries(EXAMPLE)?;
    fields.iter().try_for_each(|field| {
        let altered = match &field.value {
            Node::List(kept) => sweep.keep(&field.key, kept),
            value if field.key == "repeats" => de::read(value).and_then(|repeats| match repeats {
                0 => Err(DocumentError::new(
                    "repeats",
                    "0 repeats are too few; give 1 or more",
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
