//! The verdict of a study.

use std::fmt::{self, Write};

use serde::Serialize;

use crate::balance::Balance;
use crate::effect::{DOUBT, Effect, Interval};
use crate::findings::{Comparison, GroupRow, Rival, Row, WORTH};
use crate::force::{CAUSES, InForce};
use crate::group::Group;
use crate::learn::Harm;
use crate::measure::Measure;

/// The verdict as a word.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "what", content = "controller")]
pub enum Decision {
    /// The data cannot be trusted.
    Distrust,
    /// There are too few data.
    TooLittle,
    /// No difference was found.
    Open,
    /// Stay with the first arm.
    Stay,
    /// Over all groups, this arm is not better in throughput, but it is in some groups of clients.
    TakeForSome(String),
    /// This arm is better in throughput, and significantly worse in nothing.
    Take(String),
    /// This arm is better in throughput, and significantly worse in another measure. The choice depends on what matters.
    Weigh(String),
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Decision::Distrust => f.write_str("Distrust"),
            Decision::TooLittle => f.write_str("Too little data"),
            Decision::Open => f.write_str("Open"),
            Decision::Stay => f.write_str("Stay"),
            Decision::TakeForSome(controller) => write!(f, "Take {controller} for some clients"),
            Decision::Take(controller) => write!(f, "Take {controller}"),
            Decision::Weigh(controller) => write!(f, "Weigh {controller}"),
        }
    }
}

/// The verdict, as a word and as a paragraph. `force` says of each arm whether it was in force. `noun` is what sizes and times were observed on. A study that has not run
/// for its planned duration is judged by the anytime-valid intervals.
pub fn of(
    balance: Option<&Balance>,
    force: &[(&str, &InForce)],
    comparisons: &[Comparison],
    noun: &str,
    reach: Reach,
) -> (Decision, String) {
    let lacking = force.iter().filter(|(_, force)| force.is_lacking());
    let lacking: Vec<String> = lacking
        .filter_map(|(name, force)| force.words(name))
        .collect();
    if !lacking.is_empty() {
        let lacking = joined(lacking.into_iter());
        let text = format!("Do not trust these data: an arm was not in force. {lacking}. {CAUSES}");
        return (Decision::Distrust, text);
    }
    let Some(balance) = balance else {
        let text = match reach {
            Reach::Running => "There is no connection with data yet. If this lasts,",
            Reach::Interrupted | Reach::EndedEarly | Reach::Over => {
                "There is no connection with data:"
            }
        };
        let text = format!("{text} check in the plan which connections take part.");
        return (Decision::TooLittle, text);
    };
    if !balance.has_its_units() {
        let text = format!(
            "Do not trust these data: the arms have {} units, which does not agree with the shares in the plan (p = {}). Possible \
             causes: some machines lack a controller, one arm loses connections, or the data are from another plan.",
            joined(balance.units.iter().map(u64::to_string)),
            probability(balance.p)
        );
        return (Decision::Distrust, text);
    }
    if !balance.has_its_connections() {
        let text = format!(
            "Do not trust these data: the arms have {} connections, and the numbers of connections per unit differ (p = {}). One \
             arm loses connections, or its clients open more or fewer. Either way, the arms' connections are not comparable.",
            joined(balance.connections.iter().map(u64::to_string)),
            probability(balance.p_connections.unwrap_or_default())
        );
        return (Decision::Distrust, text);
    }
    let is_over = reach == Reach::Over;
    let mut decision = Decision::TooLittle;
    let mut most = f64::NEG_INFINITY;
    let mut parts = Vec::new();
    for comparison in comparisons {
        let (one, text) = compare(comparison, noun, is_over);
        // An arm to choose beats none, and one without harm beats one with harm. Among several, the one with the greatest
        // lower bound of its gain is taken.
        let certain = certain(comparison, is_over);
        let [rank, best] = [&one, &decision].map(rank);
        if rank > best || rank == best && certain > most {
            (decision, most) = (one, certain);
        }
        parts.push(text);
    }
    let refused: Vec<String> = force
        .iter()
        .filter_map(|(name, force)| force.words(name))
        .collect();
    if !refused.is_empty() {
        let refused = joined(refused.into_iter());
        parts.push(format!(
            "Beware: {refused}, so differences look smaller. {CAUSES}"
        ));
    }
    parts.push(format!(
        "The numbers of units agree with the planned shares (p = {}){}.",
        probability(balance.p),
        balance.p_connections.map_or_else(String::new, |p| {
            format!(
                ", and the arms have equally many connections per unit (p = {})",
                probability(p)
            )
        })
    ));
    if !is_over {
        let why = match reach {
            Reach::EndedEarly => "The study ended early",
            Reach::Interrupted => "The study was interrupted",
            Reach::Running | Reach::Over => "The study is still running",
        };
        parts.push(format!(
            "{why}: this verdict uses the intervals that hold at any time."
        ));
    }
    (decision, parts.join(" "))
}

/// How far a study is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reach {
    /// It has not ended.
    Running,
    /// It has not ended, and does not run either.
    Interrupted,
    /// A guard has ended it, so its end depends on its data.
    EndedEarly,
    /// It has run for its planned duration.
    Over,
}

fn rank(decision: &Decision) -> u8 {
    match decision {
        Decision::Distrust | Decision::TooLittle => 0,
        Decision::Open => 1,
        Decision::Stay => 2,
        Decision::TakeForSome(_) => 3,
        Decision::Weigh(_) => 4,
        Decision::Take(_) => 5,
    }
}

fn throughput(comparison: &Comparison) -> Option<Effect> {
    let mut rows = comparison.measures.iter();
    rows.find(|row| row.measure == Measure::Throughput)?.effect
}

/// The lower bound of the gain in throughput.
fn certain(comparison: &Comparison, is_over: bool) -> f64 {
    throughput(comparison).map_or(f64::NEG_INFINITY, |effect| effect.interval(is_over).low)
}

fn compare(comparison: &Comparison, noun: &str, is_over: bool) -> (Decision, String) {
    let (this, first) = (&comparison.rival.controller, &comparison.rival.over);
    let Some(effect) = throughput(comparison) else {
        let text = format!(
            "{this} cannot be compared with {first}: there are too few units with {noun} over 3 MB."
        );
        return (Decision::TooLittle, text);
    };
    let believed = effect.interval(is_over);
    let mut text = match (believed.low > 0.0, believed.high < 0.0) {
        (true, _) => format!("{this} carries {noun} over 3 MB faster than {first}"),
        (_, true) => format!("{this} carries {noun} over 3 MB slower than {first}"),
        _ => format!(
            "There is no significant difference between {this} and {first} in the throughput of {noun} over 3 MB"
        ),
    };
    let _ = write!(text, ": {}", interval(&effect));
    // This interval is for a single look.
    if let Some(slow) = comparison.throughput_p5.filter(|_| is_over) {
        let _ = write!(
            text,
            ", and {} in the slowest twentieth ({})",
            change(slow.change),
            range(slow.once)
        );
    }
    text.push('.');
    let is_better = believed.low > 0.0;
    let groups = Groups::of(&comparison.rival, is_over, is_better);
    text.extend(groups.words(this));
    let worse = told(&comparison.measures, false);
    let better = told(&comparison.measures, true);
    if !worse.is_empty() {
        let _ = write!(
            text,
            " {this} is worse in {}.",
            joined(worse.iter().cloned())
        );
    }
    if !better.is_empty() {
        let _ = write!(
            text,
            " {this} is also better in {}.",
            joined(better.into_iter())
        );
    }
    if let Some(selected) = selected(&comparison.measures) {
        let _ = write!(
            text,
            " Beware: the share of {noun} over 3 MB differs ({selected}), so the arms' {noun} may not be comparable."
        );
    }
    let decision = if !is_better && !groups.better.is_empty() {
        Decision::TakeForSome(this.clone())
    } else if believed.high < 0.0 {
        Decision::Stay
    } else if believed.low <= 0.0 {
        Decision::Open
    } else if worse.is_empty() {
        Decision::Take(this.clone())
    } else {
        Decision::Weigh(this.clone())
    };
    (decision, text)
}

/// The most groups of each kind that the verdict names.
const NAMED: usize = 5;

/// The groups of clients in which an arm is significantly better, after the correction for all groups of the table, and by enough
/// for a rule; in which it is better by less; in which it does more harm than that; in which it is worse; and the others.
#[derive(Default)]
struct Groups<'r> {
    noun: &'static str,
    better: Vec<&'r GroupRow>,
    slightly: Vec<&'r GroupRow>,
    harmed: Vec<&'r GroupRow>,
    worse: Vec<&'r GroupRow>,
    others: Vec<&'r GroupRow>,
}

impl<'r> Groups<'r> {
    /// The groups of one kind: the first of regions, ASs, networks and RTTs of which one is worth a rule, or else the first of
    /// which there are several and one differs. Without such a kind, there are none. If the arm is better for all clients, a
    /// single group says nothing more.
    fn of(rival: &'r Rival, is_over: bool, is_better: bool) -> Groups<'r> {
        let known = rival.groups.iter();
        let known = known.filter_map(|row| Some((Group::parse(&row.group)?, row)));
        let mut known: Vec<(Group, &GroupRow)> = known.collect();
        known.sort_by(|one, other| one.0.cmp(&other.0));
        let kinds = known.chunk_by(|one, other| one.0.kind() == other.0.kind());
        let kinds = kinds.filter_map(|rows| {
            let groups = Groups::of_kind(rival, rows, is_over);
            let is_worth_a_rule = !groups.better.is_empty();
            let is_told = groups.others.len() < rows.len() && rows.len() > 1;
            (is_told || is_worth_a_rule && !is_better).then_some(groups)
        });
        // Of several that are equally worth it, the first one is taken.
        let told = kinds.min_by_key(|groups| groups.better.is_empty());
        told.unwrap_or_default()
    }

    fn of_kind(rival: &Rival, rows: &[(Group, &'r GroupRow)], is_over: bool) -> Groups<'r> {
        let mut groups = Groups {
            noun: rows[0].0.noun(),
            ..Groups::default()
        };
        for (_, row) in rows {
            let is_sure = row.p_corrected < DOUBT;
            match row.effect.change {
                change if is_sure && (SHOWN..WORTH).contains(&change) => groups.slightly.push(row),
                change if is_sure && change >= WORTH => {
                    // As for a rule.
                    let harm = Harm::of(rival, &row.group, is_over);
                    if harm.most > change {
                        groups.harmed.push(row);
                    } else {
                        groups.better.push(row);
                    }
                }
                change if is_sure && change <= -SHOWN => groups.worse.push(row),
                _ => groups.others.push(row),
            }
        }
        groups
    }

    /// A sentence. `None` if no group differs significantly.
    fn words(&self, this: &str) -> Option<String> {
        let slightly = format!(
            "faster by less than the {} % that make a rule for",
            WORTH * 100.0
        );
        let kinds = [
            ("faster for", &self.better),
            (slightly.as_str(), &self.slightly),
            (
                "faster, but with more harm to small objects or in retransmissions, for",
                &self.harmed,
            ),
            ("slower for", &self.worse),
        ];
        let told = kinds.iter().filter(|(_, rows)| !rows.is_empty());
        let parts: Vec<String> = told
            .map(|(what, rows)| format!("{what} {}", names(rows, true)))
            .collect();
        if parts.is_empty() {
            return None;
        }
        let mut text = format!(" By {}: {this} is {}", self.noun, joined(parts.into_iter()));
        if !self.others.is_empty() {
            let _ = write!(
                text,
                "; no significant difference for {}",
                names(&self.others, false)
            );
        }
        Some(text + ".")
    }
}

/// The names of some groups, and how many more there are.
fn names(rows: &[&GroupRow], with_change: bool) -> String {
    let name = |row: &&GroupRow| {
        let name =
            Group::parse(&row.group).map_or_else(|| row.group.clone(), |group| group.short());
        if with_change {
            format!("{name} ({})", change(row.effect.change))
        } else {
            name
        }
    };
    let more = rows.len().saturating_sub(NAMED);
    let more = (more > 0).then(|| format!("{more} more"));
    joined(rows.iter().take(NAMED).map(name).chain(more))
}

/// Changes are shown in tenths of a per cent. A smaller change than this rounds to 0, so it does not count even if it is
/// significant.
const SHOWN: f64 = 0.000_5;

/// The other measures that are significantly better, or worse, by at least what is shown.
pub(crate) fn told(rows: &[Row], better: bool) -> Vec<String> {
    let others = rows.iter().filter(|row| row.measure != Measure::Throughput);
    let sure = others.filter(|row| row.p_corrected.is_some_and(|p| p < DOUBT));
    sure.filter_map(|row| {
        let effect = row.effect.filter(|effect| effect.change.abs() >= SHOWN)?;
        let is_better = row.measure.is_more_better()? == (effect.change > 0.0);
        let told = format!("{} ({})", row.measure.title(), change(effect.change));
        (is_better == better).then_some(told)
    })
    .collect()
}

/// The change of the share of large objects, if it is significant.
fn selected(rows: &[Row]) -> Option<String> {
    let row = rows.iter().find(|row| row.measure == Measure::Large)?;
    let is_sure = row.p_corrected.is_some_and(|p| p < DOUBT);
    is_sure.then(|| row.effect.map(|effect| change(effect.change)))?
}

fn interval(effect: &Effect) -> String {
    format!(
        "{} (95 % interval {}; at any time {})",
        change(effect.change),
        range(effect.once),
        range(effect.always)
    )
}

/// From this factor on, the report shows the factor instead of a percentage.
const MANIFOLD: f64 = 10.0;

/// `+7.9 %`, or `12-fold`.
pub fn change(share: f64) -> String {
    let factor = 1.0 + share;
    if factor >= MANIFOLD {
        return format!("{factor:.0}-fold");
    }
    let percent = share * 100.0;
    // A sign before zero would mislead.
    let percent = if share.abs() < SHOWN { 0.0 } else { percent };
    let sign = if percent > 0.0 { "+" } else { "" };
    format!("{sign}{percent:.1} %").replace('-', "−")
}

/// `+5.1 % to +10.8 %`
pub fn range(interval: Interval) -> String {
    format!("{} to {}", change(interval.low), change(interval.high))
}

/// `0.043`, or `below 0.001`.
pub fn probability(p: f64) -> String {
    if p < 0.001 {
        "below 0.001".to_owned()
    } else {
        format!("{p:.3}")
    }
}

/// `a, b and c`
pub(crate) fn joined(parts: impl Iterator<Item = String>) -> String {
    let parts: Vec<String> = parts.collect();
    match parts.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => parts.concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::Percentile;

    #[test]
    fn numbers_as_people_read_them() {
        assert_eq!(change(0.0793), "+7.9 %");
        assert_eq!(change(-0.5), "−50.0 %");
        assert_eq!(change(-0.0001), "0.0 %");
        assert_eq!(change(8.5), "+850.0 %");
        let interval = Interval {
            low: 9.0,
            high: 3_926.413,
        };
        assert_eq!(range(interval), "10-fold to 3927-fold");
        assert_eq!(probability(0.0432), "0.043");
        assert_eq!(
            joined(["a", "b", "c"].map(str::to_owned).into_iter()),
            "a, b and c"
        );
    }

    /// A row with intervals of these half widths: for a single look, and at any time.
    fn row(measure: Measure, change: f64, [once, always]: [f64; 2]) -> Row {
        let interval = |half: f64| Interval {
            low: change - half,
            high: change + half,
        };
        Row {
            measure,
            effect: Some(Effect {
                change,
                once: interval(once),
                always: interval(always),
                p: 1e-9,
                p_always: 1e-9,
                units: [100, 100],
                connections: [100, 100],
            }),
            strata: 1,
            unadjusted: None,
            p_corrected: Some(1e-9),
        }
    }

    fn comparison(controller: &str, measures: Vec<Row>) -> Comparison {
        Comparison {
            rival: Rival {
                controller: controller.to_owned(),
                over: "cubic".to_owned(),
                groups: Vec::new(),
                small: Vec::new(),
                resent: Vec::new(),
            },
            measures,
            throughput_p5: None,
            heat: Vec::new(),
        }
    }

    fn judged(comparisons: &[Comparison], reach: Reach) -> (Decision, String) {
        let arms = [[1_u64; 100]; 2].map(IntoIterator::into_iter);
        let balance = Balance::of(arms.into_iter(), &[0.5, 0.5]);
        of(balance.as_ref(), &[], comparisons, "objects", reach)
    }

    #[test]
    fn what_is_slower_is_stayed_away_from() {
        let slower = |half| vec![row(Measure::Throughput, -0.2, half)];
        let (decision, text) = judged(&[comparison("bbr", slower([0.1, 0.15]))], Reach::Running);
        assert_eq!(decision, Decision::Stay);
        let part = "bbr carries objects over 3 MB slower than cubic: −20.0 %";
        assert!(text.contains(part), "{text}");
        // Before the end, the interval at any time counts.
        let unsure = [comparison("bbr", slower([0.1, 0.3]))];
        assert_eq!(judged(&unsure, Reach::Running).0, Decision::Open);
        assert_eq!(judged(&unsure, Reach::Over).0, Decision::Stay);
    }

    /// The throughput of a group, with this change and p-value.
    fn in_group(group: &str, change: f64, p_corrected: f64) -> GroupRow {
        let of = row(Measure::Throughput, change, [0.01, 0.02]);
        GroupRow {
            group: group.to_owned(),
            measure: Measure::Throughput,
            values: [1.0, 1.0 + change],
            effect: of.effect.unwrap(),
            p_corrected,
            picked: of.effect.unwrap().once,
        }
    }

    #[test]
    fn where_groups_differ_they_are_named() {
        let open = vec![row(Measure::Throughput, 0.5, [0.6, 0.7])];
        let mut comparison = comparison("bbr", open);
        comparison.rival.groups = vec![
            in_group("region lossy", 4.98, 1e-9),
            in_group("192.0.2.0/24", 9.0, 1e-9),
            in_group("region site", 0.2, 0.001),
            in_group("region clean", 0.01, 0.051),
            in_group("RTT below 1ms", 9.0, 1e-9),
        ];
        let (decision, text) = judged(&[comparison.clone()], Reach::Over);
        assert_eq!(decision, Decision::TakeForSome("bbr".to_owned()));
        let part = "By region: bbr is faster for lossy (+498.0 %) and site (+20.0 %); no significant difference for clean.";
        assert!(text.contains(part), "{text}");
        // Regions without a difference do not hide other groups.
        let mut alike = comparison.clone();
        for row in &mut alike.rival.groups {
            if row.group.starts_with("region") {
                row.p_corrected = 0.5;
            }
        }
        let systems = [("AS64501", 0.0, 0.9), ("AS64502", 0.4, 1e-4)];
        let systems = systems.map(|(group, change, p)| in_group(group, change, p));
        alike.rival.groups.extend(systems);
        let (decision, text) = judged(&[alike], Reach::Over);
        assert_eq!(decision, Decision::TakeForSome("bbr".to_owned()));
        let part =
            "By AS: bbr is faster for AS64502 (+40.0 %); no significant difference for AS64501.";
        assert!(text.contains(part), "{text}");
        // An RTT for which there is a rule is told before regions for which there is none.
        let mut slight = comparison.clone();
        for row in &mut slight.rival.groups {
            if row.group.starts_with("region") {
                row.effect.change = 0.02;
            }
        }
        slight
            .rival
            .groups
            .retain(|row| row.group != "192.0.2.0/24");
        let (decision, text) = judged(&[slight.clone()], Reach::Over);
        assert_eq!(decision, Decision::TakeForSome("bbr".to_owned()));
        assert!(
            text.contains("By RTT: bbr is faster for RTT below 1ms"),
            "{text}"
        );
        // What `learn` makes no rule of is nothing to take the arm for.
        slight
            .rival
            .groups
            .retain(|row| row.group.starts_with("region"));
        let (decision, text) = judged(&[slight], Reach::Over);
        assert_eq!(decision, Decision::Open);
        let part = "By region: bbr is faster by less than the 3 % that make a rule for lossy (+2.0 %) and site (+2.0 %); no \
                    significant difference for clean.";
        assert!(text.contains(part), "{text}");
        // Where all groups are alike, there is nothing to say of them.
        comparison
            .rival
            .groups
            .retain(|row| row.p_corrected > DOUBT);
        let (decision, text) = judged(&[comparison], Reach::Over);
        assert_eq!(decision, Decision::Open);
        assert!(!text.contains("By "), "{text}");
    }

    #[test]
    fn a_group_with_more_harm_than_gain_is_none_to_take_the_arm_for() {
        let open = vec![row(Measure::Throughput, 0.0, [0.1, 0.2])];
        let mut comparison = comparison("bbr", open);
        comparison.rival.groups = vec![
            in_group("AS64501", 0.2, 1e-9),
            in_group("AS64502", 0.2, 1e-9),
            in_group("AS64503", 0.2, 1e-9),
        ];
        let slower = |group, change, p| GroupRow {
            measure: Measure::Time100k,
            ..in_group(group, change, p)
        };
        comparison.rival.small = vec![
            slower("AS64501", 0.3, 1e-9),
            slower("AS64502", 0.1, 1e-9),
            slower("AS64503", 0.3, 0.051),
        ];
        let (decision, text) = judged(&[comparison.clone()], Reach::Over);
        assert_eq!(decision, Decision::TakeForSome("bbr".to_owned()));
        let part = "By AS: bbr is faster for AS64502 (+20.0 %) and AS64503 (+20.0 %) and faster, but with more harm to small \
                    objects or in retransmissions, for AS64501 (+20.0 %).";
        assert!(text.contains(part), "{text}");
        // 30 percentage points more of the packets.
        comparison.rival.resent = ["AS64502", "AS64503"]
            .map(|group| GroupRow {
                measure: Measure::Resent,
                values: [0.1, 0.4],
                ..in_group(group, 3.0, 1e-9)
            })
            .to_vec();
        assert_eq!(judged(&[comparison], Reach::Over).0, Decision::Open);
    }

    #[test]
    fn an_arm_that_was_not_in_force_has_no_verdict_and_one_that_was_partly_is_told() {
        let better = [comparison(
            "bbr",
            vec![row(Measure::Throughput, 0.2, [0.1, 0.1])],
        )];
        let arms = [[1_u64; 100]; 2].map(IntoIterator::into_iter);
        let balance = Balance::of(arms.into_iter(), &[0.5, 0.5]);
        let judged = |others: usize| {
            let mut force = [InForce::default(); 2];
            for number in 0..100 {
                force[0].note(true);
                force[1].note(number >= others);
            }
            let force = [("cubic", &force[0]), ("bbr", &force[1])];
            of(balance.as_ref(), &force, &better, "objects", Reach::Over)
        };
        let (decision, text) = judged(100);
        assert_eq!(decision, Decision::Distrust);
        assert!(
            text.contains("100 of 100 connections of bbr had another controller"),
            "{text}"
        );
        let (decision, text) = judged(10);
        assert_eq!(decision, Decision::Take("bbr".to_owned()));
        assert!(
            text.contains("Beware: 10 of 100 connections of bbr"),
            "{text}"
        );
        assert!(!judged(0).1.contains("Beware"));
    }

    #[test]
    fn of_two_better_arms_the_one_with_the_greater_certain_gain_is_taken() {
        let all = [("bbr", 0.5, [0.2, 0.45]), ("reno", 0.4, [0.15, 0.2])];
        let all = all.map(|(name, change, half)| {
            comparison(name, vec![row(Measure::Throughput, change, half)])
        });
        let taken = |reach| judged(&all, reach).0;
        assert_eq!(taken(Reach::Over), Decision::Take("bbr".to_owned()));
        assert_eq!(taken(Reach::Running), Decision::Take("reno".to_owned()));
    }

    #[test]
    fn what_is_significant_only_before_the_correction_is_not_told() {
        let throughput = row(Measure::Throughput, 0.2, [0.1, 0.1]);
        let slow = row(Measure::Rtt, 0.3, [0.1, 0.1]);
        let each = |p| {
            let p_corrected = Some(p);
            let rows = vec![
                throughput.clone(),
                Row {
                    p_corrected,
                    ..slow.clone()
                },
            ];
            judged(&[comparison("bbr", rows)], Reach::Over)
        };
        let (decision, text) = each(0.051);
        assert_eq!(decision, Decision::Take("bbr".to_owned()));
        assert!(!text.contains("worse in"), "{text}");
        let (decision, text) = each(0.049);
        assert_eq!(decision, Decision::Weigh("bbr".to_owned()));
        assert!(text.contains("bbr is worse in RTT (+30.0 %)."), "{text}");
    }

    #[test]
    fn the_slowest_twentieth_is_told_when_the_study_is_over() {
        let once = Interval {
            low: 0.1,
            high: 0.5,
        };
        let change = 0.3;
        let all = [Comparison {
            throughput_p5: Some(Percentile { change, once }),
            ..comparison("bbr", vec![row(Measure::Throughput, 0.2, [0.1, 0.1])])
        }];
        // Its interval is for a single look.
        for (reach, is_told) in [
            (Reach::Over, true),
            (Reach::Running, false),
            (Reach::EndedEarly, false),
        ] {
            let (_, text) = judged(&all, reach);
            assert_eq!(text.contains("+30.0 % in the slowest"), is_told, "{text}");
        }
    }

    #[test]
    fn arms_with_other_shares_of_large_objects_are_warned_of() {
        let beware = |p| {
            let large = row(Measure::Large, -0.2, [0.1, 0.1]);
            let p_corrected = Some(p);
            let rows = vec![
                row(Measure::Throughput, 0.2, [0.1, 0.1]),
                Row {
                    p_corrected,
                    ..large
                },
            ];
            let text = judged(&[comparison("bbr", rows)], Reach::Over).1;
            text.contains("Beware: the share of objects over 3 MB differs (−20.0 %)")
        };
        assert!(beware(0.049) && !beware(0.051));
    }

    #[test]
    fn what_is_sure_and_shown_as_nothing_is_not_told() {
        let row = |measure, change| row(measure, change, [1e-6, 1e-6]);
        let rows = [
            row(Measure::Time10k, -0.000_4),
            row(Measure::Time100k, -0.000_6),
            row(Measure::Rtt, 0.000_4),
        ];
        assert_eq!(told(&rows, true), ["time from 10 to 100 kB (−0.1 %)"]);
        assert!(told(&rows, false).is_empty());
    }

    #[test]
    fn without_data_there_is_no_verdict() {
        let (decision, text) = of(None, &[], &[], "objects", Reach::Over);
        assert_eq!(decision, Decision::TooLittle);
        assert!(
            !text.contains("yet") && text.contains("check in the plan"),
            "{text}"
        );
    }

    #[test]
    fn shares_that_are_not_as_planned_end_the_story() {
        for (counts, each, part) in [
            ([5000, 4000], [1, 1], "5000 and 4000 units"),
            ([300, 300], [10, 7], "3000 and 2100 connections"),
        ] {
            let arms = counts.iter().zip(each);
            let arms = arms.map(|(&count, each)| std::iter::repeat_n(each, count));
            let balance = Balance::of(arms, &[0.5, 0.5]);
            let (decision, text) = of(balance.as_ref(), &[], &[], "objects", Reach::Over);
            assert_eq!(decision, Decision::Distrust);
            assert!(
                text.contains(part) && text.contains("below 0.001"),
                "{text}"
            );
        }
    }
}
