//! Every member once with each controller.

use super::draw::Member;
use crate::runs::Plan;
use scenario::Controller;

/// The runs of every member with every one of the controllers: the same seed and path for all of them.
pub fn plan(members: &[Member], controllers: &[Controller]) -> Plan {
    let mut plan = Plan::new("population", ["region", "access", "flow.controller"]);
    for member in members {
        for controller in controllers {
            let mut scenario = member.scenario.clone();
            for flow in &mut scenario.flows {
                flow.controller = *controller;
            }
            let (region, access) = (member.region.clone(), member.access.clone());
            let values = vec![region, access, controller.to_string()];
            plan.add_point(values, scenario.clone());
            // Nothing is kept of it.
            plan.add_run(0, scenario, String::new());
        }
    }
    plan
}
