//! The comparisons as a section of a document that people write around it.

use super::comparison::{Comparison, tally};
use super::words::{Detail, headings, row};

/// What the section stands between, each on a line of its own.
pub const MARKS: [&str; 2] = ["<!-- calibrate: begin -->", "<!-- calibrate: end -->"];

/// A document has no place for the section.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("has no lines `{}` and, below it, `{}`", MARKS[0], MARKS[1])]
pub struct NoMarks;

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

/// The document with the section in place of what is between the [`MARKS`].
///
/// # Errors
///
/// It has none.
pub fn replaced(document: &str, section: &str) -> Result<String, NoMarks> {
    let [begin, end] = MARKS;
    let (before, rest) = document.split_once(begin).ok_or(NoMarks)?;
    let (_, after) = rest.split_once(end).ok_or(NoMarks)?;
    Ok(format!("{before}{begin}\n{section}{end}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_between_the_marks_is_replaced() {
        let [begin, end] = MARKS;
        let document = format!("# Title\n\n{begin}\nold\n{end}\nBy hand.\n");
        let new = replaced(&document, "new\n").unwrap();
        assert_eq!(new, format!("# Title\n\n{begin}\nnew\n{end}\nBy hand.\n"));
        assert_eq!(replaced(&new, "new\n").unwrap(), new);
        for wrong in ["", begin, end, &format!("{end}\n{begin}")] {
            assert_eq!(replaced(wrong, "new"), Err(NoMarks));
        }
    }
}
