//! What an engine cannot do, field by field.

use scenario::{FlowSpec, HostSpec, Scenario, ScenarioError};

use crate::engine_kind::EngineKind;

/// What a scenario may ask for that an engine cannot do.
pub(crate) struct Limits {
    pub engine: EngineKind,
    pub scenario: &'static [Limit<Scenario>],
    /// Of `host`, and of each group's own.
    pub host: &'static [Limit<HostSpec>],
    /// Of each group of flows.
    pub flow: &'static [Limit<FlowSpec>],
    pub most_flows: usize,
}

/// The field, what of it is beyond the engine, and why.
pub(crate) type Limit<T> = (&'static str, fn(&T) -> bool, &'static str);

impl Limits {
    /// # Errors
    ///
    /// The first thing that the engine cannot do; the error's field is the one to leave out.
    pub fn check(&self, scenario: &Scenario) -> Result<(), ScenarioError> {
        match self.first_beyond(scenario) {
            Some(beyond) => Err(self.refuse(scenario, beyond)),
            None => Ok(()),
        }
    }

    /// The engine cannot do what the error's field says; its reason is why.
    pub fn refuse(&self, scenario: &Scenario, beyond: ScenarioError) -> ScenarioError {
        let (engine, why) = (self.engine, &beyond.reason);
        let others = EngineKind::ALL.iter().filter(|other| {
            let limits = other.limits();
            **other != engine && limits.is_none_or(|it| it.first_beyond(scenario).is_none())
        });
        let others: Vec<&str> = others.map(|other| other.name()).collect();
        let others = others.join(" or ");
        let reason =
            format!("engine {engine} cannot do this: {why}; leave it out, or use engine {others}");
        ScenarioError::new(beyond.field, reason)
    }

    /// The first thing that the engine cannot do, and why.
    fn first_beyond(&self, scenario: &Scenario) -> Option<ScenarioError> {
        if let Some((field, why)) = beyond(self.host, &scenario.host) {
            return Some(ScenarioError::new(join("host", field), why));
        }
        if let Some((field, why)) = beyond(self.scenario, scenario) {
            return Some(ScenarioError::new(field, why));
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
        (count > most).then(|| ScenarioError::new("flow.count", why()))
    }
}

/// The first of these limits that it is beyond.
fn beyond<T>(limits: &[Limit<T>], asked: &T) -> Option<(&'static str, &'static str)> {
    let mut limits = limits.iter();
    let limit = limits.find(|(_, is_beyond, _)| is_beyond(asked))?;
    Some((limit.0, limit.2))
}

/// The field of a table; without a name, the table.
fn join(table: &str, field: &str) -> String {
    match field {
        "" => table.to_string(),
        field => format!("{table}.{field}"),
    }
}
