//! The comparisons as a table for terminals.

use super::comparison::{Comparison, tally};
use super::quantity::Quantity;
use super::words::{Detail, differs, row};
use report::Table;

/// One row for each case, and a line with the tally. Has all columns, or those that fit into `width` columns. Ends with
/// a newline.
pub fn table(engines: [&str; 2], comparisons: &[Comparison<'_>], width: Option<usize>) -> String {
    let mut headings = vec!["case".to_string()];
    // Measured values are dropped before differences.
    let (mut measured, mut differences) = (Vec::new(), Vec::new());
    // Columns that no case has, such as the first of several groups.
    let mut absent = Vec::new();
    for quantity in Quantity::JUDGED {
        let title = quantity.title;
        if !comparisons.iter().any(|one| one.get(quantity).is_some()) {
            absent.extend(headings.len()..headings.len() + 3);
        }
        measured.extend([headings.len(), headings.len() + 1]);
        headings.extend(engines.map(|engine| format!("{title},\n{engine}")));
        differences.push(headings.len());
        headings.push(format!("{title}\n{}", differs(quantity)));
    }
    let verdict = headings.len();
    headings.push("verdict".to_string());
    measured.reverse();
    differences.reverse();
    let rows = comparisons.iter().map(|one| row(one, Detail::Medians));
    let table = Table {
        absent,
        text: vec![0, verdict],
        spare: [measured, differences].concat(),
        elsewhere: "the page and --json have",
        ..Table::new(headings, rows)
    };
    format!("{}\n{}\n", table.lines(width), tally(comparisons).text())
}
