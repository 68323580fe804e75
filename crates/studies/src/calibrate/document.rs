//! The comparisons as a section of a document that people write around it.

use super::comparison::{Comparison, tally};
use super::words::{Detail, headings, row};
use report::{Marks, Table};

/// What the section stands between.
pub const MARKS: Marks = Marks("calibrate");

/// The section in Markdown: where it comes from, as `origin` says line by line, what the comparisons come to, and a table
/// with a row a case.
pub fn section(engines: [&str; 2], comparisons: &[Comparison<'_>], origin: &[String]) -> String {
    let rows = comparisons.iter().map(|one| row(one, Detail::Ranges));
    let table = Table::new(headings(engines, Detail::Ranges), rows);
    format!(
        "{}\n\n{}.\n\n{}",
        origin.join("\n"),
        tally(comparisons).text(),
        table.markdown(),
    )
}
