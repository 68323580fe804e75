//! The verdict of a study.

mod groups;
#[cfg(test)]
mod tests;
mod words;

use std::fmt::{self, Write};

use serde::Serialize;

use crate::balance::Balance;
use crate::comparison::{Comparison, Row};
use crate::effect::{DOUBT, Effect};
use crate::force::{CAUSES, InForce};
use crate::measure::Measure;
use groups::Groups;
use words::MIN_SHOWN_CHANGE;
pub(crate) use words::joined;
pub use words::{change, probability, range};

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
    /// This arm is better in throughput, and significantly worse in another measure. The choice is the user's.
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

/// The verdict, as a word and as a paragraph. `force` has the counts of each arm in force. `noun` names the units that
/// sizes and times were observed on. A study that has not run for its planned duration is judged by the anytime-valid
/// intervals.
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
        // An arm to choose beats none, and one without harm beats one with harm. Among several, the one with the
        // greatest lower bound of its gain is taken.
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

/// The progress of a study.
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
        let also = if is_better { "also " } else { "" };
        let _ = write!(
            text,
            " {this} is {also}better in {}.",
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

/// The other measures that are significantly better, or worse, by at least `MIN_SHOWN_CHANGE`.
pub(crate) fn told(rows: &[Row], better: bool) -> Vec<String> {
    let others = rows.iter().filter(|row| row.measure != Measure::Throughput);
    let sure = others.filter(|row| row.p_corrected.is_some_and(|p| p < DOUBT));
    sure.filter_map(|row| {
        let effect = row
            .effect
            .filter(|effect| effect.change.abs() >= MIN_SHOWN_CHANGE)?;
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
