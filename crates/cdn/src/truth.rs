//! The truth: lines with each arm, and choices in force.

use experiment::policy::{Decision, Lowered, Policy};
use experiment::{Effect, Findings, MAX_NETWORKS, Measure, Observation, Plan};
use fleet::Systems;
use rules::Connection;
use units::Bytes;

use crate::laboratory::LabError;
use crate::line::Line;
use crate::spec::{PORT, Spec};

/// A line with each arm, as an experiment would observe it. Further runs are mixes of arms on lines that share a link.
pub(crate) struct ObservedLine<'l> {
    pub line: &'l Line,
    pub arms: Vec<Vec<Observation>>,
    /// In each of these runs, the bytes that the background traffic delivered.
    pub background: Vec<Bytes>,
}

/// A choice in force, which gives each line an arm.
pub(crate) enum InForce<'p> {
    Arm(usize),
    Policy(&'p Lowered<'p>),
}

/// The truth, which only a laboratory knows.
pub(crate) struct Truth<'t> {
    pub spec: &'t Spec,
    pub plan: &'t Plan,
    pub systems: &'t Systems,
    /// The lines of the study, with each arm and the objects of the study.
    pub study: Vec<ObservedLine<'t>>,
    /// The lines after the study: draws of lines that it has not seen, or the same lines again. If its policy was
    /// really in force on a line, it is one more arm.
    pub after: Vec<Vec<ObservedLine<'t>>>,
    /// The number of connections in all of this.
    pub connections: u64,
}

/// The study's estimate for an arm, in a network or over all.
pub(crate) fn estimate_of(
    spec: &Spec,
    findings: &Findings,
    arm: usize,
    network: Option<usize>,
    measure: Measure,
) -> Option<Effect> {
    let comparison = findings.comparisons.get(arm - 1)?;
    let Some(network) = network else {
        let row = comparison
            .measures
            .iter()
            .find(|row| row.measure == measure);
        return row?.effect;
    };
    let name = format!("AS{}", spec.networks.get(network)?.system);
    let rival = &comparison.rival;
    let mut rows = rival.groups.iter().chain(&rival.small);
    let row = rows.find(|row| row.group == name && row.measure == measure);
    row.map(|row| row.effect)
}

/// Reads a policy, and resolves the autonomous systems in it.
pub(crate) fn read_policy(text: &str, systems: &Systems) -> Result<Policy, LabError> {
    let mut policy = Policy::parse(text)?;
    let networks = systems.networks(&policy.systems(), MAX_NETWORKS)?;
    policy.place_systems(&networks)?;
    Ok(policy)
}

/// The policy's decision for the connections of a line at this time, in seconds since 1970, with the RTT of its path
/// without a queue.
pub(crate) fn decide<'p>(policy: &Lowered<'p>, line: &Line, unix_s: f64) -> Option<Decision<'p>> {
    let at = std::time::Duration::try_from_secs_f64(unix_s).unwrap_or_default();
    let of = Connection {
        at: at.into(),
        ..Connection::incoming(line.client, PORT)
    };
    policy.decide(&of.with_rtt(line.rtt()))
}

impl InForce<'_> {
    /// The index of a line's arm as it was observed. A policy that was really in force is one more arm.
    pub fn observed(&self, seen: &ObservedLine<'_>, names: &[&str]) -> usize {
        match self {
            InForce::Policy(_) if seen.arms.len() > names.len() => names.len(),
            _ => self.arm(seen.line, names),
        }
    }

    /// The index of a line's arm. Connections that a policy leaves alone have the first arm, which was in force before.
    pub fn arm(&self, line: &Line, names: &[&str]) -> usize {
        match self {
            InForce::Arm(arm) => *arm,
            InForce::Policy(policy) => {
                let decision = decide(policy, line, 0.0);
                let place = |of: &str| names.iter().position(|name| *name == of);
                decision.and_then(|of| place(of.controller)).unwrap_or(0)
            }
        }
    }
}
