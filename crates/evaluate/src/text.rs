//! An evaluation as text for a terminal.

use report::Table;
use tables::numbers::known;

use crate::evaluation::{Evaluation, Row};
use crate::verdict::Verdict;

const COLUMNS: &str = "The columns of controllers have medians over the cases. `times as bad` is the geometric mean of the ratios to what the \
criterion compares with, case by case, and its 95 % interval: 1 is equal, less is better. `worst` is the largest of these ratios. \
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
        let verdicts = [
            Verdict::Better,
            Verdict::Safe,
            Verdict::Worse,
            Verdict::Harms,
            Verdict::Unsure,
        ];
        let counts = verdicts.map(|verdict| format!("{verdict} by {}", self.count(verdict)));
        format!(
            "{}, by {} criteria of RFC 9743 over {} on engine {}: {}",
            self.controller,
            self.rows.len(),
            self.extent(),
            self.engine,
            counts.join(", ")
        )
    }

    /// A row for each criterion.
    pub(crate) fn table(&self) -> Table {
        let shown = self.shown();
        let mut headings = ["RFC", "criterion", "verdict"].map(str::to_owned).to_vec();
        headings.extend(shown.iter().map(|(_, name)| name.clone()));
        headings
            .extend(["compared with", "times as bad", "95 % interval", "worst"].map(Into::into));
        let row = |row: &Row| {
            let ratio = row.times_as_bad;
            let interval = ratio.and_then(|ratio| ratio.low.zip(ratio.high));
            let verdict = row.verdict.to_string();
            let mut cells = vec![row.section.clone(), row.name.clone(), verdict];
            cells.extend(
                shown
                    .iter()
                    .map(|(place, _)| row.told(row.values[*place].median())),
            );
            cells.extend([
                row.against(),
                known(ratio, |ratio| format!("{:.2}", ratio.mean)),
                known(interval, |(low, high)| format!("{low:.2} to {high:.2}")),
                known(row.worst, |worst| format!("{worst:.2}")),
            ]);
            cells
        };
        let table = Table {
            text: vec![0, 1, 2],
            ..Table::new(headings, self.rows.iter().map(row))
        };
        let mut spare = vec![
            "reno",
            "worst",
            "compared with",
            "bbr1",
            "bbr3",
            "95 % interval",
        ];
        spare.retain(|name| *name != self.controller);
        table.sparing(&spare)
    }
}

impl Row {
    /// The verdict, in words.
    pub(crate) fn sentence(&self) -> String {
        let times = self.times_as_bad.map_or(0.0, |ratio| ratio.mean);
        let whom = match self.verdict {
            Verdict::Harms => "harms others",
            Verdict::Worse => "is worse",
            Verdict::Better => "is better",
            Verdict::Safe => "is safe",
            Verdict::Unsure => "is unsure",
        };
        format!(
            "{} ({}) {whom}: {} {}, {times:.1} times as bad as {}, where {:.1} times is tolerated ({})",
            self.name,
            self.section,
            self.asks,
            self.told(self.values[0].median()),
            self.against(),
            self.tolerated,
            self.about
        )
    }
}
