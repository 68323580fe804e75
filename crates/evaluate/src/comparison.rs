//! The evaluations of several controllers beside each other.

use report::Table;

use crate::evaluation::{Evaluation, Row};
use crate::verdict::Verdict;

/// Evaluations of several controllers by the same criteria.
#[derive(Debug, Clone, Copy)]
pub struct Comparison<'e>(pub &'e [Evaluation]);

impl Comparison<'_> {
    /// The verdict on each controller by each criterion, and how many times as bad the controller is.
    pub fn verdicts(&self) -> Table {
        let cell = |row: &Row| {
            let controller = &row.values[0].controller;
            if row.compared.as_ref() == Some(controller) {
                return "–".to_owned();
            }
            let told = [Some(row.verdict.to_string()), row.times()];
            let told: Vec<String> = told.into_iter().flatten().collect();
            let interval = row.interval().map(|interval| format!(" ({interval})"));
            told.join(" ") + &interval.unwrap_or_default()
        };
        let table = self.table(&["compared with"], &|row| vec![row.against()], &cell);
        table.sparing(&["compared with", "reno"])
    }

    /// The median of each controller by each criterion, and the criterion's limits.
    pub fn medians(&self) -> Table {
        let cell = |row: &Row| row.told(row.values[0].median());
        let limits = |row: &Row| {
            let floor = row.told(Some(row.floor));
            vec![row.measure.clone(), row.tolerated.to_string(), floor]
        };
        self.table(&["measure", "tolerated", "floor"], &limits, &cell)
    }

    /// A row for each criterion, with a cell for each controller.
    fn table(
        &self,
        headings: &[&str],
        about: &dyn Fn(&Row) -> Vec<String>,
        cell: &dyn Fn(&Row) -> String,
    ) -> Table {
        let controllers = self.0.iter().map(|one| one.controller.as_str());
        let headings = ["RFC", "criterion"].iter().chain(headings).copied();
        let of_all = self.0.first().map_or(&[][..], |one| &one.rows);
        let rows = of_all.iter().map(|row| {
            let mut cells = vec![row.section.clone(), row.name.clone()];
            cells.extend(about(row));
            let same = self.0.iter().map(|one| one.row(&row.name));
            cells.extend(same.map(|row| row.map_or_else(String::new, cell)));
            cells
        });
        let table = Table::new(headings.chain(controllers), rows);
        Table {
            text: (0..table.headings.len()).collect(),
            ..table
        }
    }

    /// The controllers and their verdicts in Markdown: the tables, and what is said against each controller.
    pub fn markdown(&self) -> String {
        let mut verdicts = self.verdicts();
        for cell in verdicts.rows.iter_mut().flatten() {
            let bad = [Verdict::Harms, Verdict::Worse].map(|one| one.to_string());
            if let Some(bad) = bad.iter().find(|bad| cell.starts_with(bad.as_str())) {
                cell.replace_range(..bad.len(), &format!("**{bad}**"));
            }
        }
        let against = self.0.iter().map(against);
        format!(
            "### Verdicts\n\n{}\n### What is said against each\n\n{}\n### Medians\n\n{}",
            verdicts.markdown(),
            against.collect::<String>(),
            self.medians().markdown()
        )
    }
}

/// What is said against a controller, as an item of a list in Markdown.
fn against(evaluation: &Evaluation) -> String {
    let by = |verdict: Verdict, words: &str| {
        let rows = evaluation.rows.iter().filter(|row| row.verdict == verdict);
        let times = |row: &Row| row.times().unwrap_or_default();
        let rows: Vec<String> = rows
            .map(|row| format!("`{}` ({})", row.name, times(row)))
            .collect();
        match rows.len() {
            0 => String::new(),
            _ => format!(" {words} by {}.", rows.join(", ")),
        }
    };
    format!(
        "- `{}`: {}.{}{}\n",
        evaluation.controller,
        evaluation.counts(),
        by(Verdict::Harms, "It harms"),
        by(Verdict::Worse, "It is worse")
    )
}

#[cfg(test)]
mod tests {
    use congestion::ControllerKind;
    use lab::Cancel;
    use scenario::FlowSpec;

    use super::*;
    use crate::{Criteria, Extent, Subject, Work};

    #[test]
    fn the_references_runs_are_those_of_their_own_evaluations() {
        let criteria = Criteria::named(&["constrained", "constrained-loss"]).unwrap();
        let extent = Extent { seeds: 2, paths: 0 };
        let subject = |kind: ControllerKind| Subject::built_in(FlowSpec::new(kind.into()));
        let bbr1 = subject(ControllerKind::Bbr1);
        let work = Work::new(&bbr1, &criteria, extent);
        let all = work.run_references(&bbr1, None, &|_| (), &Cancel::new());
        for (kind, one) in crate::REFERENCES.into_iter().zip(&all) {
            assert_eq!(crate::evaluate(&subject(kind), &criteria, extent), *one);
        }
        let text = Comparison(&all).markdown();
        assert!(
            text.contains("| 7.4 | constrained | cubic | – | "),
            "{text}"
        );
        assert!(text.contains("- `bbr1`: better by "), "{text}");
    }
}
