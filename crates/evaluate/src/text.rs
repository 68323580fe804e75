//! An evaluation as text for a terminal.

use report::Table;
use tables::numbers::known;

use crate::evaluation::{Evaluation, Row};
use crate::verdict::{CLEARLY, Verdict};

const COLUMNS: &str = "The columns of controllers have medians over the cases. `times as bad` is the geometric mean of the ratios to what the \
criterion compares with, case by case, and its 95 % interval: 1 is equal, less is better. `worst` is the largest of these ratios. \
`floor` is added to both values of a ratio, so that what is far below it does not count. \
A verdict needs the whole interval: `better`, `safe` (not shown to be worse than tolerated), `worse` (for its user), `harms` (others), \
`unsure` (more seeds may tell).";

impl Evaluation {
    /// The evaluation for a terminal of `width` columns. Ends with a newline.
    pub fn text(&self, width: Option<usize>) -> String {
        let mut lines = vec![self.headline()];
        let bad = self.rows.iter().filter(|row| row.verdict.is_bad());
        lines.extend(bad.map(Row::sentence));
        format!(
            "{}\n{}\n{}",
            report::sentences(lines, width),
            self.table().lines(width),
            report::explained(COLUMNS, "", width)
        )
    }

    /// The numbers of verdicts, in words.
    pub(crate) fn headline(&self) -> String {
        let criteria = match self.rows.len() {
            1 => "1 criterion".to_owned(),
            rows => format!("{rows} criteria"),
        };
        format!(
            "{}, by {criteria} of RFC 9743 over {} on engine {}: {}",
            self.controller,
            self.extent(),
            self.engine,
            self.counts()
        )
    }

    /// The numbers of verdicts: `better by 3, safe by 30` and so on.
    pub fn counts(&self) -> String {
        let counts = Verdict::ALL.map(|verdict| format!("{verdict} by {}", self.count(verdict)));
        counts.join(", ")
    }

    /// A row for each criterion.
    pub(crate) fn table(&self) -> Table {
        let shown = self.shown();
        let mut headings = ["RFC", "criterion", "verdict"].map(str::to_owned).to_vec();
        headings.extend(shown.iter().map(|(_, name)| name.clone()));
        let others = [
            "compared with",
            "times as bad",
            "95 % interval",
            "tolerated",
            "worst",
            "floor",
        ];
        headings.extend(others.map(Into::into));
        let row = |row: &Row| {
            let verdict = row.verdict.to_string();
            let mut cells = vec![row.section.clone(), row.name.clone(), verdict];
            cells.extend(
                shown
                    .iter()
                    .map(|(place, _)| row.told(row.values[*place].median())),
            );
            cells.extend([
                row.against(),
                row.times().unwrap_or_else(unknown),
                row.interval().unwrap_or_else(unknown),
                row.tolerated.to_string(),
                known(row.worst, |worst| format!("{worst:.2}")),
                row.told(Some(row.floor)),
            ]);
            cells
        };
        let table = Table {
            text: vec![0, 1, 2],
            ..Table::new(headings, self.rows.iter().map(row))
        };
        let mut spare = vec![
            "floor",
            "reno",
            "worst",
            "tolerated",
            "compared with",
            "bbr1",
            "bbr3",
            "95 % interval",
        ];
        spare.retain(|name| *name != self.controller);
        table.sparing(&spare)
    }
}

fn unknown() -> String {
    "–".to_owned()
}

impl Row {
    /// The verdict, in words.
    pub(crate) fn sentence(&self) -> String {
        let whom = match self.verdict {
            Verdict::Harms => "harms others",
            Verdict::Worse => "is worse",
            Verdict::Better => "is better",
            Verdict::Safe => "is safe",
            Verdict::Unsure => "is unsure",
        };
        format!(
            "{} ({}) {whom}: {} {} ({})",
            self.name,
            self.section,
            self.asks,
            self.result(),
            self.about
        )
    }

    /// `2.9 Mbit/s, 3.12 times as bad as cubic (2.95 to 3.30), where 1.5 times is tolerated`.
    pub fn result(&self) -> String {
        let value = self.told(self.values[0].median());
        let Some(times) = self.times() else {
            return format!("{value}, which nothing compares with");
        };
        let interval = self.interval().map(|interval| format!(" ({interval})"));
        let tolerated = if self.tolerated > 1.0 {
            format!("{} times", self.tolerated)
        } else {
            "no more".to_owned()
        };
        format!(
            "{value}, {times} times as bad as {}{}, where {tolerated} is tolerated",
            self.against(),
            interval.unwrap_or_default()
        )
    }

    /// How many times as bad it is, as text.
    pub(crate) fn times(&self) -> Option<String> {
        let mean = self.times_as_bad?.mean;
        Some(told_from(mean, self.tolerated))
    }

    /// The interval of it: `2.95 to 3.30`.
    pub(crate) fn interval(&self) -> Option<String> {
        let ratio = self.times_as_bad?;
        let (low, high) = (ratio.low?, ratio.high?);
        let (low, high) = (
            told_from(low, self.tolerated),
            told_from(high, CLEARLY.recip()),
        );
        Some(format!("{low} to {high}"))
    }
}

/// A factor with two decimals, or with as many as it takes to see on which side of the bound it is.
fn told_from(factor: f64, bound: f64) -> String {
    let with = |decimals| format!("{factor:.decimals$}");
    let is_above = |text: &String| text.parse().is_ok_and(|told: f64| told > bound);
    let mut texts = (2..=9).map(with);
    let told = texts.find(|text| is_above(text) == (factor > bound));
    told.unwrap_or_else(|| with(9))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_factor_has_the_digits_that_its_verdict_takes() {
        assert_eq!(told_from(1.2, 1.5), "1.20");
        assert_eq!(told_from(1.25, 1.25), "1.25");
        assert_eq!(told_from(1.2504, 1.25), "1.2504");
        assert_eq!(told_from(1.2499, 1.25), "1.25");
        assert_eq!(told_from(0.91, CLEARLY.recip()), "0.91");
        assert_eq!(told_from(0.909, CLEARLY.recip()), "0.909");
    }
}
