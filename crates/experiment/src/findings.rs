//! The results of a study.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::balance::Balance;
use crate::comparison::{Comparison, GroupRow, Percentile, Rival, Row, is_clear};
use crate::effect::{DOUBT, Difference, Effect, holm};
use crate::force::InForce;
use crate::heat::Heat;
use crate::measure::Measure;
use crate::observation::{Observation, Scope};
use crate::percentile::percentile;
use crate::strata::Cells;
use crate::tally::{Level, Tally};
use crate::verdict::{self, Decision, Reach, joined};

/// The percentile of slow connections that a large CDN reported.
const SLOW_SHARE: f64 = 0.05;

/// The seed of the bootstrap, so that the same data give the same interval.
const SEED: u64 = 19;

/// The upper ends of the classes of connections by their share of retransmitted packets, except the last class.
const CLASSES: [f64; 3] = [0.0, 0.01, 0.05];

/// The measures that groups are compared in: first the one that policies improve, then those that they may harm.
const GROUPED: [Measure; 6] = [
    Measure::Throughput,
    Measure::Time10k,
    Measure::Time100k,
    Measure::Time1m,
    Measure::Time3m,
    Measure::Resent,
];

/// The sums of connections in bounded memory, enough to watch a study.
#[derive(Debug, Clone)]
pub struct Measured {
    tallies: Vec<Tally>,
    cells: Cells,
    /// The doubt of each interval, such that all arms together have [`DOUBT`].
    doubt: f64,
}

impl Measured {
    /// Empty sums for this many arms.
    pub fn new(arms: usize) -> Measured {
        Measured {
            tallies: vec![Tally::new(arms); Measure::ALL.len()],
            cells: Cells::new(),
            doubt: DOUBT / others(arms),
        }
    }

    /// Adds an observation.
    pub fn add(&mut self, of: &Observation) {
        let cell = self.cells.of(&of.groups);
        for (measure, tally) in Measure::ALL.iter().zip(&mut self.tallies) {
            if let Some(sample) = measure.sample(of) {
                tally.add_in(of.arm, of.unit, cell, sample);
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

    /// The effect of an arm on a measure, against the first arm, with the arms compared within strata.
    pub fn effect(&self, arm: usize, measure: Measure) -> Option<Effect> {
        self.stratified(arm, measure).map(|(effect, _)| effect)
    }

    /// The same, with the number of strata.
    fn stratified(&self, arm: usize, measure: Measure) -> Option<(Effect, usize)> {
        let (tally, arms) = (self.tally(measure)?, [0, arm]);
        let within = Difference::within(tally, &self.cells, arms, measure.kind());
        within.map(|(difference, strata)| (difference.effect(self.doubt), strata))
    }

    /// The measures with too many units in groups for strata.
    fn without_strata(&self) -> impl Iterator<Item = Measure> {
        let all = Measure::ALL.iter().zip(&self.tallies);
        all.filter_map(|(measure, tally)| tally.is_full().then_some(*measure))
    }

    /// The effect of an arm on a measure, against the first arm, without strata.
    pub fn unadjusted(&self, arm: usize, measure: Measure) -> Option<Effect> {
        let difference = Difference::of(self.tally(measure)?, [0, arm], measure.kind())?;
        Some(difference.effect(self.doubt))
    }
}

/// The number of arms that are compared with one.
fn others(arms: usize) -> f64 {
    arms.saturating_sub(1).max(1) as f64
}

/// The observations, with all that a report needs.
#[derive(Debug)]
pub struct Gathered {
    names: Vec<String>,
    shares: Vec<f64>,
    measured: Measured,
    /// The number of connections of each unit, by arm.
    units: Vec<BTreeMap<u64, u64>>,
    /// Unit and logarithm of the throughput of each large object, by arm.
    large: Vec<Vec<(u64, f64)>>,
    groups: BTreeMap<String, [Tally; GROUPED.len()]>,
    classes: Vec<[u64; CLASSES.len() + 1]>,
    in_force: Vec<InForce>,
    observed: Observed,
    heat: Heat,
    reach: Reach,
    lacking: Option<String>,
}

/// The results of a study.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Findings {
    /// The verdict in words.
    pub verdict: String,
    /// The verdict as one word.
    pub decision: Decision,
    /// True if the study has run for its planned duration. Otherwise, verdict and corrected p-values are anytime-valid.
    pub is_over: bool,
    /// The progress of the study.
    pub reach: Reach,
    /// The source of sizes and times.
    pub observed: Observed,
    /// The balance of the arms. `None` without connections.
    pub balance: Option<Balance>,
    /// The values of each arm.
    pub arms: Vec<ArmLevels>,
    /// The effects of each arm but the first.
    pub comparisons: Vec<Comparison>,
    /// If the verdict takes an arm: the effects of each other arm in groups, against the one taken.
    pub rivals: Vec<Rival>,
    /// The gaps in the recorded data, in words.
    pub lacking: Option<String>,
}

impl Findings {
    /// The effects of each other arm in groups, against this arm: the first, or the one that the verdict takes.
    pub fn against(&self, controller: &str) -> impl Iterator<Item = &Rival> {
        let of_first = self.comparisons.iter().map(|comparison| &comparison.rival);
        of_first
            .chain(&self.rivals)
            .filter(move |rival| rival.over == controller)
    }
}

/// The number of observed sizes and times, by kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Observed {
    /// Objects, including those that were cut short.
    pub objects: u64,
    /// Connections that were taken as a whole, because their objects are unknown.
    pub connections: u64,
}

impl Observed {
    /// The word for most of them.
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

/// The values of an arm.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ArmLevels {
    /// Its controller.
    pub controller: String,
    /// The number of units.
    pub units: u64,
    /// The number of connections, with those that sent no data.
    pub connections: u64,
    /// The geometric mean of the throughput of objects over 3 MB, in bit/s.
    pub throughput_bps: Option<f64>,
    /// The 5th percentile of the same.
    pub throughput_p5_bps: Option<f64>,
    /// The share of retransmitted packets.
    pub resent: Option<f64>,
    /// The share of objects that were cut short.
    pub unfinished: Option<f64>,
    /// The numbers of its connections with and without its controller, as far as known.
    pub in_force: InForce,
    /// The shares of its connections with no retransmissions, up to 1 % of packets, up to 5 %, and more.
    pub resent_classes: Vec<f64>,
}

impl Gathered {
    /// An empty study with arms of these names and shares.
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
            in_force: vec![InForce::default(); arms],
            observed: Observed::default(),
            heat: Heat::new(arms),
            reach: Reach::Over,
            lacking: None,
        }
    }

    /// Sets the progress of the study. Unless it is over, the results are anytime-valid.
    pub fn reached(&mut self, reach: Reach) {
        self.reach = reach;
    }

    /// The progress of the study.
    pub fn reach(&self) -> Reach {
        self.reach
    }

    fn is_over(&self) -> bool {
        self.reach == Reach::Over
    }

    /// Sets the gaps in the recorded data, in words. The verdict repeats them.
    pub fn lacks(&mut self, what: String) {
        self.lacking = Some(what);
    }

    /// Counts a connection of an arm with a known controller by whether it was the arm's.
    pub fn note(&mut self, arm: usize, is_in_force: bool) {
        if let Some(force) = self.in_force.get_mut(arm) {
            force.note(is_in_force);
        }
    }

    /// Adds an observation.
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
        for (place, measure) in GROUPED.iter().enumerate() {
            let Some(sample) = measure.sample(of) else {
                continue;
            };
            if *measure == Measure::Throughput {
                large.push((of.unit, sample.value));
            }
            for group in &of.groups {
                let arms = self.names.len();
                let tallies = self.groups.entry(group.clone());
                let tallies = tallies.or_insert_with(|| std::array::from_fn(|_| Tally::new(arms)));
                tallies[place].add(arm, of.unit, sample);
            }
        }
        if is_connection && of.packets > 0 {
            let share = of.resent as f64 / of.packets as f64;
            let class = CLASSES.iter().position(|&most| share <= most);
            self.classes[arm][class.unwrap_or(CLASSES.len())] += 1;
        }
    }

    /// The effect of an arm on a measure, against the first arm.
    pub fn effect(&self, arm: usize, measure: Measure) -> Option<Effect> {
        self.measured.effect(arm, measure)
    }

    /// The results.
    pub fn findings(&self) -> Findings {
        let units = self.units.iter().map(|units| units.values().copied());
        let balance = Balance::of(units, &self.shares);
        let comparisons: Vec<Comparison> =
            (1..self.names.len()).map(|arm| self.compare(arm)).collect();
        let force = self.names.iter().map(String::as_str).zip(&self.in_force);
        let (decision, verdict) = verdict::of(
            balance.as_ref(),
            &force.collect::<Vec<_>>(),
            &comparisons,
            self.observed.noun(),
            self.reach,
        );
        let without = self.measured.without_strata();
        let without = joined(without.map(|measure| measure.title().to_owned()));
        let without = (!without.is_empty()).then(|| {
            format!("There are too many units to compare the arms within groups of clients in {without}.")
        });
        let notes = without.iter().chain(&self.lacking);
        let notes: String = notes.map(|what| format!(" {what}")).collect();
        Findings {
            verdict: format!("{decision}. {verdict}{notes}"),
            rivals: self.rivals(&decision),
            decision,
            is_over: self.is_over(),
            reach: self.reach,
            observed: self.observed,
            balance,
            arms: (0..self.names.len()).map(|arm| self.levels(arm)).collect(),
            comparisons,
            lacking: self.lacking.clone(),
        }
    }

    /// All other arms against the one that the verdict takes.
    fn rivals(&self, decision: &Decision) -> Vec<Rival> {
        let Decision::Take(taken) = decision else {
            return Vec::new();
        };
        let arms = 0..self.names.len();
        let Some(taken) = arms.clone().find(|arm| self.names[*arm] == *taken) else {
            return Vec::new();
        };
        let others = arms.filter(|arm| *arm != taken);
        others.map(|arm| self.rival(taken, arm)).collect()
    }

    fn rival(&self, over: usize, arm: usize) -> Rival {
        let of = |is_one: fn(Measure) -> bool| {
            let measures = GROUPED.into_iter().filter(|measure| is_one(*measure));
            self.groups([over, arm], &measures.collect::<Vec<_>>())
        };
        Rival {
            controller: self.names[arm].clone(),
            over: self.names[over].clone(),
            groups: of(|measure| measure == Measure::Throughput),
            small: of(|measure| !matches!(measure, Measure::Throughput | Measure::Resent)),
            resent: of(|measure| measure == Measure::Resent),
        }
    }

    fn compare(&self, arm: usize) -> Comparison {
        let effects = Measure::ALL
            .iter()
            .map(|&measure| self.measured.stratified(arm, measure));
        let effects: Vec<Option<(Effect, usize)>> = effects.collect();
        let known = effects.iter().flatten();
        let known: Vec<f64> = known.map(|(effect, _)| effect.p(self.is_over())).collect();
        let mut corrected = corrected(&known, others(self.names.len())).into_iter();
        let rows = Measure::ALL
            .iter()
            .zip(effects)
            .map(|(&measure, effect)| Row {
                measure,
                p_corrected: effect.and_then(|_| corrected.next()),
                effect: effect.map(|(effect, _)| effect),
                strata: effect.map_or(0, |(_, strata)| strata),
                unadjusted: self.measured.unadjusted(arm, measure),
            });
        let doubt = self.measured.doubt;
        let slow = percentile(&self.large[0], &self.large[arm], SLOW_SHARE, doubt, SEED);
        Comparison {
            rival: self.rival(0, arm),
            measures: rows.collect(),
            throughput_p5: slow.map(|(change, once)| Percentile { change, once }),
            heat: self.heat.rows(arm),
        }
    }

    /// The number of tables to correct for, in a table of comparisons with this arm. The data choose the arm that the
    /// verdict takes, so its tables count as a choice from those of all pairs.
    fn tables(&self, over: usize) -> f64 {
        let arms = self.names.len();
        match over {
            0 => others(arms),
            _ => others(arms) * arms as f64 / 2.0,
        }
    }

    /// The second of two arms against the first, in each group and in some of [`GROUPED`].
    fn groups(&self, arms: [usize; 2], measures: &[Measure]) -> Vec<GroupRow> {
        let each = self.groups.iter().flat_map(|(group, tallies)| {
            let tallies = GROUPED.iter().zip(tallies);
            let of_these = tallies.filter(move |(measure, _)| measures.contains(measure));
            of_these.map(move |(measure, tally)| (group, *measure, tally))
        });
        let known: Vec<(&String, Measure, Difference)> = each
            .filter_map(|(group, measure, tally)| {
                let difference = Difference::of(tally, arms, measure.kind())?;
                Some((group, measure, difference))
            })
            .collect();
        let tables = self.tables(arms[0]);
        let doubt = DOUBT / tables;
        let effects = known.iter().map(|(_, _, known)| known.effect(doubt));
        let effects: Vec<Effect> = effects.collect();
        let values: Vec<f64> = effects.iter().map(|one| one.p(self.is_over())).collect();
        let corrected = corrected(&values, tables);
        let picked = effects.iter().zip(&corrected);
        let picked = picked.filter(|(effect, p)| is_clear(effect.change, **p));
        let picked = picked.count();
        let doubt = doubt * picked.max(1) as f64 / known.len() as f64;
        let rows = known.iter().zip(effects).zip(corrected);
        let mut rows: Vec<GroupRow> = rows
            .map(
                |(((group, measure, known), effect), p_corrected)| GroupRow {
                    group: (*group).clone(),
                    measure: *measure,
                    values: known.values(measure.kind()),
                    effect,
                    p_corrected,
                    picked: known.interval(self.is_over(), doubt),
                },
            )
            .collect();
        rows.sort_by(|one, other| one.effect.p.total_cmp(&other.effect.p));
        rows
    }

    fn levels(&self, arm: usize) -> ArmLevels {
        let level = |measure| self.measured.level(arm, measure);
        let logs = self.large[arm].iter().map(|(_, log)| *log);
        let slow = tables::statistics::quantile(logs, SLOW_SHARE);
        let classes = self.classes[arm];
        let with_data = classes.iter().sum::<u64>().max(1);
        let share = |count: &u64| *count as f64 / with_data as f64;
        ArmLevels {
            controller: self.names[arm].clone(),
            units: self.units[arm].len() as u64,
            connections: self.units[arm].values().sum(),
            throughput_bps: level(Measure::Throughput).map(|level| level.mean.exp()),
            throughput_p5_bps: slow.map(f64::exp),
            resent: level(Measure::Resent).map(|level| level.mean),
            unfinished: level(Measure::Unfinished).map(|level| level.mean),
            in_force: self.in_force[arm],
            resent_classes: classes.iter().map(share).collect(),
        }
    }
}

/// Corrects the p-values of a table for their number, and for this number of tables.
fn corrected(values: &[f64], tables: f64) -> Vec<f64> {
    let corrected = holm(values).into_iter();
    corrected.map(|p| (p * tables).min(1.0)).collect()
}

#[cfg(test)]
mod tests;
