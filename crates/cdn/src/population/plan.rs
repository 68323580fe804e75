//! The plan of a population's runs.

use super::draw::Member;
use scenario::Controller;
use studies::runs::Plan;

/// A run of every member with each controller, with the same seed and path.
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
            // The record is not kept.
            plan.add_run(0, scenario, String::new());
        }
    }
    plan
}
