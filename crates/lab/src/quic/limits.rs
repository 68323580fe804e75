//! What a scenario may ask for that this engine cannot do: it carries bulk data of a real QUIC stack, over one
//! bottleneck, from one end to the other.

use congestion::ControllerKind;
use transport::app;
use transport::scheduler::Pacing;

use scenario::{Bbr1Spec, HostSpec, Scenario, ScenarioError};

/// About as many as an emulated path serves clients; on one machine, more would measure the machine.
const MAX_FLOWS: usize = 500;

/// The controller of each flow.
///
/// # Errors
///
/// It is one that this engine has not.
pub(super) fn controllers(scenario: &Scenario) -> Result<Vec<ControllerKind>, ScenarioError> {
    let groups = scenario.our_controllers("quic")?;
    let each = scenario.flows.iter().zip(groups);
    Ok(each
        .flat_map(|(flow, controller)| flow.starts().map(move |_| controller))
        .collect())
}

/// # Errors
///
/// The first thing that it cannot do; the error's field is the one to leave out.
pub(super) fn check(scenario: &Scenario) -> Result<(), ScenarioError> {
    if !is_quic_host(&scenario.host) {
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
        if flow
            .bbr1
            .is_some_and(|bbr1| bbr1.config() != Bbr1Spec::default().config())
        {
            return Err(cannot(
                "flow.bbr1",
                "its BBR is that of a kernel, with what a QUIC stack needs",
            ));
        }
        if flow.reverse {
            return Err(cannot("flow.reverse", "all flows send the same way"));
        }
        if !is_quic_host(&flow.host) {
            return Err(cannot("flow.host", "its hosts are those of a QUIC stack"));
        }
    }
    let count = controllers(scenario)?.len();
    if count > MAX_FLOWS {
        let why = format!("{count} flows are more than {MAX_FLOWS}");
        return Err(cannot("flow.count", &why));
    }
    Ok(())
}

/// Whether a host is as the stack's are: each connection paces by itself.
fn is_quic_host(host: &HostSpec) -> bool {
    let paced = HostSpec {
        scheduler: Some(Pacing::PerConnection),
        ..HostSpec::UNSET
    };
    *host == HostSpec::UNSET || *host == paced
}

fn cannot(field: &str, why: &str) -> ScenarioError {
    ScenarioError::new(
        field,
        format!("engine quic cannot do this: {why}; leave it out, or use engine sim"),
    )
}
