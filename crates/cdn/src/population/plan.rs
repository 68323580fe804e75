//! The plan of a population's runs.

use super::draw::Member;
use scenario::{Bbr1Variant, Controller};
use studies::runs::Plan;

/// What members run.
#[derive(Debug, Clone, Copy)]
pub struct Contender {
    /// The controller of every flow.
    pub controller: Controller,
    /// The BBR of flows with `bbr1`.
    pub bbr1: Bbr1Variant,
}

/// A run of every member with each contender, with the same seed and path. Members come with the name of their
/// population's version.
pub fn plan(versions: &[(&str, Vec<Member>)], contenders: &[Contender]) -> Plan {
    let fields = [
        "version",
        "region",
        "access",
        "flow.bbr1.variant",
        "flow.controller",
    ];
    let mut plan = Plan::new("population", fields);
    for (version, members) in versions {
        for member in members {
            for contender in contenders {
                let mut scenario = member.scenario.clone();
                for flow in &mut scenario.flows {
                    flow.controller = contender.controller;
                    flow.bbr1.get_or_insert_default().variant = contender.bbr1;
                }
                let values = vec![
                    (*version).to_owned(),
                    member.region.clone(),
                    member.access.clone(),
                    contender.bbr1.name().to_owned(),
                    contender.controller.to_string(),
                ];
                plan.add_point(values, scenario.clone());
                // The record is not kept.
                plan.add_run(0, scenario, String::new());
            }
        }
    }
    plan
}
