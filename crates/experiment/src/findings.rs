//! What a study has found.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::balance::Balance;
use crate::effect::{DOUBT, Difference, Effect, Interval, holm};
use crate::heat::{Heat, HeatRow};
use crate::measure::Measure;
use crate::observation::{Observation, Scope};
use crate::percentile::percentile;
use crate::tally::{Level, Tally};
use crate::verdict::{self, Decision};

/// The slow end that a large CDN looked at.
const SLOW: f64 = 0.05;

/// Each drawing again of the same data gives the same interval.
const SEED: u64 = 19;

/// The classes of connections by their share of packets sent again: up to so much, and more.
const CLASSES: [f64; 3] = [0.0, 0.01, 0.05];

/// Connections as they come, added up in bounded memory: enough to watch a study.
#[derive(Debug, Clone)]
pub struct Measured {
    tallies: Vec<Tally>,
}

impl Measured {
    /// Nothing yet, for so many arms.
    pub fn new(arms: usize) -> Measured {
        Measured {
            tallies: vec![Tally::new(arms); Measure::ALL.len()],
        }
    }

    /// Takes a connection in.
    pub fn add(&mut self, of: &Observation) {
        for (measure, tally) in Measure::ALL.iter().zip(&mut self.tallies) {
            if let Some(sample) = measure.sample(of) {
                tally.add(of.arm, of.unit, sample);
            }
        }
    }

    fn level(&self, arm: usize, measure: Measure) -> Option<Level> {
        self.tally(measure)?.level(arm)
    }

    fn tally(&self, measure: Measure) -> Option<&Tally> {
        let place = Measure::ALL.iter().position(|&one| one == measure)?;
        self.tallies.get(place)
    }

    /// The effect of an arm in a measure.
    pub fn effect(&self, arm: usize, measure: Measure) -> Option<Effect> {
        Effect::of(self.tally(measure)?, arm, measure.kind())
    }
}

/// Connections as they come, with all that a report needs.
#[derive(Debug)]
pub struct Gathered {
    names: Vec<String>,
    shares: Vec<f64>,
    measured: Measured,
    /// How many connections each unit has.
    units: Vec<BTreeMap<u64, u64>>,
    /// Units and logarithms of throughput, of what is large.
    large: Vec<Vec<(u64, f64)>>,
    groups: BTreeMap<String, Tally>,
    classes: Vec<[u64; CLASSES.len() + 1]>,
    observed: Observed,
    heat: Heat,
    is_over: bool,
}

/// What a study has found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Findings {
    /// What all of it means, in words.
    pub verdict: String,
    /// The same as one word.
    pub decision: Decision,
    /// Whether its time is over: before, verdict and corrected probabilities are those for who looks often.
    pub is_over: bool,
    /// What sizes and times are of.
    pub observed: Observed,
    /// Whether the arms got what they should; nothing without connections.
    pub balance: Option<Balance>,
    /// What each arm had.
    pub arms: Vec<ArmLevels>,
    /// What each arm but the first one changed.
    pub comparisons: Vec<Comparison>,
}

/// Of how many sizes and times of which kind findings are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Observed {
    /// Objects, those included that were cut short.
    pub objects: u64,
    /// Connections that were taken as a whole, as their objects are not known.
    pub connections: u64,
}

impl Observed {
    /// What most of them are.
    pub fn noun(self) -> &'static str {
        if self.objects >= self.connections {
            "objects"
        } else {
            "connections"
        }
    }

    fn note(&mut self, of: &Observation) {
        if of.acknowledged == 0 {
            return;
        }
        match of.scope {
            Scope::Object | Scope::Part => self.objects += 1,
            Scope::Connection => self.connections += 1,
            Scope::Carrier => {}
        }
    }
}

/// What an arm had.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ArmLevels {
    /// Its controller.
    pub controller: String,
    /// How many units it has.
    pub units: u64,
    /// How many connections with data.
    pub connections: u64,
    /// The geometric mean of the throughput over 3 MB, in bit/s.
    pub throughput_bps: Option<f64>,
    /// Their 5th percentile.
    pub throughput_p5_bps: Option<f64>,
    /// The share of packets that it sent again.
    pub resent: Option<f64>,
    /// The shares of its connections that sent nothing again, up to 1 % of packets, up to 5 %, and more.
    pub resent_classes: Vec<f64>,
}

/// What an arm changed, against the first one.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// The arm's controller.
    pub controller: String,
    /// The first arm's.
    pub over: String,
    /// In each measure.
    pub measures: Vec<Row>,
    /// The 5th percentile of throughput over 3 MB.
    pub throughput_p5: Option<Percentile>,
    /// Completion times by size, from the fast ones to the slow ones.
    pub heat: Vec<HeatRow>,
    /// Throughput over 3 MB in each group that has enough of both arms, the surest first.
    pub groups: Vec<GroupRow>,
}

/// What an arm changed in a measure.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// In what.
    pub measure: Measure,
    /// How much; nothing where there is too little to tell it by.
    pub effect: Option<Effect>,
    /// Its probability, corrected for so many measures (Holm): for one look if the study is over, else for many.
    pub p_corrected: Option<f64>,
}

/// How much a percentile changed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Percentile {
    /// Over the first arm's, less one.
    pub change: f64,
    /// Its 95 % interval, if it is looked at once.
    pub once: Interval,
}

/// What an arm changed in a group.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GroupRow {
    /// The group's name.
    pub group: String,
    /// How much.
    pub effect: Effect,
    /// Its probability, corrected for so many groups (Holm): for one look if the study is over, else for many.
    pub p_corrected: f64,
    /// What is left of the effect where the surest groups of all arms are picked out: of such intervals of the groups that are
    /// sure, 5 % miss on average (Benjamini and Yekutieli, 2005).
    pub picked: Interval,
}

impl Gathered {
    /// Nothing yet, for arms of these names and shares.
    pub fn new(names: &[&str], shares: &[f64]) -> Gathered {
        let arms = names.len();
        Gathered {
            names: names.iter().map(|name| (*name).to_owned()).collect(),
            shares: shares.to_vec(),
            measured: Measured::new(arms),
            units: vec![BTreeMap::new(); arms],
            large: vec![Vec::new(); arms],
            groups: BTreeMap::new(),
            classes: vec![Default::default(); arms],
            observed: Observed::default(),
            heat: Heat::new(arms),
            is_over: true,
        }
    }

    /// The study goes on: who looks now may look again.
    pub fn goes_on(&mut self) {
        self.is_over = false;
    }

    /// Takes a connection in.
    pub fn add(&mut self, of: &Observation) {
        let arm = of.arm;
        let (Some(units), Some(large)) = (self.units.get_mut(arm), self.large.get_mut(arm)) else {
            return;
        };
        let is_connection = matches!(of.scope, Scope::Connection | Scope::Carrier);
        *units.entry(of.unit).or_default() += u64::from(is_connection);
        self.observed.note(of);
        self.heat.add(of);
        self.measured.add(of);
        if let Some(sample) = Measure::Throughput.sample(of) {
            large.push((of.unit, sample.value));
            for group in &of.groups {
                let arms = self.names.len();
                let tally = self.groups.entry(group.clone());
                tally
                    .or_insert_with(|| Tally::new(arms))
                    .add(arm, of.unit, sample);
            }
        }
        if is_connection && of.packets > 0 {
            let share = of.resent as f64 / of.packets as f64;
            let class = CLASSES.iter().position(|&most| share <= most);
            self.classes[arm][class.unwrap_or(CLASSES.len())] += 1;
        }
    }

    /// The effect of an arm in a measure.
    pub fn effect(&self, arm: usize, measure: Measure) -> Option<Effect> {
        self.measured.effect(arm, measure)
    }

    /// What has been found.
    pub fn findings(&self) -> Findings {
        let units = self.units.iter().map(|units| units.values().copied());
        let balance = Balance::of(units, &self.shares);
        let comparisons: Vec<Comparison> =
            (1..self.names.len()).map(|arm| self.compare(arm)).collect();
        let (decision, verdict) = verdict::of(
            balance.as_ref(),
            &comparisons,
            self.observed.noun(),
            self.is_over,
        );
        Findings {
            verdict: format!("{decision}: {verdict}"),
            decision,
            is_over: self.is_over,
            observed: self.observed,
            balance,
            arms: (0..self.names.len()).map(|arm| self.levels(arm)).collect(),
            comparisons,
        }
    }

    fn compare(&self, arm: usize) -> Comparison {
        let effects = Measure::ALL
            .iter()
            .map(|&measure| self.effect(arm, measure));
        let effects: Vec<Option<Effect>> = effects.collect();
        let known = effects.iter().flatten();
        let known: Vec<f64> = known.map(|effect| effect.p(self.is_over)).collect();
        let mut corrected = holm(&known).into_iter();
        let rows = Measure::ALL
            .iter()
            .zip(effects)
            .map(|(&measure, effect)| Row {
                measure,
                p_corrected: effect.and_then(|_| corrected.next()),
                effect,
            });
        let slow = percentile(&self.large[0], &self.large[arm], SLOW, SEED);
        Comparison {
            controller: self.names[arm].clone(),
            over: self.names[0].clone(),
            measures: rows.collect(),
            throughput_p5: slow.map(|(change, once)| Percentile { change, once }),
            heat: self.heat.rows(arm),
            groups: self.groups(arm),
        }
    }

    fn groups(&self, arm: usize) -> Vec<GroupRow> {
        let kind = Measure::Throughput.kind();
        let known: Vec<(&String, Difference)> = self
            .groups
            .iter()
            .filter_map(|(group, tally)| Some((group, Difference::of(tally, arm, kind)?)))
            .collect();
        let effects: Vec<Effect> = known.iter().map(|(_, known)| known.effect()).collect();
        let values: Vec<f64> = effects.iter().map(|one| one.p(self.is_over)).collect();
        let corrected = holm(&values);
        let arms = (self.names.len() - 1) as f64;
        let picked = corrected.iter().filter(|p| **p * arms < DOUBT).count();
        let doubt = DOUBT * picked.max(1) as f64 / (arms * known.len() as f64);
        let rows = known.iter().zip(effects).zip(corrected);
        let mut rows: Vec<GroupRow> = rows
            .map(|(((group, known), effect), p_corrected)| GroupRow {
                group: (*group).clone(),
                effect,
                p_corrected,
                picked: known.interval(self.is_over, doubt),
            })
            .collect();
        rows.sort_by(|one, other| one.effect.p.total_cmp(&other.effect.p));
        rows
    }

    fn levels(&self, arm: usize) -> ArmLevels {
        let level = |measure| self.measured.level(arm, measure);
        let logs = self.large[arm].iter().map(|(_, log)| *log);
        let slow = record::statistics::quantile(logs, SLOW);
        let classes = self.classes[arm];
        let all: u64 = classes.iter().sum();
        let share = |count: &u64| *count as f64 / all.max(1) as f64;
        ArmLevels {
            controller: self.names[arm].clone(),
            units: self.units[arm].len() as u64,
            connections: all,
            throughput_bps: level(Measure::Throughput).map(|level| level.mean.exp()),
            throughput_p5_bps: slow.map(f64::exp),
            resent: level(Measure::Resent).map(|level| level.mean),
            resent_classes: classes.iter().map(share).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulated::{Model, Units};

    #[test]
    fn a_study_that_goes_on_is_judged_by_what_holds_at_any_time() {
        let mut judged = 0;
        for seed in 0..40 {
            let mut gathered = Gathered::new(&["cubic", "bbr"], &[0.5, 0.5]);
            let study = Model::new(Units::Prefixes(500), 0.25).study(seed);
            study.iter().for_each(|of| gathered.add(of));
            let effect = gathered.effect(1, Measure::Throughput).unwrap();
            // Sure at its end, and not for who looks often.
            if effect.once.low <= 0.0 || effect.always.low > 0.0 {
                continue;
            }
            judged += 1;
            let over = gathered.findings();
            gathered.goes_on();
            let on = gathered.findings();
            assert!(matches!(
                over.decision,
                Decision::Take(_) | Decision::Weigh(_)
            ));
            assert_eq!(on.decision, Decision::Open);
            assert!(on.verdict.contains("goes on") && !over.verdict.contains("goes on"));
            let p = |of: &Findings| of.comparisons[0].measures[0].p_corrected.unwrap();
            assert!(p(&on) > p(&over));
        }
        assert!(judged > 5, "{judged}");
    }
}
