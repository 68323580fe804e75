//! The comparisons as a section of a hand-written document.

use super::comparison::{Comparison, tally};
use super::words::{Detail, headings, row};
use report::{Marks, Table};

/// The marks that enclose the section.
pub const MARKS: Marks = Marks("calibrate");

/// The section in Markdown: the lines of `origin`, the tally, and a table with one row for each case.
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
