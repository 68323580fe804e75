//! The comparisons for people, on a terminal.

use comfy_table::{CellAlignment, ColumnConstraint, Table, presets};

use super::comparison::{Comparison, tally};
use super::words::{Detail, UNKNOWN, headings, row};

/// One row a case, without the columns in which no case has anything, and a line that counts them. Ends with a newline.
pub fn table(engines: [&str; 2], comparisons: &[Comparison<'_>]) -> String {
    let rows: Vec<Vec<String>> = comparisons
        .iter()
        .map(|one| row(one, Detail::Medians))
        .collect();
    let is_empty =
        |column: usize| !rows.is_empty() && rows.iter().all(|row| row[column] == UNKNOWN);
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_header(headings(engines, Detail::Medians));
    table.add_rows(&rows);
    let last = table.column_count().saturating_sub(1);
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_padding((if index == 0 { 0 } else { 1 }, 1));
        column.set_constraint(match is_empty(index) {
            true => ColumnConstraint::Hidden,
            false => ColumnConstraint::ContentWidth,
        });
        if index != 0 && index != last {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    format!("{}\n{}\n", table.trim_fmt(), tally(comparisons).text())
}
