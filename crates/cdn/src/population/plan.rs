//! The plan of a population's runs.

use std::sync::Arc;

use super::spec::Spec;
use document::DocumentError;
use scenario::{Bbr1Variant, Controller};
use studies::runs::{MAX_RUNS, Plan};

/// The most groups of flows, and the most changes of paths, in all runs. They take some gigabyte.
const MAX_FLOWS: u64 = 1_000_000;
const MAX_CHANGES: u64 = 10_000_000;

/// What members run.
#[derive(Debug, Clone, Copy)]
pub struct Contender {
    /// The controller of every flow.
    pub controller: Controller,
    /// The BBR of flows with `bbr1`.
    pub bbr1: Bbr1Variant,
}

/// A run of every member with each contender, with the same seed and path. Each version of the population has `count` members.
///
/// # Errors
///
/// There is no such version, a member's scenario is invalid, or there are too many runs, flows or changes of paths.
pub fn plan(
    spec: &Spec,
    versions: &[impl AsRef<str>],
    [seed, count]: [u64; 2],
    contenders: &[Contender],
) -> Result<Plan, DocumentError> {
    let fields = [
        "version",
        "region",
        "access",
        "flow.bbr1.variant",
        "flow.controller",
    ];
    let each = contenders.len() as u64;
    let runs = (versions.len() as u64)
        .saturating_mul(count)
        .saturating_mul(each);
    most("runs", runs, MAX_RUNS)?;
    let mut plan = Plan::new("population", fields);
    let (mut flows, mut changes) = (0, 0);
    for version in versions {
        let version = version.as_ref();
        spec.version(version)?.each(seed, count, |member, alike| {
            let scenario = &member.scenario;
            if let Some(alike) = alike {
                let sum = |sum: u64, count: usize| {
                    sum.saturating_add((count as u64).saturating_mul(alike).saturating_mul(each))
                };
                flows = sum(flows, scenario.flows.len());
                most("flows in all runs", flows, MAX_FLOWS)?;
                changes = sum(changes, scenario.path.data.changes.len());
                most("changes of paths in all runs", changes, MAX_CHANGES)?;
            }
            for contender in contenders {
                let mut scenario = scenario.clone();
                for flow in &mut scenario.flows {
                    flow.controller = contender.controller;
                    flow.bbr1.get_or_insert_default().variant = contender.bbr1;
                }
                let values = vec![
                    version.to_owned(),
                    member.region.clone(),
                    member.access.clone(),
                    contender.bbr1.name().to_owned(),
                    contender.controller.to_string(),
                ];
                let scenario = Arc::new(scenario);
                plan.add_point(values, Arc::clone(&scenario));
                // The record is not kept.
                plan.add_run(0, scenario, String::new());
            }
            Ok(())
        })?;
    }
    Ok(plan)
}

/// Checks that there are no more than `most` of these.
fn most(what: &str, count: u64, most: u64) -> Result<(), DocumentError> {
    if count <= most {
        return Ok(());
    }
    let reason = format!("more than {most} {what}; give fewer members");
    Err(DocumentError::new("", reason))
}
