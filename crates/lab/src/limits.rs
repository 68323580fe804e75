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
        if let Some((field, why)) = beyond(self.host, &scenario.host) {
            return Err(self.refuse(join("host", field), why));
        }
        if let Some((field, why)) = beyond(self.scenario, scenario) {
            return Err(self.refuse(field, why));
        }
        for (index, flow) in scenario.flows.iter().enumerate() {
            if let Some((field, why)) = beyond(self.host, &flow.host) {
                return Err(self.refuse_of_flow(scenario, index, &join("host", field), why));
            }
            if let Some((field, why)) = beyond(self.flow, flow) {
                return Err(self.refuse_of_flow(scenario, index, field, why));
            }
        }
        let (count, most) = (scenario.each_flow().count(), self.most_flows);
        if count > most {
            return Err(self.refuse("flow.count", &format!("{count} flows are more than {most}")));
        }
        Ok(())
    }

    /// The engine cannot do what this field says.
    pub fn refuse(&self, field: impl Into<String>, why: &str) -> ScenarioError {
        ScenarioError::new(field, self.cannot(why))
    }

    /// The engine cannot do what this field of a group of flows says.
    pub fn refuse_of_flow(
        &self,
        scenario: &Scenario,
        index: usize,
        field: &str,
        why: &str,
    ) -> ScenarioError {
        scenario.flow_error(index, field, self.cannot(why))
    }

    fn cannot(&self, why: &str) -> String {
        let engine = self.engine;
        format!("engine {engine} cannot do this: {why}; leave it out, or use engine sim")
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
