//! POPULATION.toml.

use std::fs;
use std::path::Path;

use units::{Duration, Ratio};

use super::distribution::Distribution;
use scenario::value::{self, Entry, Value};
use scenario::{Draft, ScenarioError};

/// The access networks that a population is drawn from.
#[derive(Debug, Clone)]
pub struct Spec {
    /// `name`: what people call it.
    pub name: String,
    /// `[[access]]`: the access networks, in the order of the text.
    pub accesses: Vec<Access>,
    /// `[scenario]`: what all members have in common.
    pub(super) base: Draft,
}

/// Access networks of one kind in one region.
#[derive(Debug, Clone)]
pub struct Access {
    /// `region`: where.
    pub region: String,
    /// `name`: of which kind.
    pub name: String,
    /// `share`: how many of all members have such an access, in proportion to the others' shares.
    pub share: Ratio,
    /// `[access.path]`: what the fields of the path are drawn from.
    pub fields: Vec<(String, Distribution)>,
    /// `swing`: how the rate varies over time.
    pub swing: Option<Swing>,
    /// Its line in the text.
    pub(super) line: Option<usize>,
}

/// A rate that changes at regular times. Each new rate is independent, and log-normally distributed around the member's own.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Swing {
    /// `every`: how long a rate lasts.
    pub every: Duration,
    /// `sigma`: the standard deviation of the rate's natural logarithm.
    pub sigma: f64,
}

impl Spec {
    /// The keys of a population.
    pub const KEYS: [&str; 3] = ["name", "scenario", "access"];

    /// Reads the population in `file`.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or what it says makes no sense.
    pub fn load(file: &Path) -> Result<Spec, ScenarioError> {
        let text = fs::read_to_string(file).map_err(|error| {
            ScenarioError::new("", format!("cannot read {}: {error}", file.display()))
        })?;
        Spec::parse(&text, file.parent().unwrap_or(Path::new("")))
    }

    /// Reads a population from `text`; what its scenario names is relative to `directory`.
    ///
    /// # Errors
    ///
    /// The text makes no sense. Members are checked when they are drawn.
    pub fn parse(text: &str, directory: &Path) -> Result<Spec, ScenarioError> {
        let entries = Value::from_toml(text)?;
        read(&entries, directory).map_err(|mut error| {
            error.line = error.line.or(value::line_of(&entries, &error.field));
            error
        })
    }
}

fn read(entries: &[Entry], directory: &Path) -> Result<Spec, ScenarioError> {
    let unknown = entries
        .iter()
        .find(|entry| !Spec::KEYS.contains(&entry.key.as_str()));
    if let Some(entry) = unknown {
        return Err(ScenarioError::unknown_key(&entry.key, &Spec::KEYS).within(&entry.key));
    }
    let entry = |key: &str, missing: &str| {
        let found = entries.iter().find(|entry| entry.key == key);
        found.ok_or_else(|| ScenarioError::new(key, missing))
    };
    let name = entry("name", "is missing; give the population one")?;
    let name = name
        .value
        .text("a name")
        .map_err(|error| error.within("name"))?;
    let common = entry("scenario", "is missing; say in [scenario] what all do")?;
    let Value::Table(common) = &common.value else {
        return Err(ScenarioError::new(
            "scenario",
            "is a table; write [scenario]",
        ));
    };
    if common.iter().any(|entry| entry.key == "path") {
        let reason = "is what is drawn; give it to each access as [access.path]";
        return Err(ScenarioError::new("scenario.path", reason));
    }
    let accesses = entry("access", "is missing; give one or more [[access]]")?;
    let Value::List(items) = &accesses.value else {
        return Err(ScenarioError::new("access", "is a list; write [[access]]"));
    };
    let accesses = value::items(items, Access::read).map_err(|error| error.within("access"))?;
    for (place, access) in accesses.iter().enumerate() {
        let is_same =
            |other: &&Access| (&other.region, &other.name) == (&access.region, &access.name);
        if accesses.iter().take(place).any(|other| is_same(&other)) {
            let reason = format!("there is a {} in {} already", access.name, access.region);
            return Err(ScenarioError::new("name", reason)
                .item(place)
                .within("access"));
        }
    }
    Ok(Spec {
        name: name.to_string(),
        accesses,
        base: Draft::new(common.clone(), directory),
    })
}

impl Access {
    const KEYS: [&str; 5] = ["region", "name", "share", "path", "swing"];

    fn read(value: &Value) -> Result<Access, ScenarioError> {
        let fields = value.fields("[[access]] with a region", &Access::KEYS)?;
        let text = |value: &Value| value.text("a name").map(str::to_string);
        let share = fields.required("share", |text| {
            let share = text.share()?;
            match share == Ratio::ZERO {
                true => Err(text.wrong("is nobody; give more, or leave it out")),
                false => Ok(share),
            }
        })?;
        let distributions = fields.required("path", |path| {
            let mut distributions = Vec::new();
            let path = path.entries("a table such as [access.path] with a rate")?;
            read_fields(&mut distributions, "path", path)?;
            Ok(distributions)
        })?;
        let swing = fields.optional("swing", Swing::read)?;
        let has_rate = distributions.iter().any(|(field, _)| field == "path.rate");
        if swing.is_some() && !has_rate {
            let reason = "there is no path.rate that could vary";
            return Err(ScenarioError::new("swing", reason));
        }
        Ok(Access {
            region: fields.required("region", text)?,
            name: fields.required("name", text)?,
            share,
            fields: distributions,
            swing,
            line: value
                .entries("a table")?
                .iter()
                .find_map(|entry| entry.line),
        })
    }
}

/// The fields in a table, and in its tables; errors' fields are relative to the outermost one.
fn read_fields(
    found: &mut Vec<(String, Distribution)>,
    prefix: &str,
    entries: &[Entry],
) -> Result<(), ScenarioError> {
    for entry in entries {
        let field = format!("{prefix}.{}", entry.key);
        let read = match &entry.value {
            Value::Table(inner) if !Distribution::is_meant_by(&entry.value) => {
                read_fields(found, &field, inner)
            }
            value => Distribution::read(value).map(|distribution| {
                found.push((field, distribution));
            }),
        };
        read.map_err(|error| error.within(&entry.key))?;
    }
    Ok(())
}

impl Swing {
    fn read(value: &Value) -> Result<Swing, ScenarioError> {
        let example = "{ every = \"500ms\", sigma = 0.3 }";
        let fields = value.fields(example, &["every", "sigma"])?;
        let sigma = fields.required("sigma", |sigma| {
            let text = sigma.text("a number such as 0.3")?;
            match text.parse::<f64>() {
                Ok(number) if (0.0..=2.0).contains(&number) => Ok(number),
                _ => Err(sigma.wrong("is no number from 0 to 2, such as 0.3")),
            }
        })?;
        Ok(Swing {
            every: fields.required("every", Value::positive_time)?,
            sigma,
        })
    }
}
