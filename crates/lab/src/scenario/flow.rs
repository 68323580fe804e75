//! Who sends: `[[flow]]`.

use congestion::kind::Kind;
use units::{Bytes, Duration};

use super::error::ScenarioError;
use super::value::Value;

/// A group of flows that differ in nothing but their start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FlowSpec {
    /// `controller`: their congestion control.
    pub controller: Kind,
    /// `count`: how many they are; one if not given.
    pub count: u64,
    /// `start`: when the first one starts.
    pub start: Duration,
    /// `stagger`: the time between their starts.
    pub stagger: Duration,
    /// `bytes`: what each of them transfers; without it, bulk until the end of the run.
    pub bytes: Option<Bytes>,
}

impl FlowSpec {
    /// The fields of `[[flow]]`.
    pub const KEYS: [&str; 5] = ["controller", "count", "start", "stagger", "bytes"];

    /// One bulk flow from the start.
    pub const fn new(controller: Kind) -> FlowSpec {
        FlowSpec {
            controller,
            count: 1,
            start: Duration::ZERO,
            stagger: Duration::ZERO,
            bytes: None,
        }
    }

    /// When each flow of the group starts.
    pub fn starts(&self) -> impl Iterator<Item = Duration> + use<> {
        let FlowSpec {
            start,
            stagger,
            count,
            ..
        } = *self;
        (0..count).map(move |index| start + stagger * index)
    }

    /// Reads one `[[flow]]`; the error's field is relative to it.
    pub(crate) fn read(value: &Value) -> Result<FlowSpec, ScenarioError> {
        let known = [&FlowSpec::KEYS[..], &["rtt", "app"]].concat();
        let fields = value.fields("[[flow]] with controller = \"bbr1\"", &known)?;
        let controller = fields.required("controller", Value::parse)?;
        let mut flow = FlowSpec::new(controller);
        for key in known {
            fields
                .optional(key, |value| Ok(value.clone()))?
                .map_or(Ok(()), |value| {
                    flow.assign(key, &value).map_err(|error| error.within(key))
                })?;
        }
        Ok(flow)
    }

    /// Sets the field `key`; the error's field is relative to it.
    pub(crate) fn assign(&mut self, key: &str, value: &Value) -> Result<(), ScenarioError> {
        match key {
            "controller" => self.controller = value.parse()?,
            "count" => {
                self.count = value.whole()?;
                if self.count == 0 {
                    return Err(value.wrong("flows send nothing; give 1 or more"));
                }
            }
            "start" => self.start = value.parse()?,
            "stagger" => self.stagger = value.parse()?,
            "bytes" => self.bytes = Some(value.parse()?),
            "rtt" | "app" => return Err(ScenarioError::not_yet()),
            _ => return Err(ScenarioError::unknown_key(key, &FlowSpec::KEYS)),
        }
        Ok(())
    }
}
