//! Reads SWEEP.toml.

use std::path::{Path, PathBuf};

use super::axis::{Axis, label, on_line};
use super::metric::Metric;
use crate::runs::{MAX_RUNS, Point, UnreadableTrace};
use document::tree::{Entry, Node};
use document::{DocumentError, de};
use files::regular;
use scenario::Draft;
use serde::{Deserialize, Deserializer};
use units::bounds::whole;

/// The most varying fields, since each is compared with every other.
const MAX_FIELDS: usize = 1000;

/// A scenario, its varying fields, and the number of repeats.
#[derive(Debug, Clone)]
pub struct Sweep {
    /// `name`: the name of the sweep. By default the scenario's.
    pub name: Option<String>,
    /// `engine`: the engine.
    pub engine: lab::EngineKind,
    /// `repeats`: the number of runs of each point, with different seeds. By default one.
    pub repeats: u64,
    /// `paired`: varying fields that do not change the seed. Runs that differ only in them have the same random
    /// numbers.
    pub paired: Vec<String>,
    /// `[axes]`, then each `[[together]]`.
    pub axes: Vec<Axis>,
    /// `[plot]`: the page's initial plot.
    pub plot: PlotSpec,
    /// `scenario`: the scenario common to all points.
    base: Draft,
    /// The scenario's file, if it is not in the sweep's own text.
    base_file: Option<PathBuf>,
}

/// `[plot]`: the page's initial plot. By default it suits the axes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(
    default,
    deny_unknown_fields,
    expecting = "a table such as { y = \"goodput_share\" }"
)]
pub struct PlotSpec {
    /// `y`: the plotted metric.
    #[serde(deserialize_with = "units::parsed")]
    pub y: Metric,
    /// `x`: the field on the horizontal axis.
    pub x: Option<String>,
    /// `scale`: the scale of x.
    pub scale: Option<Scale>,
}

units::named! {
    /// The scale of a plot's axis.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Scale, "scale" {
        /// Equal distances are equal differences.
        Linear = "linear",
        /// Equal distances are equal ratios.
        Log = "log",
        /// The values side by side, at equal distances.
        Even = "even",
    }
}

units::as_text!(Scale);

/// The reasons for which a sweep cannot be run. Each prints as one line.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SweepError {
    /// The text of the sweep is invalid.
    #[error(transparent)]
    Text(#[from] DocumentError),
    /// The scenario's file is invalid.
    #[error("scenario {}: {error}", .file.display())]
    Base {
        /// The file.
        file: PathBuf,
        /// The error in it.
        error: DocumentError,
    },
    /// A point's scenario is invalid.
    #[error("{place}{error}")]
    Point {
        /// The line and value of the axis at fault, or the values of the point.
        place: String,
        /// The error in it.
        error: DocumentError,
        /// The replaced field at fault, if there is one.
        culprit: Option<String>,
    },
    /// The grid is too large.
    #[error("these axes and repeats are more than {MAX_RUNS} runs; give fewer values")]
    TooMany,
    /// A trace cannot be read.
    #[error(transparent)]
    Trace(#[from] UnreadableTrace),
}

/// A sweep as written in TOML.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    name: Option<String>,
    scenario: Option<Node>,
    #[serde(default)]
    engine: lab::EngineKind,
    #[serde(default = "once", deserialize_with = "runs")]
    repeats: u64,
    #[serde(default)]
    paired: Vec<String>,
    axes: Option<Node>,
    #[serde(default)]
    together: Vec<Node>,
    #[serde(default)]
    plot: PlotSpec,
}

const fn once() -> u64 {
    1
}

fn runs<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    whole(
        deserializer,
        1..=u64::MAX,
        "repeats are too few; give 1 or more",
    )
}

impl Sweep {
    /// Reads a sweep from `text`. File names in it are relative to `directory`.
    ///
    /// # Errors
    ///
    /// The text or the scenario's file is invalid. Points are not checked yet.
    pub fn parse(text: &str, directory: &Path) -> Result<Sweep, SweepError> {
        Sweep::read(&Node::from_toml(text)?, directory)
    }

    /// As [`Sweep::parse`], from the text's entries.
    ///
    /// # Errors
    ///
    /// Those of [`Sweep::parse`].
    pub fn read(entries: &[Entry], directory: &Path) -> Result<Sweep, SweepError> {
        let numbered = |error: DocumentError| error.on_line_in(entries);
        let raw: Raw = de::read_entries(entries).map_err(numbered)?;
        let (base, base_file) = match raw.scenario {
            None => {
                let reason = "is missing; name a scenario's file, or give it as [scenario]";
                return Err(DocumentError::new("scenario", reason).into());
            }
            Some(Node::Table(inner)) => (Draft::new(inner, directory), None),
            Some(name) => {
                let name: String =
                    de::read(&name).map_err(|error| numbered(error.within("scenario")))?;
                let file = directory.join(name);
                let text = regular::text(&file, de::MAX_FILE_BYTES).map_err(|error| {
                    let reason = format!("cannot read {}: {error}", file.display());
                    SweepError::Text(numbered(DocumentError::new("scenario", reason)))
                })?;
                let beside = file.parent().unwrap_or(Path::new(""));
                let base = Draft::parse(&text, beside).map_err(|error| SweepError::Base {
                    file: file.clone(),
                    error,
                })?;
                (base, Some(file))
            }
        };
        let axes = raw.axes.unwrap_or(Node::Table(Vec::new()));
        let mut axes = Axis::read_all(&axes).map_err(|error| numbered(error.within("axes")))?;
        let together = Axis::read_groups(&raw.together);
        axes.extend(together.map_err(|error| numbered(error.within("together")))?);
        let sweep = Sweep {
            name: raw.name,
            engine: raw.engine,
            repeats: raw.repeats,
            paired: raw.paired,
            axes,
            plot: raw.plot,
            base,
            base_file,
        };
        sweep.check_axes()?;
        let mut paired = sweep.paired.iter();
        if let Some(none) = paired.find(|field| !sweep.fields().any(|of| of == *field)) {
            let reason = format!("{none} is not a field of an axis");
            return Err(numbered(DocumentError::new("paired", reason)).into());
        }
        if let Some(x) = &sweep.plot.x
            && !sweep.fields().any(|field| field == x)
        {
            let reason = format!("{x} is not a field of an axis");
            return Err(numbered(DocumentError::new("plot.x", reason)).into());
        }
        Ok(sweep)
    }

    /// A sweep of one scenario, in which nothing varies.
    pub fn alone(base: Draft) -> Sweep {
        Sweep {
            name: None,
            engine: lab::EngineKind::default(),
            repeats: 1,
            paired: Vec::new(),
            axes: Vec::new(),
            plot: PlotSpec::default(),
            base,
            base_file: None,
        }
    }

    /// Replaces a field of the common scenario, before the axes apply.
    ///
    /// # Errors
    ///
    /// The field cannot exist, or an axis varies it.
    pub fn set(&mut self, field: &str, text: &str) -> Result<(), DocumentError> {
        self.replace(field, &Node::from_option(text))
    }

    /// As [`Sweep::set`], with a value.
    ///
    /// # Errors
    ///
    /// Those of [`Sweep::set`].
    pub fn replace(&mut self, field: &str, value: &Node) -> Result<(), DocumentError> {
        if let Some(axis) = self.fields().find(|axis| overlap(axis, field)) {
            let reason = format!("is varied by the axis {axis}");
            return Err(DocumentError::new(field, reason));
        }
        self.base.replace(field, value)
    }

    /// Drops all values of a varying field except these.
    ///
    /// # Errors
    ///
    /// No axis varies the field, or none of its values is left.
    pub fn keep(&mut self, field: &str, values: &[Node]) -> Result<(), DocumentError> {
        let varied = |axis: &&mut Axis| axis.fields.iter().any(|of| of == field);
        let Some(axis) = self.axes.iter_mut().find(varied) else {
            let reason = "is varied by no axis; give it one value";
            return Err(DocumentError::new(field, reason));
        };
        axis.keep(field, values)
            .map_err(|error| error.within(field))
    }

    /// The varying fields, axis by axis.
    pub fn fields(&self) -> impl Iterator<Item = &str> {
        let fields = self.axes.iter().flat_map(|axis| &axis.fields);
        fields.map(String::as_str)
    }

    /// The values of a field as text, if an axis varies it.
    pub fn values(&self, field: &str) -> Option<Vec<String>> {
        let varied = |axis: &&Axis| axis.fields.iter().any(|of| of == field);
        self.axes.iter().find(varied).map(|axis| axis.values(field))
    }

    /// The number of runs. Nothing if it overflows.
    pub fn count(&self) -> Option<u64> {
        let mut lengths = self.axes.iter().map(|axis| axis.len() as u64);
        lengths.try_fold(self.repeats, u64::checked_mul)
    }

    /// Every combination of the axes' values, the last axis varying fastest.
    ///
    /// # Errors
    ///
    /// A combination's scenario is invalid.
    pub(super) fn points(&self) -> impl Iterator<Item = Result<Point, SweepError>> {
        let first = vec![0; self.axes.len()];
        let rows = std::iter::successors(Some(first), |rows| {
            let mut rows = rows.clone();
            let mut turning = self.axes.iter().zip(&mut rows).rev();
            let turned = turning.any(|(axis, row)| {
                *row = (*row + 1) % axis.len();
                *row != 0
            });
            turned.then_some(rows)
        });
        rows.map(|rows| self.point(&rows))
    }

    /// The point with these rows of the axes.
    fn point(&self, rows: &[usize]) -> Result<Point, SweepError> {
        let mut draft = self.base.clone();
        let mut values = Vec::new();
        for (axis, row) in self.axes.iter().zip(rows) {
            let cells = axis
                .fields
                .iter()
                .zip(axis.rows.get(*row).into_iter().flatten());
            for (field, value) in cells {
                let error = |error| SweepError::Text(on_line(axis.line, error));
                draft.replace(field, value).map_err(error)?;
            }
            values.extend(axis.labels(*row));
        }
        match draft.read() {
            Ok(scenario) => Ok(Point {
                values,
                scenario: scenario.into(),
            }),
            Err(error) => Err(self.of_written(&draft, &values, error)),
        }
    }

    /// The error of the invalid point with these values. A value between the ends of a range was not written by the
    /// user: if an end is invalid too, the error names that end.
    fn of_written(&self, draft: &Draft, values: &[String], error: DocumentError) -> SweepError {
        let culprit = draft.culprit(&error);
        let mut axes = self.axes.iter().filter(|axis| axis.is_range);
        let axis = axes.find(|axis| axis.fields.len() == 1 && culprit == Some(&*axis.fields[0]));
        let place = culprit.and_then(|culprit| self.fields().position(|field| field == culprit));
        if let (Some(axis), Some(place)) = (axis, place) {
            let ends = [axis.rows.last(), axis.rows.first()];
            for end in ends.into_iter().flatten().flatten() {
                let mut draft = draft.clone();
                let replaced = draft.replace(&axis.fields[0], end);
                if replaced.is_ok()
                    && let Err(of_end) = draft.read()
                    && of_end.field == error.field
                {
                    let mut values = values.to_vec();
                    values[place] = label(end);
                    return self.wrong(&draft, &values, of_end);
                }
            }
        }
        self.wrong(draft, values, error)
    }

    /// The error of the invalid point with these values.
    fn wrong(&self, draft: &Draft, values: &[String], error: DocumentError) -> SweepError {
        let culprit = draft.culprit(&error).map(str::to_string);
        let given: Vec<(&str, &String)> = self.fields().zip(values).collect();
        let to_blame = given
            .iter()
            .find(|(field, _)| Some(*field) == culprit.as_deref());
        let is_of_base = self.base.read().is_err_and(|base| base == error);
        let place = match (to_blame, &self.base_file) {
            (Some((field, value)), _) => {
                let mut axes = self.axes.iter();
                let axis = axes.find(|axis| axis.fields.iter().any(|of| of == field));
                let line = axis.and_then(|axis| axis.line);
                let line = line.map_or(String::new(), |line| format!("line {line}: "));
                format!("{line}{field}={value}: ")
            }
            (None, Some(file)) if is_of_base => format!("scenario {}: ", file.display()),
            (None, None) if is_of_base => String::new(),
            (None, file) => {
                let given = given
                    .iter()
                    .map(|(field, value)| format!("{field}={value}"));
                let given = given.collect::<Vec<_>>().join(" ");
                let file = file
                    .as_ref()
                    .filter(|_| error.line.is_some())
                    .map_or(String::new(), |file| {
                        format!("scenario {}: ", file.display())
                    });
                format!("at {given}: {file}")
            }
        };
        SweepError::Point {
            place,
            error,
            culprit,
        }
    }

    /// Checks that there are axes, and that no two vary the same field.
    fn check_axes(&self) -> Result<(), DocumentError> {
        let mut before: Vec<&str> = Vec::new();
        for axis in &self.axes {
            for field in &axis.fields {
                if let Some(other) = before.iter().find(|other| overlap(other, field)) {
                    let reason = if *other == field {
                        "is varied twice".to_string()
                    } else {
                        format!("is varied by {other} too")
                    };
                    return Err(on_line(axis.line, DocumentError::new(field, reason)));
                }
                if before.len() == MAX_FIELDS {
                    let reason = format!("vary more than {MAX_FIELDS} fields; give several sweeps");
                    return Err(on_line(axis.line, DocumentError::new("axes", reason)));
                }
                before.push(field);
            }
        }
        if before.is_empty() {
            Err(DocumentError::new(
                "axes",
                "nothing varies; give [axes] a field and its values, such as \"path.loss\" = [\"0%\", \"1%\"]",
            ))
        } else {
            Ok(())
        }
    }
}

/// Whether replacing one field replaces the other, or a part of it.
fn overlap(one: &str, other: &str) -> bool {
    let keys = |field: &str| field.split('.').map(str::to_string).collect::<Vec<_>>();
    let (mut one, mut other) = (keys(one), keys(other));
    let is_place = |key: &String| key.parse::<usize>().is_ok();
    // `flow.start` is the field of every group of flows.
    if !one.iter().any(is_place) || !other.iter().any(is_place) {
        one.retain(|key| !is_place(key));
        other.retain(|key| !is_place(key));
    }
    one.starts_with(&other) || other.starts_with(&one)
}
