//! The plan of the runs for advice.

use std::sync::Arc;

use ::advise::{Case, Sampling};
use lab::Cancel;

use crate::runs::Plan;

/// The plan of these runs, in this order. A cancelled call plans only the first of them.
pub fn plan(sampling: &Sampling, name: &str, cases: &[Case], cancel: &Cancel) -> Plan {
    let fields = sampling.ranges.iter().map(|range| range.field.as_str());
    let mut plan = Plan::new(name, fields.chain(["path", "controller", "beside"]));
    for case in cases.iter().take_while(|_| !cancel.is_cancelled()) {
        let own = [
            case.path.to_string(),
            case.controller.to_string(),
            case.company.name().to_owned(),
        ];
        let values = sampling.sampled[case.path]
            .values
            .iter()
            .cloned()
            .chain(own);
        let scenario = Arc::new(sampling.scenario(case));
        plan.add_point(values.collect(), Arc::clone(&scenario));
        // The record is not kept.
        plan.add_run(0, scenario, String::new());
    }
    plan
}
