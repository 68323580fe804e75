//! The limits of an engine, field by field.

use document::DocumentError;
use scenario::{FlowSpec, HostSpec, Scenario};

use crate::engine_kind::EngineKind;

/// The settings of a scenario that an engine cannot follow.
pub(crate) struct Limits {
    pub engine: EngineKind,
    pub scenario: &'static [Limit<Scenario>],
    /// A limit whose field depends on what the scenario says: the first setting beyond it, and the reason.
    pub changes: fn(&Scenario) -> Option<DocumentError>,
    /// Limits of `host` and of each group's own `host`.
    pub host: &'static [Limit<HostSpec>],
    /// Limits of each group of flows.
    pub flow: &'static [Limit<FlowSpec>],
    pub most_flows: usize,
}

/// A field, a test whether its value is beyond the engine, and the reason.
pub(crate) type Limit<T> = (&'static str, fn(&T) -> bool, &'static str);

impl Limits {
    /// # Errors
    ///
    /// The first setting that the engine cannot follow; the error names the field to leave out.
    pub fn check(&self, scenario: &Scenario) -> Result<(), DocumentError> {
        match self.first_beyond(scenario) {
            Some(beyond) => Err(self.refuse(scenario, beyond)),
            None => Ok(()),
        }
    }

    /// Completes an error about a setting that the engine cannot follow.
    pub fn refuse(&self, scenario: &Scenario, beyond: DocumentError) -> DocumentError {
        let (engine, why) = (self.engine, &beyond.reason);
        let others = EngineKind::ALL.iter().filter(|other| {
            let limits = other.limits();
            **other != engine && limits.is_none_or(|it| it.first_beyond(scenario).is_none())
        });
        let others: Vec<&str> = others.map(|other| other.name()).collect();
        let others = others.join(" or ");
        let reason =
            format!("engine {engine} cannot do this: {why}; leave it out, or use engine {others}");
        DocumentError::new(beyond.field, reason)
    }

    /// The first setting that the engine cannot follow, and the reason.
    fn first_beyond(&self, scenario: &Scenario) -> Option<DocumentError> {
        if let Some((field, why)) = beyond(self.host, &scenario.host) {
            return Some(DocumentError::new(join("host", field), why));
        }
        if let Some((field, why)) = beyond(self.scenario, scenario) {
            return Some(DocumentError::new(field, why));
        }
        if let Some(beyond) = (self.changes)(scenario) {
            return Some(beyond);
        }
        for (index, flow) in scenario.flows.iter().enumerate() {
            if let Some((field, why)) = beyond(self.host, &flow.host) {
                return Some(scenario.flow_error(index, &join("host", field), why));
            }
            if let Some((field, why)) = beyond(self.flow, flow) {
                return Some(scenario.flow_error(index, field, why));
            }
        }
        let (count, most) = (scenario.each_flow().count(), self.most_flows);
        let why = || format!("{count} flows are more than {most}");
        (count > most).then(|| DocumentError::new("flow.count", why()))
    }
}

/// The first of these limits that `asked` exceeds.
fn beyond<T>(limits: &[Limit<T>], asked: &T) -> Option<(&'static str, &'static str)> {
    let mut limits = limits.iter();
    let limit = limits.find(|(_, is_beyond, _)| is_beyond(asked))?;
    Some((limit.0, limit.2))
}

/// The path of a field in a table; an empty name stands for the table itself.
fn join(table: &str, field: &str) -> String {
    match field {
        "" => table.to_string(),
        field => format!("{table}.{field}"),
    }
}
