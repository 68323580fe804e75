//! Tables for a terminal.

use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Table, Width, presets};

/// Between two columns.
const GAP: usize = 2;

/// The least that a column of text is narrowed to.
const NARROW: usize = 12;

/// A table in columns.
#[derive(Debug, Default)]
pub(crate) struct Columns {
    /// The columns' headings. One of several lines is named by all of them.
    pub headings: Vec<String>,
    pub rows: Vec<Vec<String>>,
    /// The places of the columns that are aligned to the left: text. The others are to the right: numbers.
    pub text: Vec<usize>,
    /// The places of the columns that go if there is no room for them, the first one first.
    pub spare: Vec<usize>,
    /// The places of the columns that are not shown at all.
    pub absent: Vec<usize>,
    /// Where the columns are that a terminal leaves out: `--json has`.
    pub elsewhere: &'static str,
}

impl Columns {
    /// The lines, with everything for `None`, and else for a terminal of so many columns: spare columns go until the rest
    /// fits, and a line names them; if that is not enough, texts are broken. Ends with a newline.
    pub fn lines(&self, width: Option<usize>) -> String {
        let widths: Vec<usize> = (0..self.headings.len())
            .map(|column| self.width(column))
            .collect();
        let mut shown: Vec<usize> = (0..self.headings.len()).collect();
        shown.retain(|column| !self.absent.contains(column));
        let needed = |shown: &[usize]| {
            let columns = shown.iter().filter_map(|column| widths.get(*column));
            columns
                .map(|width| width + GAP)
                .sum::<usize>()
                .saturating_sub(GAP)
        };
        let room = width.unwrap_or(usize::MAX);
        let mut dropped = Vec::new();
        for spare in &self.spare {
            if needed(&shown) <= room {
                break;
            }
            let before = shown.len();
            shown.retain(|column| column != spare);
            dropped.extend((shown.len() < before).then_some(*spare));
        }
        // What is left over is too much by so many characters, which the widest text gives.
        let excess = needed(&shown).saturating_sub(room);
        let texts = shown.iter().filter(|column| self.text.contains(column));
        let widest = texts.max_by_key(|column| widths.get(**column)).copied();
        let mut table = Table::new();
        let pick = |row: &[String]| -> Vec<String> {
            let cells = shown.iter().map(|column| row.get(*column).cloned());
            cells.map(Option::unwrap_or_default).collect()
        };
        table
            .load_style(presets::NOTHING)
            .set_content_arrangement(ContentArrangement::Disabled)
            .set_header(pick(&self.headings));
        table.add_rows(self.rows.iter().map(|row| pick(row)));
        for (place, (column, of)) in table.column_iter_mut().zip(&shown).enumerate() {
            column.set_padding((u16::from(place > 0), 1));
            let constraint = match widths.get(*of) {
                Some(width) if excess > 0 && Some(*of) == widest => {
                    let narrow =
                        width.saturating_sub(excess).max(NARROW) + 1 + usize::from(place > 0);
                    ColumnConstraint::Absolute(Width::Fixed(
                        u16::try_from(narrow).unwrap_or(u16::MAX),
                    ))
                }
                _ => ColumnConstraint::ContentWidth,
            };
            column.set_constraint(constraint);
            if !self.text.contains(of) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        let mut text = table.trim_fmt() + "\n";
        if !dropped.is_empty() {
            dropped.sort_unstable();
            let names = dropped
                .iter()
                .filter_map(|column| self.headings.get(*column));
            let names: Vec<String> = names.map(|heading| heading.replace('\n', " ")).collect();
            let (names, elsewhere) = (names.join(", "), self.elsewhere);
            text += &format!("no room for: {names}; {elsewhere} them\n");
        }
        text
    }

    /// The characters that the column takes.
    fn width(&self, column: usize) -> usize {
        let rows = self.rows.iter().filter_map(|row| row.get(column));
        let cells = self.headings.get(column).into_iter().chain(rows);
        let lines = cells.flat_map(|cell| cell.lines());
        lines.map(|line| line.chars().count()).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns() -> Columns {
        let texts = |texts: &[&str]| texts.iter().map(|text| text.to_string()).collect();
        Columns {
            headings: texts(&["case", "goodput\nlinux", "RTT", "resent", "why"]),
            rows: vec![
                texts(&["one", "94.8 Mbit/s", "40 ms", "0.1 %", "ok"]),
                texts(&[
                    "another",
                    "1 Mbit/s",
                    "140 ms",
                    "10.1 %",
                    "a cause that is told in some words",
                ]),
            ],
            text: vec![0, 4],
            spare: vec![3, 1],
            absent: Vec::new(),
            elsewhere: "--json has",
        }
    }

    fn widest(text: &str) -> usize {
        let lines = text.lines().filter(|line| !line.starts_with("no room"));
        lines.map(|line| line.chars().count()).max().unwrap()
    }

    #[test]
    fn everything_is_there_if_there_is_room() {
        let columns = columns();
        let whole = columns.lines(None);
        assert_eq!(whole, columns.lines(Some(widest(&whole))));
        assert!(
            whole.contains("resent") && !whole.contains("no room"),
            "{whole}"
        );
    }

    #[test]
    fn columns_go_in_their_order_and_are_named() {
        let columns = columns();
        let whole = widest(&columns.lines(None));
        let less = columns.lines(Some(whole - 1));
        assert!(
            less.ends_with("no room for: resent; --json has them\n"),
            "{less}"
        );
        assert!(
            less.contains("goodput") && !less.contains("10.1 %"),
            "{less}"
        );
        let least = columns.lines(Some(54));
        assert!(
            least.ends_with("no room for: goodput linux, resent; --json has them\n"),
            "{least}"
        );
    }

    #[test]
    fn text_is_broken_at_last() {
        for width in [30, 40, 50] {
            let text = columns().lines(Some(width));
            assert!(widest(&text) <= width, "{width}: {text}");
            assert!(text.contains("words"), "{text}");
        }
    }
}
