//! Tables for a terminal.

use super::markdown;
use super::page::swatch;
use askama::Template;
use comfy_table::{
    self as comfy, CellAlignment, ColumnConstraint, ContentArrangement, Width, presets,
};

/// The spaces between two columns.
const COLUMN_GAP: usize = 2;

/// The indentation of rows below their separate lines.
const INDENT: &str = "  ";

/// The minimum width of a column of text, in characters.
const MIN_TEXT_WIDTH: usize = 8;

/// A table for the terminal and, as a template, for pages.
#[derive(Debug, Template)]
#[template(path = "table.html")]
pub struct Table {
    /// Its name on a page, for scripts; it may be empty.
    pub id: &'static str,
    /// The columns' headings, which may have several lines.
    pub headings: Vec<String>,
    /// The cells, row by row.
    pub rows: Vec<Vec<String>>,
    /// The indices of the columns of text, which a terminal aligns to the left. The others are numbers, aligned to the
    /// right.
    pub text: Vec<usize>,
    /// The place in the palette of each row's first cell on a page; may be empty.
    pub swatches: Vec<usize>,
    /// The indices of the columns that are omitted without room, the first one first.
    pub spare: Vec<usize>,
    /// The indices of the columns that get a separate line above each row without room, after this number of spare
    /// columns is omitted. They are never broken.
    pub apart: (Vec<usize>, usize),
    /// The indices of the columns that a terminal never shows.
    pub absent: Vec<usize>,
    /// The place where omitted columns can be found: `--json has`.
    pub elsewhere: &'static str,
}

impl Table {
    /// Returns a table whose first column is text, and all of whose columns are shown.
    pub fn new(
        headings: impl IntoIterator<Item = impl Into<String>>,
        rows: impl IntoIterator<Item = Vec<String>>,
    ) -> Table {
        Table {
            id: "",
            headings: headings.into_iter().map(Into::into).collect(),
            rows: rows.into_iter().collect(),
            text: vec![0],
            swatches: Vec::new(),
            spare: Vec::new(),
            apart: (Vec::new(), usize::MAX),
            absent: Vec::new(),
            elsewhere: "--json has",
        }
    }

    /// Sets the colour of each row's first cell, by its place in the palette.
    pub fn coloured(self, swatches: Vec<usize>) -> Table {
        Table { swatches, ..self }
    }

    /// The rows, each with the colour of its first cell, if it has one.
    fn body(&self) -> impl Iterator<Item = (Option<usize>, &[String])> {
        let rows = self.rows.iter().enumerate();
        rows.map(|(place, row)| (self.swatches.get(place).copied(), &row[..]))
    }

    /// Returns the cells of a page's row, each with its attributes: texts are aligned to the left, and the first cell
    /// has a colour.
    fn cells<'c>(
        &self,
        colour: Option<usize>,
        cells: &'c [String],
    ) -> impl Iterator<Item = (String, &'c String)> {
        let cells = cells.iter().enumerate();
        cells.map(move |(column, cell)| {
            let attributes = match (column, colour) {
                (0, Some(place)) => format!(" class=\"swatch\" style=\"{}\"", swatch(place)),
                (0, None) => String::new(),
                _ if self.text.contains(&column) => " class=\"text\"".to_owned(),
                _ => String::new(),
            };
            (attributes, cell)
        })
    }

    /// Sets the columns that are omitted without room by their headings, the first one first.
    pub fn sparing(mut self, headings: &[&str]) -> Table {
        let place = |name: &&str| self.headings.iter().position(|heading| heading == name);
        self.spare = headings.iter().filter_map(place).collect();
        self
    }

    /// Sets the columns that get a separate line before the spare column `before` is omitted.
    pub fn apart(mut self, headings: &[&str], before: &str) -> Table {
        let place = |name: &str| self.headings.iter().position(|heading| heading == name);
        let first = place(before);
        let kept = self.spare.iter().position(|spare| Some(*spare) == first);
        let columns = headings.iter().filter_map(|name| place(name));
        self.apart = (columns.collect(), kept.unwrap_or(usize::MAX));
        self
    }

    /// Returns the table's lines: everything for `None`, or else for a terminal of `width` columns. If they are too
    /// long, headings are stacked; then spare columns are omitted until the rest fits, and a line names them; finally,
    /// texts are broken. Columns set by [`Table::apart()`] get a separate line in between. The text ends with a newline.
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
        let (apart, first) = &self.apart;
        let mut dropped = self.drop(&headings, &mut shown, room, *first);
        let is_apart = !apart.is_empty() && self.needed(&headings, &shown) > room;
        let mut text = if is_apart {
            shown.append(&mut dropped);
            shown.sort_unstable();
            shown.retain(|column| !apart.contains(column));
            dropped = self.drop(
                &headings,
                &mut shown,
                room.saturating_sub(INDENT.len()),
                usize::MAX,
            );
            self.drawn_apart(&headings, &shown, room)
        } else {
            let broken = self.broken(&headings, &shown, room);
            self.drawn(&headings, &shown, broken.as_deref())
        };
        if !dropped.is_empty() {
            dropped.sort_unstable();
            let names = dropped
                .iter()
                .map(|column| self.headings[*column].replace('\n', " "));
            let (names, elsewhere) = (names.collect::<Vec<_>>().join(", "), self.elsewhere);
            text += &format!("no room for: {names}; {elsewhere} them\n");
        }
        text
    }

    /// Omits spare columns, at most so many, until the others fit. Returns the omitted ones.
    fn drop(
        &self,
        headings: &[String],
        shown: &mut Vec<usize>,
        room: usize,
        most: usize,
    ) -> Vec<usize> {
        let mut dropped = Vec::new();
        for spare in self.spare.iter().take(most) {
            if self.needed(headings, shown) <= room {
                break;
            }
            let before = shown.len();
            shown.retain(|column| column != spare);
            dropped.extend((shown.len() < before).then_some(*spare));
        }
        dropped
    }

    /// Draws the shown columns, each row below one or several lines of its separate columns.
    fn drawn_apart(&self, headings: &[String], shown: &[usize], room: usize) -> String {
        let drawn = self.drawn(headings, shown, None);
        let lines: Vec<&str> = drawn.lines().collect();
        let (head, rows) = lines.split_at(lines.len().saturating_sub(self.rows.len()));
        let names: Vec<&str> = self
            .apart
            .0
            .iter()
            .map(|column| &*self.headings[*column])
            .collect();
        let mut text = names.join(" → ") + "\n";
        for line in head {
            text += &format!("{INDENT}{line}\n");
        }
        for (line, row) in rows.iter().zip(&self.rows) {
            let apart = self.apart.0.iter().filter_map(|column| row.get(*column));
            let apart: Vec<&str> = apart.map(String::as_str).collect();
            let whole = apart.join(" → ");
            if whole.chars().count() <= room {
                text += &whole;
            } else {
                text += &apart.join("\n→ ");
            }
            text += &format!("\n{INDENT}{line}\n");
        }
        text
    }

    /// Returns the whole table in Markdown, with a newline at the end.
    pub fn markdown(&self) -> String {
        let rule = format!("|{}\n", " --- |".repeat(self.headings.len()));
        let rows = self.rows.iter().map(markdown::row);
        markdown::row(&self.headings) + &rule + &rows.collect::<String>()
    }

    /// Returns the widths of all columns, with texts narrowed until the shown columns fit; `None` if they fit anyway.
    fn broken(&self, headings: &[String], shown: &[usize], room: usize) -> Option<Vec<usize>> {
        let excess = self.needed(headings, shown).checked_sub(room)?;
        let mut widths = self.widths(headings);
        for _ in 0..excess {
            let texts = shown.iter().filter(|column| self.text.contains(column));
            let widest = texts.max_by_key(|column| widths[**column])?;
            if widths[*widest] <= MIN_TEXT_WIDTH {
                break;
            }
            widths[*widest] -= 1;
        }
        (excess > 0).then_some(widths)
    }

    /// Draws the shown columns, with texts of these widths, if they are given.
    fn drawn(&self, headings: &[String], shown: &[usize], widths: Option<&[usize]>) -> String {
        let pick = |row: &[String]| -> Vec<String> {
            let cells = shown.iter().map(|column| row.get(*column).cloned());
            cells.map(Option::unwrap_or_default).collect()
        };
        let mut table = comfy::Table::new();
        table
            .load_style(presets::NOTHING)
            .set_content_arrangement(ContentArrangement::Disabled)
            .set_header(pick(headings));
        table.add_rows(self.rows.iter().map(|row| pick(row)));
        for (place, (column, of)) in table.column_iter_mut().zip(shown).enumerate() {
            let padding = u16::from(place > 0);
            column.set_padding((padding, 1));
            if !self.text.contains(of) {
                column.set_cell_alignment(CellAlignment::Right);
            } else if let Some(width) = widths.and_then(|widths| u16::try_from(widths[*of]).ok()) {
                let width = Width::Fixed(width.saturating_add(padding + 1));
                column.set_constraint(ColumnConstraint::Absolute(width));
                continue;
            }
            column.set_constraint(ColumnConstraint::ContentWidth);
        }
        table.trim_fmt() + "\n"
    }

    /// The characters of these columns.
    fn needed(&self, headings: &[String], shown: &[usize]) -> usize {
        let widths = self.widths(headings);
        let columns = shown.iter().filter_map(|column| widths.get(*column));
        let all: usize = columns.map(|width| width + COLUMN_GAP).sum();
        all.saturating_sub(COLUMN_GAP)
    }

    /// The characters of each column with these headings.
    fn widths(&self, headings: &[String]) -> Vec<usize> {
        let width = |(column, heading): (usize, &String)| {
            let rows = self.rows.iter().filter_map(|row| row.get(column));
            let lines = rows.chain([heading]).flat_map(|cell| cell.lines());
            lines.map(|line| line.chars().count()).max().unwrap_or(0)
        };
        headings.iter().enumerate().map(width).collect()
    }
}

/// Breaks the heading into lines no longer than its cells, or than its longest word. The parts of a field count as
/// words.
fn stacked(heading: &str, cells: usize) -> String {
    let words: Vec<&str> = heading.split_inclusive([' ', '\n', '.']).collect();
    let length = |word: &str| word.trim_end().chars().count();
    let longest = words.iter().map(|word| length(word)).max().unwrap_or(0);
    let mut lines = vec![String::new()];
    for word in words {
        let Some(line) = lines.last_mut() else { break };
        if line.is_empty() || line.chars().count() + length(word) <= cells.max(longest) {
            line.push_str(word);
        } else {
            lines.push(word.to_string());
        }
    }
    let lines: Vec<&str> = lines.iter().map(|line| line.trim_end()).collect();
    lines.join("\n").replace("\n\n", "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns() -> Table {
        let why = "a cause that is told in some words";
        let rows = [
            ["one", "94.8 Mbit/s", "40 ms", "0.1 %", "ok"],
            ["another", "1 Mbit/s", "140 ms", "10.1 %", why],
        ];
        let headings = ["case", "goodput\nlinux", "RTT", "resent", "why"];
        let table = Table {
            text: vec![0, 4],
            ..Table::new(headings, rows.map(|row| row.map(str::to_owned).to_vec()))
        };
        table.sparing(&["resent", "goodput\nlinux"])
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
    fn what_stands_apart_is_never_broken() {
        let address = "[2001:db8:1234:5678:9abc:def0:1234:5678]:65535";
        let row = |end| {
            [
                end,
                end,
                "1.85 MB",
                "15.5 Mbit/s",
                "bottleneck 85 %, buffer 10 %",
            ]
        };
        let rows = [row("10.1.0.1:32768"), row(address)];
        let headings = ["from", "to", "payload", "goodput", "limited by"];
        let table = Table {
            text: vec![0, 1, 4],
            ..Table::new(headings, rows.map(|row| row.map(str::to_owned).to_vec()))
        };
        let table = table
            .sparing(&["goodput"])
            .apart(&["from", "to"], "goodput");
        for width in [60, 80, 100] {
            let text = table.lines(Some(width));
            assert!(widest(&text) <= width, "{width}: {text}");
            assert_eq!(text.matches(address).count(), 2, "{text}");
            assert!(text.contains("10.1.0.1:32768 → 10.1.0.1:32768\n"), "{text}");
            assert!(text.contains("15.5 Mbit/s"), "{text}");
        }
        assert!(!table.lines(None).contains('→'));
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
