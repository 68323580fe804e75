//! The truth, compared with a study and its policy.

use experiment::policy::Lowered;
use experiment::{Findings, Measure, Measured, Observation};

use crate::found::{Choice, Estimate, Found, MEASURES, OfNetwork, of_best};
use crate::laboratory::LabError;
use crate::line::Line;
use crate::redrawn::Redrawn;
use crate::spec::Spec;
use crate::truth::{InForce, ObservedLine, Truth, decide, estimate_of, read_policy};

impl Truth<'_> {
    /// Compares the truth with the results of a study, and with the policy in `text`.
    ///
    /// # Errors
    ///
    /// The policy cannot be read back.
    pub fn beside(&self, findings: &Findings, text: String) -> Result<Found, LabError> {
        let Truth { spec, plan, .. } = *self;
        let study = &self.study;
        let after = || self.after.iter().flatten();
        let policy = read_policy(&text, self.systems)?;
        let policy = policy.lowered();
        let names = plan.names();
        let arms = || (0..names.len()).map(InForce::Arm).collect::<Vec<_>>();
        let mut choices = arms();
        choices.push(InForce::Policy(&policy));
        let of = |network: usize| move |line: &Line| line.network == network;
        let truths: Vec<Measured> = (0..spec.networks.len())
            .map(|network| measured(study, &arms(), &names, of(network)))
            .collect();
        let truth = measured(study, &arms(), &names, |_| true);
        let redrawn = Redrawn::of(self);
        let told = |network: Option<usize>, measure: Measure| {
            let truth = network.map_or(&truth, |network| &truths[network]);
            (1..names.len())
                .map(|arm| Estimate {
                    measure,
                    controller: names[arm].to_owned(),
                    truth: truth.effect(arm, measure).map(|effect| effect.change),
                    told: estimate_of(spec, findings, arm, network, measure),
                    covered: redrawn.covered(spec, arm, network, measure, truth),
                    mean: network
                        .filter(|network| spec.networks[*network].over.is_some())
                        .and_then(|_| redrawn.mean(spec, arm, network, measure)),
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
                    over: network.over.map(|over| spec.shared[over].name.clone()),
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
                    background: background(after(), &choices, &names, of(index)),
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

/// The measures on some of the lines, with each of these choices in force. The choices are the arms of the result.
fn measured<'s, 'l: 's>(
    seen: impl IntoIterator<Item = &'s ObservedLine<'l>>,
    in_force: &[InForce<'_>],
    names: &[&str],
    is_of: impl Fn(&Line) -> bool,
) -> Measured {
    let mut measured = Measured::new(in_force.len());
    let lines = (0..).zip(seen).filter(|(_, seen)| is_of(seen.line));
    for (unit, seen) in lines {
        for (place, in_force) in in_force.iter().enumerate() {
            let arm = in_force.observed(seen, names);
            for of in seen.arms.get(arm).into_iter().flatten() {
                measured.add(&Observation {
                    unit,
                    arm: place,
                    groups: of.groups.clone(),
                    ..*of
                });
            }
        }
    }
    measured
}

/// The effects of the choices on the delivery of the background traffic of some of the lines, against the first arm.
fn background<'s, 'l: 's>(
    seen: impl Iterator<Item = &'s ObservedLine<'l>> + Clone,
    in_force: &[InForce<'_>],
    names: &[&str],
    is_of: impl Fn(&Line) -> bool,
) -> Vec<Option<f64>> {
    let lines = seen.filter(|seen| is_of(seen.line));
    let delivered = in_force.iter().map(|in_force| {
        let lines = lines.clone();
        let each = lines.filter_map(|seen| seen.background.get(in_force.observed(seen, names)));
        each.map(|bytes| bytes.get() as f64).sum::<f64>()
    });
    let delivered: Vec<f64> = delivered.collect();
    let first = delivered.first().copied().filter(|first| *first > 0.0);
    let change = |bytes: f64| first.map(|first| bytes / first - 1.0);
    delivered.into_iter().map(change).collect()
}

/// The value of the policy, which is the last choice, over a draw of lines.
fn judged(
    spec: &Spec,
    seen: &[ObservedLine<'_>],
    in_force: &[InForce<'_>],
    names: &[&str],
) -> Choice {
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

/// The effects on the measures against the first arm.
fn changes(measured: &Measured, arm: usize) -> Vec<Option<f64>> {
    let change = |&measure| Some(measured.effect(arm, measure)?.change);
    MEASURES.iter().map(change).collect()
}

/// The rule and its controller for a network, from the first of its lines that does not explore. A rule is for a whole
/// autonomous system, so all lines of a network have the same rule.
fn rule<'s, 'l: 's>(
    policy: &Lowered<'_>,
    seen: impl Iterator<Item = &'s ObservedLine<'l>>,
    network: usize,
) -> [String; 2] {
    let mut lines = seen.filter(|seen| seen.line.network == network);
    let found = lines.find_map(|seen| decide(policy, seen.line, 0.0).filter(|of| !of.is_exploring));
    found.map_or_else(Default::default, |of| {
        [of.rule.name.clone(), of.rule.controller().to_owned()]
    })
}

/// The network whose throughput is furthest below that of its best arm.
fn worst(networks: &[OfNetwork], choice: usize) -> Option<(String, f64)> {
    let of_best = networks
        .iter()
        .filter_map(|network| Some((network.name.clone(), network.of_best(choice)?)));
    of_best.min_by(|one, other| one.1.total_cmp(&other.1))
}
