//! The comparisons as a section of a document that people write around it.

use super::comparison::{Comparison, tally};
use super::words::{Detail, headings, row};
use report::Marks;

/// What the section stands between.
pub const MARKS: Marks = Marks("calibrate");

/// The section in Markdown: where it comes from, as `origin` says line by line, what the comparisons come to, and a table
/// with a row a case.
pub fn section(engines: [&str; 2], comparisons: &[Comparison<'_>], origin: &[String]) -> String {
    let cells = |row: Vec<String>| {
        let cells = row.iter().map(|cell| cell.replace('|', "\\|"));
        format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "))
    };
    let headings = headings(engines, Detail::Ranges);
    let rule = format!("|{}\n", " --- |".repeat(headings.len()));
    let rows = comparisons
        .iter()
        .map(|one| cells(row(one, Detail::Ranges)));
    format!(
        "{}\n\n{}.\n\n{}{rule}{}",
        origin.join("\n"),
        tally(comparisons).text(),
        cells(headings),
        rows.collect::<String>(),
    )
}
