//! What a scenario may ask for that this engine cannot do: it carries bulk data of a real QUIC stack, over one
//! bottleneck, from one end to the other.

use transport::app;

use crate::scenario::{HostSpec, Scenario, ScenarioError};

/// About as many as an emulated path serves clients; on one machine, more would measure the machine.
const MAX_FLOWS: usize = 500;

/// # Errors
///
/// The first thing that it cannot do; the error's field is the one to leave out.
pub(super) fn check(scenario: &Scenario) -> Result<(), ScenarioError> {
    if scenario.host != HostSpec::UNSET {
        return Err(cannot("host", "its hosts are those of a QUIC stack"));
    }
    if !scenario.next.is_empty() {
        return Err(cannot("path.next", "it has one bottleneck"));
    }
    for flow in &scenario.flows {
        if flow.app != app::Config::Bulk {
            return Err(cannot("flow.app", "it carries bulk data or bytes"));
        }
        if flow.rtt.is_some() {
            return Err(cannot("flow.rtt", "all flows have the RTprop of the path"));
        }
        if flow.reverse {
            return Err(cannot("flow.reverse", "all flows send the same way"));
        }
        if flow.host != HostSpec::UNSET {
            return Err(cannot("flow.host", "its hosts are those of a QUIC stack"));
        }
    }
    let count = scenario.each_flow().count();
    if count > MAX_FLOWS {
        let why = format!("{count} flows are more than {MAX_FLOWS}");
        return Err(cannot("flow.count", &why));
    }
    Ok(())
}

fn cannot(field: &str, why: &str) -> ScenarioError {
    ScenarioError::new(
        field,
        format!("engine quic cannot do this: {why}; leave it out, or use engine sim"),
    )
}
