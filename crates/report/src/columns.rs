//! Tables for a terminal.

use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Table, Width, presets};

/// Between two columns.
const GAP: usize = 2;

/// The least that a column of text is narrowed to.
const NARROW: usize = 8;

/// A table in columns.
#[derive(Debug, Default)]
pub struct Columns {
    /// The columns' headings. One of several lines is named by all of them.
    pub headings: Vec<String>,
    /// The cells, row by row.
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
    /// The lines, with everything for `None`, and else for a terminal of so many columns. If they are too long, headings are
    /// stacked; then spare columns go until the rest fits, and a line names them; at last, texts are broken. Ends with a
    /// newline.
    pub fn lines(&self, width: Option<usize>) -> String {
        let room = width.unwrap_or(usize::MAX);
        let mut shown: Vec<usize> = (0..self.headings.len()).collect();
        shown.retain(|column| !self.absent.contains(column));
        let mut headings = self.headings.clone();
        if self.needed(&headings, &shown) > room {
            let cells = self.widths(&vec![String::new(); headings.len()]);
            let pairs = headings.iter().zip(cells);
            headings = pairs
                .map(|(heading, cells)| stacked(heading, cells))
                .collect();
        }
        let mut dropped = Vec::new();
        for spare in &self.spare {
            if self.needed(&headings, &shown) <= room {
                break;
            }
            let before = shown.len();
            shown.retain(|column| column != spare);
            dropped.extend((shown.len() < before).then_some(*spare));
        }
        let mut widths = self.widths(&headings);
        let mut excess = self.needed(&headings, &shown).saturating_sub(room);
        let is_broken = excess > 0;
        while excess > 0 {
            let texts = shown.iter().filter(|column| self.text.contains(column));
            let widest = texts.max_by_key(|column| widths.get(**column)).copied();
            let widest = widest.and_then(|column| widths.get_mut(column));
            let Some(widest) = widest.filter(|width| **width > NARROW) else {
                break;
            };
            *widest -= 1;
            excess -= 1;
        }
        let mut table = Table::new();
        let pick = |row: &[String]| -> Vec<String> {
            let cells = shown.iter().map(|column| row.get(*column).cloned());
            cells.map(Option::unwrap_or_default).collect()
        };
        table
            .load_style(presets::NOTHING)
            .set_content_arrangement(ContentArrangement::Disabled)
            .set_header(pick(&headings));
        table.add_rows(self.rows.iter().map(|row| pick(row)));
        for (place, (column, of)) in table.column_iter_mut().zip(&shown).enumerate() {
            let padding = u16::from(place > 0);
            column.set_padding((padding, 1));
            let is_text = self.text.contains(of);
            let width = widths.get(*of).and_then(|width| u16::try_from(*width).ok());
            column.set_constraint(match width {
                Some(width) if is_text && is_broken => {
                    ColumnConstraint::Absolute(Width::Fixed(width.saturating_add(padding + 1)))
                }
                _ => ColumnConstraint::ContentWidth,
            });
            if !is_text {
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

    /// The characters that these columns take.
    fn needed(&self, headings: &[String], shown: &[usize]) -> usize {
        let widths = self.widths(headings);
        let columns = shown.iter().filter_map(|column| widths.get(*column));
        let all: usize = columns.map(|width| width + GAP).sum();
        all.saturating_sub(GAP)
    }

    /// The characters that each column takes with these headings.
    fn widths(&self, headings: &[String]) -> Vec<usize> {
        let width = |(column, heading): (usize, &String)| {
            let rows = self.rows.iter().filter_map(|row| row.get(column));
            let lines = rows.chain([heading]).flat_map(|cell| cell.lines());
            lines.map(|line| line.chars().count()).max().unwrap_or(0)
        };
        headings.iter().enumerate().map(width).collect()
    }
}

/// The heading in lines that are no longer than the cells below it, or than its longest word; the parts of a field are
/// words too.
fn stacked(heading: &str, cells: usize) -> String {
    let words: Vec<&str> = heading.split_inclusive([' ', '\n', '.']).collect();
    let length = |word: &str| word.trim_end().chars().count();
    let longest = words.iter().map(|word| length(word)).max().unwrap_or(0);
    let mut lines = vec![String::new()];
    for word in words {
        let Some(line) = lines.last_mut() else { break };
        match line.is_empty() || line.chars().count() + length(word) <= cells.max(longest) {
            true => line.push_str(word),
            false => lines.push(word.to_string()),
        }
    }
    let lines: Vec<&str> = lines.iter().map(|line| line.trim_end()).collect();
    lines.join("\n").replace("\n\n", "\n")
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
        let least = columns.lines(Some(52));
        assert!(
            least.ends_with("no room for: goodput linux, resent; --json has them\n"),
            "{least}"
        );
    }

    #[test]
    fn headings_are_stacked_before_anything_goes() {
        let mut columns = columns();
        columns.headings[3] = "flow.0.controller".to_string();
        let whole = widest(&columns.lines(None));
        let narrower = columns.lines(Some(whole - 4));
        assert!(widest(&narrower) <= whole - 4, "{narrower}");
        assert!(
            narrower.contains("flow.") && !narrower.contains("no room"),
            "{narrower}"
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
