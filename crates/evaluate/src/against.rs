//! The difference of two evaluations.

use std::collections::{BTreeMap, BTreeSet};

use report::Table;
use serde::Serialize;
use studies::runs::Ratio;
use tables::numbers::{self, known};
use text::word;

use crate::evaluation::{Evaluation, Row, Values};
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

impl Evaluation {
    /// Checks an evaluation that may have been written by others: each row has a value for each of its seeds.
    ///
    /// # Errors
    ///
    /// The row that has not, and why, in one line.
    pub fn check(&self) -> Result<(), String> {
        let mut names = BTreeSet::new();
        for row in &self.rows {
            let name = word(&row.name);
            if !names.insert(&row.name) {
                return Err(format!("there are two rows {name}"));
            }
            row.check()
                .map_err(|reason| format!("row {name} has {reason}"))?;
        }
        Ok(())
    }
}

impl Row {
    fn check(&self) -> Result<(), String> {
        if self.values.is_empty() {
            return Err("no values".to_owned());
        }
        let mut pairs = self.seeds.windows(2);
        if let Some(pair) = pairs.find(|pair| pair[0] >= pair[1]) {
            return Err(format!("seed {} twice, or out of order", pair[1]));
        }
        let seeds = self.seeds.len();
        match self.values.iter().find(|one| one.cases.len() != seeds) {
            None => Ok(()),
            Some(Values { controller, cases }) => Err(format!(
                "{} and {} of {}",
                numbers::count(seeds as u64, "seed"),
                numbers::count(cases.len() as u64, "value"),
                word(controller)
            )),
        }
    }
}

impl Difference {
    /// The difference of `after` from `before`, over the seeds and paths that both have. An evaluation from elsewhere is
    /// [checked](Evaluation::check) first.
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
            word(&self.from)
        )];
        if !self.missing.is_empty() {
            let missing: Vec<String> = self.missing.iter().map(|name| word(name)).collect();
            lines.push(format!("only one of both has {}", missing.join(", ")));
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
    let old: BTreeMap<u64, Option<f64>> = own_cases(before).collect();
    let ratios = own_cases(after).filter_map(|(seed, new)| {
        verdict::times_as_bad(after.better, after.floor, new, *old.get(&seed)?)
    });
    Change {
        name: after.name.clone(),
        before: before.verdict,
        after: after.verdict,
        times_as_bad: Ratio::of(ratios, 1),
        from: before.told(before.values[0].median()),
        to: after.told(after.values[0].median()),
    }
}

/// The subject's value of each seed.
fn own_cases(row: &Row) -> impl Iterator<Item = (u64, Option<f64>)> {
    let seeds = row.seeds.iter().copied();
    seeds.zip(row.values[0].cases.iter().copied())
}

#[cfg(test)]
mod tests {
    use congestion::ControllerKind;
    use lab::Cancel;
    use scenario::FlowSpec;

    use super::*;
    use crate::{Criteria, Extent, Subject, Work};

    fn evaluation() -> Evaluation {
        let subject = Subject::built_in(FlowSpec::new(ControllerKind::Reno.into()));
        let criteria = Criteria::named(&["constrained"]).unwrap();
        let extent = Extent { seeds: 3, paths: 0 };
        let work = Work::new(&subject, &criteria, extent);
        work.run(&subject, None, &|_| (), &Cancel::new())
    }

    #[test]
    fn the_same_seeds_are_compared() {
        let whole = evaluation();
        let mut part = whole.clone();
        let row = &mut part.rows[0];
        row.seeds.remove(0);
        for values in &mut row.values {
            values.cases.remove(0);
        }
        let mut spread = whole.clone();
        for (of, cases) in [(&mut spread, [0.1, 0.2, 0.4]), (&mut part, [0.2, 0.4, 0.0])] {
            let own = &mut of.rows[0].values[0].cases;
            *own = cases.map(Some)[..own.len()].to_vec();
        }
        for (before, after) in [(&spread, &part), (&part, &spread)] {
            let ratio = Difference::of(before, after).changes[0].times_as_bad;
            assert_eq!(ratio.map(|ratio| ratio.mean), Some(1.0));
        }
    }

    #[test]
    fn what_the_older_one_says_makes_no_line() {
        let after = evaluation();
        let mut before = after.clone();
        before.controller = "reno\nfake: better\u{1b}[2J".to_owned();
        before.rows[0].name = "X\nfake: better".to_owned();
        let text = Difference::of(&before, &after).text(None);
        assert!(text.contains("reno\\nfake: better\\u{1b}[2J"), "{text}");
        assert!(!text.contains("\nfake"), "{text}");
    }

    #[test]
    fn rows_that_cannot_be_compared_are_named() {
        let good = evaluation();
        assert_eq!(good.check(), Ok(()));
        let spoilt = |spoil: &dyn Fn(&mut Row)| {
            let mut bad = good.clone();
            spoil(&mut bad.rows[0]);
            bad.check().unwrap_err()
        };
        let none = spoilt(&|row| row.values.clear());
        assert_eq!(none, "row constrained has no values");
        let short = spoilt(&|row| row.values[1].cases.truncate(2));
        assert_eq!(short, "row constrained has 3 seeds and 2 values of cubic");
        let twice = spoilt(&|row| row.seeds[1] = 1);
        assert_eq!(twice, "row constrained has seed 1 twice, or out of order");
        let mut double = good.clone();
        double.rows.extend(good.rows.clone());
        let double = double.check().unwrap_err();
        assert_eq!(double, "there are two rows constrained");
    }
}
