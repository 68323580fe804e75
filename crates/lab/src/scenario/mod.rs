//! What the path is and who sends over it, as plain data.
//!
//! A scenario is read from TOML ([`Scenario::from_str`], [`Scenario::load`]), with overrides such as `path.loss=2%`
//! ([`Draft`]), or built field by field. Whatever the way, a value is read by the same code and answered with the
//! same [`ScenarioError`].

mod buffer;
mod draft;
mod error;
mod flow;
mod path_spec;
mod to_path;
mod to_toml;
pub(crate) mod value;

use std::path::Path;
use std::str::FromStr;

use units::{Bytes, Duration};

pub use buffer::BufferSpec;
pub use draft::Draft;
pub use error::ScenarioError;
pub use flow::FlowSpec;
pub use path_spec::{ChangeSpec, PathSpec};

use value::{Entry, Value};

/// About as many as an emulated path serves clients; on one machine, more would measure the machine.
const MAX_FLOWS: u64 = 500;

/// What the path is and who sends over it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scenario {
    /// `name`: what people call it.
    pub name: String,
    /// `duration`: when it ends at the latest; if not given, when every flow's `bytes` have arrived.
    pub duration: Option<Duration>,
    /// `warmup`: how much of its beginning is left out of the summary.
    pub warmup: Duration,
    /// `seed`: what every random choice of path and controllers derives from.
    pub seed: u64,
    /// `[path]`: the path.
    pub path: PathSpec,
    /// `[[flow]]`: the flows, group by group.
    pub flows: Vec<FlowSpec>,
}

impl Scenario {
    /// The fields outside of any table, and the tables.
    pub const KEYS: [&str; 7] = ["name", "duration", "warmup", "seed", "path", "host", "flow"];

    /// Reads the scenario in `file`. A trace's name is relative to the file's directory.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or what it says makes no sense.
    pub fn load(file: &Path) -> Result<Scenario, ScenarioError> {
        Draft::load(file)?.read()
    }

    /// Overrides the field `key` (`duration`, `path.loss`, `flow.bytes`) with an option's text. `flow.…` applies to
    /// every group of flows.
    ///
    /// # Errors
    ///
    /// There is no such field, or with this value the scenario makes no sense. It may then have changed: do not run it.
    pub fn set(&mut self, key: &str, text: &str) -> Result<(), ScenarioError> {
        let value = Value::from_option(text);
        match key.split_once('.') {
            Some(("path", field)) => self.path.set(field, text)?,
            Some(("flow", field)) => {
                for flow in &mut self.flows {
                    flow.assign(field, &value)
                        .map_err(|error| error.within(field).within("flow"))?;
                }
            }
            _ => self
                .assign(key, &value)
                .map_err(|error| error.within(key))?,
        }
        self.check()
    }

    /// Every single flow, group by group, with the time of its start.
    pub fn each_flow(&self) -> impl Iterator<Item = (FlowSpec, Duration)> {
        let flows = self.flows.iter();
        flows.flat_map(|flow| flow.starts().map(|start| (*flow, start)))
    }

    /// Whether the fields make sense together. Scenarios that were read are checked already.
    ///
    /// # Errors
    ///
    /// They do not; the error's field is the one to mend.
    pub fn check(&self) -> Result<(), ScenarioError> {
        let wrong = |field: &str, reason: &str| Err(ScenarioError::new(field, reason));
        self.path.check()?;
        let Some(last) = self.flows.len().checked_sub(1) else {
            return wrong(
                "flow",
                "nobody sends; add [[flow]] with controller = \"bbr1\"",
            );
        };
        let count = self
            .flows
            .iter()
            .fold(0, |sum: u64, flow| sum.saturating_add(flow.count));
        if count > MAX_FLOWS {
            return wrong(
                "flow.count",
                &format!("{count} flows are more than {MAX_FLOWS}"),
            );
        }
        if self
            .flows
            .iter()
            .any(|flow| flow.bytes.is_some_and(Bytes::is_zero))
        {
            return wrong("flow.bytes", "0b is no transfer; give a size such as 8mb");
        }
        let Some(duration) = self.duration else {
            return match self.flows.iter().all(|flow| flow.bytes.is_some()) {
                true => Ok(()),
                false => wrong("duration", "is missing; give one, or every flow its bytes"),
            };
        };
        if self.warmup >= duration {
            let reason = format!("{} leaves nothing of a run of {duration}", self.warmup);
            return wrong("warmup", &reason);
        }
        for (index, flow) in self.flows.iter().enumerate() {
            let start = flow.starts().last().unwrap_or(flow.start);
            if start >= duration {
                let field = if last == 0 {
                    "flow.start".to_string()
                } else {
                    format!("flow[{index}].start")
                };
                return wrong(
                    &field,
                    &format!("{start} is not before the end of a run of {duration}"),
                );
            }
        }
        Ok(())
    }

    fn read(entries: &[Entry]) -> Result<Scenario, ScenarioError> {
        let mut scenario = Scenario {
            name: String::new(),
            duration: None,
            warmup: Duration::ZERO,
            seed: 1,
            path: PathSpec::default(),
            flows: Vec::new(),
        };
        for entry in entries {
            let assigned = scenario.assign(&entry.key, &entry.value);
            assigned.map_err(|error| error.within(&entry.key))?;
        }
        if scenario.name.is_empty() {
            return Err(ScenarioError::new(
                "name",
                "is missing; give the scenario one",
            ));
        }
        scenario.check()?;
        Ok(scenario)
    }

    /// Sets the field `key`; the error's field is relative to it.
    fn assign(&mut self, key: &str, value: &Value) -> Result<(), ScenarioError> {
        match key {
            "name" => self.name = value.text("a name")?.to_string(),
            "duration" => {
                let duration: Duration = value.parse()?;
                if duration.is_zero() {
                    return Err(value.wrong("makes no sense; give a time such as 60s"));
                }
                self.duration = Some(duration);
            }
            "warmup" => self.warmup = value.parse()?,
            "seed" => self.seed = value.whole()?,
            "path" => {
                for entry in value.entries("a table such as [path]")? {
                    let assigned = self.path.assign(&entry.key, &entry.value);
                    assigned.map_err(|error| error.within(&entry.key))?;
                }
            }
            "flow" => match value {
                Value::List(flows) => self.flows = value::items(flows, FlowSpec::read)?,
                _ => return Err(ScenarioError::new("", "is a list; write [[flow]]")),
            },
            "host" => return Err(ScenarioError::not_yet()),
            _ => return Err(ScenarioError::unknown_key(key, &Scenario::KEYS)),
        }
        Ok(())
    }
}

impl FromStr for Scenario {
    type Err = ScenarioError;

    fn from_str(text: &str) -> Result<Scenario, ScenarioError> {
        Draft::parse(text, Path::new(""))?.read()
    }
}
