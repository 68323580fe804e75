//! Studies of the same lines with arms drawn again.

use experiment::learn::{self, Context};
use experiment::{Findings, Gathered, Measure, Measured, Observation};
use tables::statistics::Sorted;

use crate::found::{MAX_SHORTFALL, Redraws};
use crate::keys::redraws;
use crate::line::Line;
use crate::observed::{drawn, in_study};
use crate::spec::Spec;
use crate::truth::{InForce, ObservedLine, Truth, estimate_of, read_policy};

/// Studies of the same lines with arms drawn again.
pub(crate) struct Redrawn {
    findings: Vec<Findings>,
    /// The number of policies that they make.
    policies: usize,
    /// For each policy, the relative difference of the worst network's throughput from its best arm. Networks whose lines
    /// share a link are left out: each policy would take a run.
    worst: Vec<f64>,
}

impl Redrawn {
    pub fn of(truth: &Truth<'_>) -> Redrawn {
        let Truth { spec, plan, .. } = *truth;
        let (names, shares) = (plan.names(), plan.shares());
        let after = truth.after.iter().flatten();
        let sums = Sums::of(
            after.filter(|seen| spec.networks[seen.line.network].over.is_none()),
            names.len(),
            spec.networks.len(),
        );
        let mut redrawn = Redrawn {
            findings: Vec::new(),
            policies: 0,
            worst: Vec::new(),
        };
        for (study, key) in (1..).zip(redraws(spec)) {
            let mut gathered = Gathered::new(&names, &shares.shares());
            for seen in &truth.study {
                let (unit, arm) = drawn(seen.line, &key, &shares);
                let place = in_study(spec, seen.line, arm, study);
                for of in seen.arms.get(place).into_iter().flatten() {
                    gathered.add(&Observation {
                        unit,
                        arm,
                        groups: of.groups.clone(),
                        ..*of
                    });
                }
            }
            let findings = gathered.findings();
            let policy = learn::policy(plan, &findings, &Context::default()).ok();
            let policy = policy.and_then(|text| read_policy(&text, truth.systems).ok());
            redrawn.policies += usize::from(policy.is_some());
            redrawn.worst.extend(policy.and_then(|policy| {
                let lowered = policy.lowered();
                let policy = InForce::Policy(&lowered);
                sums.worst(|line| policy.arm(line, &names))
            }));
            redrawn.findings.push(findings);
        }
        redrawn
    }

    /// The number of intervals that contain the truth, and the number of intervals.
    pub fn covered(
        &self,
        spec: &Spec,
        arm: usize,
        network: Option<usize>,
        measure: Measure,
        truth: &Measured,
    ) -> [usize; 2] {
        let Some(truth) = truth.effect(arm, measure) else {
            return [0, 0];
        };
        let told = self.findings.iter();
        let told = told.filter_map(|findings| estimate_of(spec, findings, arm, network, measure));
        let has: Vec<bool> = told.map(|effect| effect.once.has(truth.change)).collect();
        [has.iter().filter(|has| **has).count(), has.len()]
    }

    /// The mean of the estimates: that of the logarithms of ratios.
    pub fn mean(
        &self,
        spec: &Spec,
        arm: usize,
        network: Option<usize>,
        measure: Measure,
    ) -> Option<f64> {
        let told = self.findings.iter();
        let told = told.filter_map(|findings| estimate_of(spec, findings, arm, network, measure));
        let logs: Vec<f64> = told.map(|effect| effect.change.ln_1p()).collect();
        (!logs.is_empty()).then(|| (logs.iter().sum::<f64>() / logs.len() as f64).exp_m1())
    }

    /// The summary of these studies.
    pub fn redraws(&self) -> Redraws {
        let sorted: Sorted = self.worst.iter().copied().collect();
        let near = self.worst.iter().filter(|worst| **worst >= -MAX_SHORTFALL);
        Redraws {
            studies: self.findings.len(),
            policies: self.policies,
            near_best: near.count(),
            worst: sorted
                .median()
                .zip(sorted.min())
                .map(|(median, worst)| [median, worst]),
        }
    }
}

/// The sum of the logarithms of large objects' throughput, and their number.
type Sum = (f64, f64);

/// The sums of each line with each arm. With them, each study's policy is compared with the best arm without looking at
/// every connection again.
struct Sums<'l> {
    lines: Vec<(&'l Line, Vec<Sum>)>,
    arms: usize,
    networks: usize,
}

impl<'l> Sums<'l> {
    fn of<'s>(
        seen: impl Iterator<Item = &'s ObservedLine<'l>>,
        arms: usize,
        networks: usize,
    ) -> Sums<'l>
    where
        'l: 's,
    {
        let sum = |all: &Vec<Observation>| -> Sum {
            let samples = all.iter().filter_map(|of| Measure::Throughput.sample(of));
            samples.fold((0.0, 0.0), |sum, of| (sum.0 + of.value, sum.1 + of.weight))
        };
        let line = |seen: &'s ObservedLine<'l>| (seen.line, seen.arms.iter().map(sum).collect());
        Sums {
            lines: seen.map(line).collect(),
            arms,
            networks,
        }
    }

    /// The relative difference of the worst network's throughput from its best arm, with these arms of lines.
    fn worst(&self, chosen: impl Fn(&Line) -> usize) -> Option<f64> {
        let of = |network: usize| {
            let lines = || {
                self.lines
                    .iter()
                    .filter(move |(line, _)| line.network == network)
            };
            let mean = |arm: &dyn Fn(&Line) -> usize| {
                let sums =
                    lines().map(|(line, sums)| sums.get(arm(line)).copied().unwrap_or_default());
                let all = sums.fold((0.0, 0.0), |all, of| (all.0 + of.0, all.1 + of.1));
                (all.1 > 0.0).then(|| all.0 / all.1)
            };
            let best = (0..self.arms)
                .filter_map(|arm| mean(&|_| arm))
                .reduce(f64::max)?;
            Some((mean(&chosen)? - best).exp_m1())
        };
        (0..self.networks).filter_map(of).reduce(f64::min)
    }
}
