//! What changes during a run.

use units::{Duration, Rate};

use super::error::ScenarioError;
use super::value::Value;

/// A change: `[[path.change]]` with `at`, and `rate`, `rtt` or both; `[[path.uplink.change]]` with `at` and `rate`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChangeSpec {
    /// `at`: when, from the start of the run.
    pub at: Duration,
    /// `rate`: the link's new rate.
    pub rate: Option<Rate>,
    /// `rtt`: the path's new RTprop.
    pub rtt: Option<Duration>,
}

impl ChangeSpec {
    /// The fields of `[[path.change]]`.
    pub const KEYS: [&str; 3] = ["at", "rate", "rtt"];

    /// Reads one change; the error's field is relative to it.
    pub fn read(value: &Value) -> Result<ChangeSpec, ScenarioError> {
        let example = "{ at = \"20s\", rate = \"20mbit\" }";
        let fields = value.fields(example, &ChangeSpec::KEYS)?;
        let change = ChangeSpec {
            at: fields.required("at", Value::parse)?,
            rate: fields.optional("rate", Value::positive_rate)?,
            rtt: fields.optional("rtt", Value::parse)?,
        };
        if change.rate.is_none() && change.rtt.is_none() {
            return Err(ScenarioError::new("", "changes nothing; give rate or rtt"));
        }
        Ok(change)
    }
}
