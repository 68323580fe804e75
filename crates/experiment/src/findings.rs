//! The results of a study.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::balance::Balance;
use crate::effect::{DOUBT, Difference, Effect, Interval, holm};
use crate::heat::{Heat, HeatRow};
use crate::measure::Measure;
use crate::observation::{Observation, Scope};
use crate::percentile::percentile;
use crate::tally::{Level, Tally};
use crate::verdict::{self, Decision, Reach};

/// The least change that is worth a rule.
const LEAST: f64 = 0.03;

/// The percentile of slow connections that a large CDN reported.
const SLOW: f64 = 0.05;

/// The seed of the bootstrap, so that the same data give the same interval.
const SEED: u64 = 19;

/// The upper ends of the classes of connections by their share of retransmitted packets. One more class is above the last.
const CLASSES: [f64; 3] = [0.0, 0.01, 0.05];

/// The measures that groups are compared in: first the one that policies improve, then those that they may harm.
const GROUPED: [Measure; 3] = [Measure::Throughput, Measure::Time10k, Measure::Time100k];

/// The sums of connections in bounded memory, enough to watch a study.
#[derive(Debug, Clone)]
pub struct Measured {
    tallies: Vec<Tally>,
    /// The doubt of each interval, such that all arms together have [`DOUBT`].
    doubt: f64,
}

impl Measured {
    /// Empty sums for this many arms.
    pub fn new(arms: usize) -> Measured {
        Measured {
            tallies: vec![Tally::new(arms); Measure::ALL.len()],
            doubt: DOUBT / others(arms),
        }
    }

    /// Adds an observation.
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

    /// The effect of an arm on a measure, against the first arm.
    pub fn effect(&self, arm: usize, measure: Measure) -> Option<Effect> {
        let difference = Difference::of(self.tally(measure)?, [0, arm], measure.kind())?;
        Some(difference.effect(self.doubt))
    }
}

/// The number of arms that are compared with one.
fn others(arms: usize) -> f64 {
    arms.saturating_sub(1).max(1) as f64
}

/// Whether an improvement is worth a rule and statistically significant.
pub(crate) fn is_clear(change: f64, p_corrected: f64) -> bool {
    p_corrected < DOUBT && change >= LEAST
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
    /// Whether the study has run for its planned duration. Otherwise, the verdict and the corrected p-values are
    /// anytime-valid.
    pub is_over: bool,
    /// How far the study is.
    pub reach: Reach,
    /// What sizes and times were observed on.
    pub observed: Observed,
    /// Whether the arms are balanced. `None` without connections.
    pub balance: Option<Balance>,
    /// The values of each arm.
    pub arms: Vec<ArmLevels>,
    /// The effects of each arm but the first.
    pub comparisons: Vec<Comparison>,
    /// If the verdict takes an arm: the effects of each other arm in groups, against the one taken.
    pub rivals: Vec<Rival>,
    /// What is missing of the recorded data, in words.
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
    /// The shares of its connections with no retransmissions, up to 1 % of packets, up to 5 %, and more.
    pub resent_classes: Vec<f64>,
}

/// The effects of an arm in groups, against another arm.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Rival {
    /// The arm's controller.
    pub controller: String,
    /// The other arm's controller.
    pub over: String,
    /// The throughput over 3 MB in each group with enough data, by ascending p-value.
    pub groups: Vec<GroupRow>,
    /// The times of small objects in each group with enough data, by ascending p-value.
    pub small: Vec<GroupRow>,
}

/// The effects of an arm against the first one.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// The two arms, and the effects in groups.
    #[serde(flatten)]
    pub rival: Rival,
    /// The effect on each measure.
    pub measures: Vec<Row>,
    /// The 5th percentile of throughput over 3 MB.
    pub throughput_p5: Option<Percentile>,
    /// Completion times by size, from fast to slow.
    pub heat: Vec<HeatRow>,
}

/// The effect of an arm on a measure.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// The measure.
    pub measure: Measure,
    /// The effect. `None` with too few data.
    pub effect: Option<Effect>,
    /// The p-value, corrected for the number of measures (Holm) and arms. It is anytime-valid unless the study is over.
    pub p_corrected: Option<f64>,
}

/// The change of a percentile.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Percentile {
    /// The relative change against the first arm.
    pub change: f64,
    /// The 95 % interval for a single look.
    pub once: Interval,
}

/// The effect of an arm in a group.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GroupRow {
    /// The group's name.
    pub group: String,
    /// The measure.
    pub measure: Measure,
    /// The effect.
    pub effect: Effect,
    /// The p-value, corrected for the number of rows (Holm) and arms. It is anytime-valid unless the study is over.
    pub p_corrected: f64,
    /// The interval if only groups that are worth a rule are selected, from all arms: on average, 5 % of the selected
    /// intervals miss the truth (Benjamini and Yekutieli, 2005).
    pub picked: Interval,
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
            observed: Observed::default(),
            heat: Heat::new(arms),
            reach: Reach::Over,
            lacking: None,
        }
    }

    /// Says how far the study is. Unless it is over, anytime-valid results are needed.
    pub fn reached(&mut self, reach: Reach) {
        self.reach = reach;
    }

    fn is_over(&self) -> bool {
        self.reach == Reach::Over
    }

    /// Says what is missing of the recorded data. The verdict repeats it.
    pub fn lacks(&mut self, what: String) {
        self.lacking = Some(what);
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
        let (decision, verdict) = verdict::of(
            balance.as_ref(),
            &comparisons,
            self.observed.noun(),
            self.reach,
        );
        let lacking = self.lacking.iter().map(|what| format!(" {what}"));
        Findings {
            verdict: format!("{decision}. {verdict}{}", lacking.collect::<String>()),
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
        let (large, small) = GROUPED.split_at(1);
        Rival {
            controller: self.names[arm].clone(),
            over: self.names[over].clone(),
            groups: self.groups([over, arm], large),
            small: self.groups([over, arm], small),
        }
    }

    fn compare(&self, arm: usize) -> Comparison {
        let effects = Measure::ALL
            .iter()
            .map(|&measure| self.effect(arm, measure));
        let effects: Vec<Option<Effect>> = effects.collect();
        let known = effects.iter().flatten();
        let known: Vec<f64> = known.map(|effect| effect.p(self.is_over())).collect();
        let mut corrected = corrected(&known, others(self.names.len())).into_iter();
        let rows = Measure::ALL
            .iter()
            .zip(effects)
            .map(|(&measure, effect)| Row {
                measure,
                p_corrected: effect.and_then(|_| corrected.next()),
                effect,
            });
        let doubt = self.measured.doubt;
        let slow = percentile(&self.large[0], &self.large[arm], SLOW, doubt, SEED);
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
        let slow = record::statistics::quantile(logs, SLOW);
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
mod tests {
    use super::*;
    use crate::simulated::{Model, Units};

    #[test]
    fn intervals_of_several_arms_are_right_all_together() {
        let names = ["cubic", "bbr", "reno", "vegas"];
        let (mut once, mut always, mut careless) = (0, 0, 0);
        for seed in 0..200 {
            let mut gathered = Gathered::new(&names, &[0.25; 4]);
            for of in Model::new(Units::Connections(2000), 0.0).study(seed) {
                let arm = (of.unit >> 62) as usize;
                gathered.add(&Observation { arm, ..of });
            }
            let measure = Measure::Throughput;
            let tally = gathered.measured.tally(measure).unwrap();
            let of_one = |arm| Effect::of(tally, arm, measure.kind()).unwrap();
            let of_all = |arm| gathered.effect(arm, measure).unwrap();
            let missed = |interval: &dyn Fn(usize) -> Interval| {
                u32::from((1..4).any(|arm| !interval(arm).has(0.0)))
            };
            once += missed(&|arm| of_all(arm).once);
            always += missed(&|arm| of_all(arm).always);
            careless += missed(&|arm| of_one(arm).once);
            for arm in 1..4 {
                let [all, one] = [of_all(arm), of_one(arm)].map(|of| of.always);
                assert!(all.low < one.low && all.high > one.high, "{all:?}, {one:?}");
            }
        }
        // 5 % of 200 and two standard deviations. Without the correction for several arms, more would miss.
        assert!(once <= 16 && careless > 16, "{once}, {careless}");
        assert!(always <= once, "{always}, {once}");
    }

    #[test]
    fn of_several_arms_the_verdict_takes_the_one_that_is_better_by_most() {
        for (effects, best, others) in [
            ([0.5, 1.5], "reno", ["cubic", "bbr"]),
            ([1.5, 0.5], "bbr", ["cubic", "reno"]),
        ] {
            let mut gathered = Gathered::new(&["cubic", "bbr", "reno"], &[0.5, 0.25, 0.25]);
            for ((seed, other), effect) in [(1, 1), (2, 2)].into_iter().zip(effects) {
                for of in Model::new(Units::Prefixes(1500), effect).study(seed) {
                    let arm = if of.arm == 1 { other } else { 0 };
                    gathered.add(&Observation { arm, ..of });
                }
            }
            let findings = gathered.findings();
            // Both arms are better than the first.
            for comparison in &findings.comparisons {
                let effect = comparison.measures[0].effect.unwrap();
                assert!(effect.once.low > 0.0, "{effect:?}");
            }
            assert_eq!(findings.decision, Decision::Take(best.to_owned()));
            let over = findings.against(best);
            let over: Vec<&str> = over.map(|rival| rival.controller.as_str()).collect();
            assert_eq!(over, others);
        }
    }

    /// For each group, the throughput of each arm in thousandths of a rate, with little random variation.
    fn hardly_by_chance<const ARMS: usize>(groups: &[[u64; ARMS]]) -> Gathered {
        let names = &["cubic", "bbr", "reno"][..ARMS];
        let mut gathered = Gathered::new(names, &[1.0 / ARMS as f64; ARMS]);
        for (group, throughput) in (1..).zip(groups) {
            for (unit, arm) in (0..60 * ARMS as u64).zip((0..ARMS).cycle()) {
                let of_unit = 1000 + unit / ARMS as u64 % 7 * 5;
                gathered.add(&Observation {
                    scope: crate::observation::Scope::Connection,
                    unit: unit + 1000 * group,
                    arm,
                    acknowledged: 4_000 * throughput[arm],
                    busy: units::Duration::from_millis(of_unit),
                    packets: 3000,
                    resent: 0,
                    rtt: None,
                    groups: vec![format!("AS{group}")],
                });
            }
        }
        gathered
    }

    /// The difference of two arms in the throughput of a group.
    fn in_group(gathered: &Gathered, group: &str, arms: [usize; 2]) -> Difference {
        let tallies = &gathered.groups[group];
        Difference::of(&tallies[0], arms, Measure::Throughput.kind()).unwrap()
    }

    #[test]
    fn intervals_are_wider_where_fewer_groups_are_worth_a_rule() {
        // All groups but the fourth differ significantly. In the second the arm is worse, and in the third the gain is too
        // small.
        let gathered = hardly_by_chance(&[[1000, 1200], [1000, 800], [1000, 1020], [1000, 1000]]);
        let findings = gathered.findings();
        let rows = &findings.comparisons[0].rival.groups;
        let sure = rows.iter().filter(|row| row.p_corrected < DOUBT).count();
        assert_eq!((sure, rows.len()), (3, 4));
        let row = rows.iter().find(|row| row.group == "AS1").unwrap();
        let known = in_group(&gathered, "AS1", [0, 1]);
        assert_eq!(row.picked, known.interval(true, DOUBT / 4.0));
    }

    #[test]
    fn against_the_arm_that_is_taken_all_pairs_of_arms_count() {
        let gathered = hardly_by_chance(&[[1000, 1200, 1203]]);
        let findings = gathered.findings();
        assert_eq!(findings.decision, Decision::Take("reno".to_owned()));
        let bbr = |of: &str| findings.against(of).find(|one| one.controller == "bbr");
        for (over, place, tables) in [("cubic", 0, 2.0), ("reno", 2, 3.0)] {
            let row = &bbr(over).unwrap().groups[0];
            let known = in_group(&gathered, "AS1", [place, 1]);
            assert_eq!(row.effect, known.effect(DOUBT / tables));
            assert_eq!(row.p_corrected, row.effect.p * tables);
        }
    }

    #[test]
    fn what_is_not_there_is_in_the_verdict() {
        let mut gathered = Gathered::new(&["cubic", "bbr"], &[0.5, 0.5]);
        assert_eq!(gathered.findings().lacking, None);
        gathered.lacks("Half of it is gone.".to_owned());
        let findings = gathered.findings();
        assert!(
            findings.verdict.starts_with("Too little data. There is ")
                && findings.verdict.ends_with(" Half of it is gone.")
        );
        assert_eq!(findings.lacking.as_deref(), Some("Half of it is gone."));
    }

    #[test]
    fn times_of_small_objects_are_told_by_group() {
        let mut gathered = Gathered::new(&["cubic", "bbr"], &[0.5, 0.5]);
        for mut of in Model::new(Units::Prefixes(2000), 0.0).study(1) {
            let groups = vec![format!("AS{}", of.unit % 2)];
            if of.unit % 2 == 1 && of.arm == 1 && of.acknowledged < 10_000 {
                of.busy = of.busy * 2;
            }
            gathered.add(&Observation { groups, ..of });
        }
        let findings = gathered.findings();
        let small = &findings.comparisons[0].rival.small;
        assert_eq!(small.len(), 2 * 2, "{small:?}");
        let sure = small.iter().filter(|row| row.p_corrected < DOUBT);
        let sure: Vec<(&str, Measure)> = sure.map(|row| (&*row.group, row.measure)).collect();
        assert_eq!(sure, [("AS1", Measure::Time10k)]);
        assert!((small[0].effect.change - 1.0).abs() < 0.5, "{small:?}");
    }

    #[test]
    fn a_study_that_goes_on_is_judged_by_what_holds_at_any_time() {
        let mut judged = 0;
        for seed in 0..40 {
            let mut gathered = Gathered::new(&["cubic", "bbr"], &[0.5, 0.5]);
            let study = Model::new(Units::Prefixes(500), 0.25).study(seed);
            study.iter().for_each(|of| gathered.add(of));
            let effect = gathered.effect(1, Measure::Throughput).unwrap();
            // Significant for a single look at the end, but not at any time.
            if effect.once.low <= 0.0 || effect.always.low > 0.0 {
                continue;
            }
            judged += 1;
            let over = gathered.findings();
            gathered.reached(Reach::EndedEarly);
            let ended = gathered.findings();
            gathered.reached(Reach::Running);
            let on = gathered.findings();
            assert!(matches!(
                over.decision,
                Decision::Take(_) | Decision::Weigh(_)
            ));
            assert_eq!(on.decision, Decision::Open);
            assert!(
                on.verdict.contains("still running") && !over.verdict.contains("still running")
            );
            assert!(
                ended.verdict.contains("ended early") && !ended.verdict.contains("still running")
            );
            assert_eq!(
                (ended.decision, ended.comparisons),
                (on.decision.clone(), on.comparisons.clone())
            );
            let p = |of: &Findings| of.comparisons[0].measures[0].p_corrected.unwrap();
            assert!(p(&on) > p(&over));
        }
        assert!(judged > 5, "{judged}");
    }

    #[test]
    fn values_of_the_measures_are_corrected_for_measures_and_arms() {
        let mut gathered = Gathered::new(&["cubic", "bbr", "reno"], &[0.5, 0.25, 0.25]);
        for of in Model::new(Units::Connections(3000), 0.0).study(3) {
            let arm = [0, 0, 1, 2][(of.unit >> 62) as usize];
            // RTTs of the second arm are a little longer.
            let rtt = of
                .rtt
                .map(|rtt| rtt * if arm == 1 { 114 } else { 100 } / 100);
            gathered.add(&Observation { arm, rtt, ..of });
        }
        for reach in [Reach::Over, Reach::Running] {
            gathered.reached(reach);
            let findings = gathered.findings();
            let rows = &findings.comparisons[0].measures;
            let known: Vec<(f64, f64)> = rows
                .iter()
                .filter_map(|row| Some((row.effect?.p(reach == Reach::Over), row.p_corrected?)))
                .collect();
            // Connections say nothing of what was cut short.
            assert_eq!(known.len(), Measure::ALL.len() - 1);
            let least = known
                .iter()
                .copied()
                .reduce(|one, other| if one.0 < other.0 { one } else { other });
            let (p, p_corrected) = least.unwrap();
            // For eight measures, and two arms.
            let all = p * 8.0 * 2.0;
            assert!(
                all < 1.0 && (p_corrected / all - 1.0).abs() < 1e-9,
                "{known:?}"
            );
        }
    }

    #[test]
    fn a_connection_is_in_the_class_of_its_share_of_retransmissions() {
        let mut gathered = Gathered::new(&["cubic"], &[1.0]);
        let of = Model::new(Units::Connections(1), 0.0).study(1).remove(0);
        // None; up to 1 %; up to 5 %; more.
        for resent in [0, 0, 0, 0, 1, 10, 11, 50, 51, 1000] {
            gathered.add(&Observation {
                arm: 0,
                packets: 1000,
                resent,
                ..of.clone()
            });
        }
        assert_eq!(
            gathered.findings().arms[0].resent_classes,
            [0.4, 0.2, 0.2, 0.2]
        );
    }
}
