//! The truth, beside what a study and its policy say.

use experiment::policy::{Connection, Decision, Policy};
use experiment::{Effect, Findings, Measure, Measured, Observation, Plan};
use fleet::Systems;

use crate::found::{Choice, Found, MEASURES, OfNetwork, Told, of_best};
use crate::laboratory::LabError;
use crate::line::Line;
use crate::observed::PORT;
use crate::redrawn::Redrawn;
use crate::spec::Spec;

/// What an experiment would see of a line with each arm.
pub(crate) struct Seen<'l> {
    pub line: &'l Line,
    pub arms: Vec<Vec<Observation>>,
}

/// What is in force: an arm for each line.
pub(crate) enum InForce<'p> {
    Arm(usize),
    Policy(&'p Policy),
}

/// The truth, which only a laboratory knows.
pub(crate) struct Truth<'t> {
    pub spec: &'t Spec,
    pub plan: &'t Plan,
    pub systems: &'t Systems,
    /// Each line with each arm, with the objects of the study.
    pub study: Vec<Seen<'t>>,
    /// The same when the study is over: draws of lines that it has not seen, or the same lines again. Where its policy has really been in
    /// force, that is as one more arm.
    pub after: Vec<Vec<Seen<'t>>>,
    /// How many connections all of this is of.
    pub connections: u64,
}

impl Truth<'_> {
    /// Puts it beside what a study has found, and the policy that was made of that.
    ///
    /// # Errors
    ///
    /// The policy cannot be read back.
    pub fn beside(&self, findings: &Findings, text: String) -> Result<Found, LabError> {
        let Truth { spec, plan, .. } = *self;
        let study = &self.study;
        let after = || self.after.iter().flatten();
        let policy = read_policy(&text, self.systems)?;
        let names = plan.names();
        let arms = || (0..names.len()).map(InForce::Arm).collect::<Vec<_>>();
        let mut choices = arms();
        let has_been = after().all(|seen| seen.arms.len() > names.len());
        choices.push(if has_been {
            InForce::Arm(names.len())
        } else {
            InForce::Policy(&policy)
        });
        let of = |network: usize| move |line: &Line| line.network == network;
        let truths: Vec<Measured> = (0..spec.networks.len())
            .map(|network| measured(study, &arms(), &names, of(network)))
            .collect();
        let truth = measured(study, &arms(), &names, |_| true);
        let redrawn = Redrawn::of(self);
        let told = |network: Option<usize>, measure: Measure| {
            let truth = network.map_or(&truth, |network| &truths[network]);
            (1..names.len())
                .map(|arm| Told {
                    measure,
                    controller: names[arm].to_owned(),
                    truth: truth.effect(arm, measure).map(|effect| effect.change),
                    told: told_of(spec, findings, arm, network, measure),
                    covered: redrawn.covered(spec, arm, network, measure, truth),
                })
                .collect::<Vec<_>>()
        };
        let networks: Vec<OfNetwork> = (0..spec.networks.len())
            .map(|index| {
                let network = &spec.networks[index];
                let in_force = measured(after(), &choices, &names, of(index));
                OfNetwork {
                    name: network.name.clone(),
                    kind: network.kind.to_string(),
                    system: network.system,
                    lines: study
                        .iter()
                        .filter(|seen| seen.line.network == index)
                        .count(),
                    throughput: told(Some(index), Measure::Throughput),
                    small: told(Some(index), Measure::Time10k),
                    rule: rule(&policy, after(), index),
                    changes: (0..choices.len())
                        .map(|choice| changes(&in_force, choice))
                        .collect(),
                }
            })
            .collect();
        let everywhere = measured(after(), &choices, &names, |_| true);
        let draws = self
            .after
            .iter()
            .map(|seen| judged(spec, seen, &choices, &names));
        Ok(Found {
            name: spec.name.clone(),
            seed: spec.seed,
            lines: study.len(),
            connections: findings.arms.iter().map(|arm| arm.connections).sum(),
            runs_connections: self.connections,
            verdict: findings.verdict.clone(),
            measures: MEASURES
                .iter()
                .flat_map(|&measure| told(None, measure))
                .collect(),
            choices: (0..choices.len())
                .map(|choice| Choice {
                    name: names
                        .get(choice)
                        .map_or("the policy", |name| *name)
                        .to_owned(),
                    changes: changes(&everywhere, choice),
                    worst: worst(&networks, choice),
                })
                .collect(),
            networks,
            draws: draws.collect(),
            redraws: redrawn.redraws(),
            policy: text,
            real: None,
        })
    }
}

/// What findings say of an arm, in a network or over all.
pub(crate) fn told_of(
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

/// The policy of a text, with the networks of its systems.
pub(crate) fn read_policy(text: &str, systems: &Systems) -> Result<Policy, LabError> {
    let mut policy = Policy::parse(text)?;
    let networks = systems.networks(&policy.systems())?;
    policy.place_systems(&networks)?;
    Ok(policy)
}

/// What the policy decides on the connections of a line at this time, in seconds since 1970, by the path that it has without a queue.
pub(crate) fn decide<'p>(policy: &'p Policy, line: &Line, unix_s: f64) -> Option<Decision<'p>> {
    let at = std::time::Duration::try_from_secs_f64(unix_s).unwrap_or_default();
    policy.decide(&Connection {
        client: line.client,
        is_incoming: true,
        port: PORT,
        rtt: line.rtt(),
        at: at.into(),
    })
}

impl InForce<'_> {
    /// The place of the arm that a line has. What a policy leaves alone has the first arm, which was there before.
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

/// What is measured on some of the lines with each of these in force: they are its arms.
fn measured<'s, 'l: 's>(
    seen: impl IntoIterator<Item = &'s Seen<'l>>,
    in_force: &[InForce<'_>],
    names: &[&str],
    is_of: impl Fn(&Line) -> bool,
) -> Measured {
    let mut measured = Measured::new(in_force.len());
    let lines = (0..).zip(seen).filter(|(_, seen)| is_of(seen.line));
    for (unit, seen) in lines {
        for (place, in_force) in in_force.iter().enumerate() {
            let arm = in_force.arm(seen.line, names);
            for of in seen.arms.get(arm).into_iter().flatten() {
                measured.add(&Observation {
                    unit,
                    arm: place,
                    groups: Vec::new(),
                    ..*of
                });
            }
        }
    }
    measured
}

/// What the policy, which is the last of these, is worth over a draw of lines.
fn judged(spec: &Spec, seen: &[Seen<'_>], in_force: &[InForce<'_>], names: &[&str]) -> Choice {
    let policy = in_force.len() - 1;
    let of_best = (0..spec.networks.len()).filter_map(|index| {
        let network = measured(seen, in_force, names, |line| line.network == index);
        let changes = (0..in_force.len()).map(|choice| changes(&network, choice));
        let changes: Vec<_> = changes.collect();
        Some((
            spec.networks[index].name.clone(),
            of_best(&changes, policy)?,
        ))
    });
    Choice {
        name: "the policy".to_owned(),
        worst: of_best.min_by(|one, other| one.1.total_cmp(&other.1)),
        changes: changes(&measured(seen, in_force, names, |_| true), policy),
    }
}

/// How much measures change over the first arm.
fn changes(measured: &Measured, arm: usize) -> Vec<Option<f64>> {
    let change = |&measure| Some(measured.effect(arm, measure)?.change);
    MEASURES.iter().map(change).collect()
}

/// The rule of a network, by the first of its lines that does not explore, and its controller: a rule is of a whole system, and so of
/// all of them.
fn rule<'s, 'l: 's>(
    policy: &Policy,
    seen: impl Iterator<Item = &'s Seen<'l>>,
    network: usize,
) -> [String; 2] {
    let mut lines = seen.filter(|seen| seen.line.network == network);
    let found = lines.find_map(|seen| decide(policy, seen.line, 0.0).filter(|of| !of.is_exploring));
    found.map_or_else(Default::default, |of| {
        [of.rule.name.clone(), of.rule.controller().to_owned()]
    })
}

/// The network where a choice is furthest from the best.
fn worst(networks: &[OfNetwork], choice: usize) -> Option<(String, f64)> {
    let of_best = networks
        .iter()
        .filter_map(|network| Some((network.name.clone(), network.of_best(choice)?)));
    of_best.min_by(|one, other| one.1.total_cmp(&other.1))
}
