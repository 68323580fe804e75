//! The difference of two evaluations.

use report::Table;
use serde::Serialize;
use studies::runs::Ratio;
use tables::numbers::known;

use crate::evaluation::{Evaluation, Row};
use crate::verdict::{self, Verdict};

/// The difference of an evaluation from an older one, criterion by criterion.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Difference {
    /// The older one's controller.
    pub from: String,
    /// The criteria of both.
    pub changes: Vec<Change>,
    /// The criteria that only one of them has.
    pub missing: Vec<String>,
}

/// The difference by one criterion.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Change {
    /// The criterion.
    pub name: String,
    /// The older verdict.
    pub before: Verdict,
    /// The new verdict.
    pub after: Verdict,
    /// How many times as bad it is as before, over the cases of both.
    pub times_as_bad: Option<Ratio>,
    /// The median before, as text.
    from: String,
    /// The median now, as text.
    to: String,
}

impl Change {
    /// Whether the verdict differs, or the interval shows a change of a twentieth or more.
    pub fn is_notable(&self) -> bool {
        let is_clear = self.times_as_bad.is_some_and(|ratio| {
            ratio.low.is_some_and(|low| low > 1.05) || ratio.high.is_some_and(|high| high < 0.95)
        });
        self.before != self.after || is_clear
    }
}

impl Difference {
    /// The difference of `after` from `before`. Cases are compared in their order: both have the same seeds and paths.
    pub fn of(before: &Evaluation, after: &Evaluation) -> Difference {
        let pairs = after
            .rows
            .iter()
            .filter_map(|row| Some((before.row(&row.name)?, row)));
        let lacks = |of: &Evaluation, row: &&Row| of.row(&row.name).is_none();
        let gone = before.rows.iter().filter(|row| lacks(after, row));
        let new = after.rows.iter().filter(|row| lacks(before, row));
        Difference {
            from: before.controller.clone(),
            changes: pairs.map(|(before, after)| change(before, after)).collect(),
            missing: gone.chain(new).map(|row| row.name.clone()).collect(),
        }
    }

    /// The notable changes for a terminal of `width` columns. Ends with a newline.
    pub fn text(&self, width: Option<usize>) -> String {
        let notable: Vec<&Change> = self.changes.iter().filter(|one| one.is_notable()).collect();
        let mut lines = vec![format!(
            "{} of {} criteria differ from the older evaluation of {}",
            notable.len(),
            self.changes.len(),
            self.from
        )];
        if !self.missing.is_empty() {
            lines.push(format!("only one of both has {}", self.missing.join(", ")));
        }
        let headings = [
            "criterion",
            "before",
            "now",
            "times as bad",
            "95 % interval",
            "verdict",
        ];
        let row = |one: &&Change| {
            let interval = one.times_as_bad.and_then(|ratio| ratio.low.zip(ratio.high));
            let verdict = if one.before == one.after {
                one.after.to_string()
            } else {
                format!("{}, was {}", one.after, one.before)
            };
            vec![
                one.name.clone(),
                one.from.clone(),
                one.to.clone(),
                known(one.times_as_bad, |ratio| format!("{:.2}", ratio.mean)),
                known(interval, |(low, high)| format!("{low:.2} to {high:.2}")),
                verdict,
            ]
        };
        let sentences = report::sentences(lines, width);
        if notable.is_empty() {
            return sentences;
        }
        let table = Table {
            text: vec![0, 5],
            ..Table::new(headings, notable.iter().map(row))
        };
        format!("{sentences}\n{}", table.lines(width))
    }
}

fn change(before: &Row, after: &Row) -> Change {
    let pairs = before.values[0].cases.iter().zip(&after.values[0].cases);
    let ratios =
        pairs.filter_map(|(old, new)| verdict::times_as_bad(after.better, after.floor, *new, *old));
    Change {
        name: after.name.clone(),
        before: before.verdict,
        after: after.verdict,
        times_as_bad: Ratio::of(ratios, 1),
        from: before.told(before.values[0].median()),
        to: after.told(after.values[0].median()),
    }
}
