//! Connections, or groups of them, as rows.

use fleet::column::BY_IMPORTANCE;
use fleet::{Column, Connection, GroupBy, SPARE_GROUP_HEADINGS};
use program::output::printable;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;
use report::without_middle;

use super::View;
use super::screen::{Chosen, Screen};
use crate::terminal::connections::share_remotes;
use crate::terminal::groups::{cells, headings};

/// The minimum and the maximum width of a sparkline, in characters.
const MIN_SPARKLINE_WIDTH: usize = 8;
const MAX_SPARKLINE_WIDTH: usize = 60;

/// The columns that fit, in their order, with their widths, and the rest of the width for sparklines. Columns without
/// information about `all` are left out; `shown` are the visible connections.
fn columns(
    width: usize,
    sort: Column,
    all: &[&Connection],
    shown: &[&Connection],
) -> (Vec<(Column, usize)>, usize) {
    let next: &[Column] = if share_remotes(shown) {
        &[Column::Remote, Column::Local]
    } else {
        &[]
    };
    let mut chosen: Vec<Column> = Vec::new();
    let mut used = 0;
    for column in [sort].iter().chain(next).chain(BY_IMPORTANCE) {
        let needed = column.min_width() + usize::from(!chosen.is_empty());
        let is_empty = || *column != sort && !column.tells(all.iter().copied());
        if !chosen.contains(column) && used + needed <= width && !is_empty() {
            chosen.push(*column);
            used += needed;
        }
    }
    chosen.sort_by_key(|column| Column::ALL.iter().position(|one| one == column));
    let mut left = width.saturating_sub(used);
    let spark = if left > MIN_SPARKLINE_WIDTH {
        MIN_SPARKLINE_WIDTH + 1
    } else {
        0
    };
    left -= spark;
    let mut widths = Vec::new();
    for column in chosen {
        let cells = shown.iter().map(|one| column.cell(one).chars().count());
        let wanted = cells.max().unwrap_or(0).min(column.max_width());
        let more = wanted.saturating_sub(column.min_width()).min(left);
        widths.push((column, column.min_width() + more));
        left -= more;
    }
    (widths, (spark + left).min(MAX_SPARKLINE_WIDTH))
}

pub fn connections(frame: &mut Frame<'_>, area: Rect, screen: &mut Screen, view: &View<'_>) {
    let all = screen.connections(view);
    let rows: Vec<Chosen> = all
        .iter()
        .map(|one| Chosen::Connection(one.seen.socket.cookie))
        .collect();
    screen.settle(&rows, usize::from(area.height).saturating_sub(1));
    let end = all.len().min(screen.top + screen.room);
    let in_sight = all.get(screen.top..end).unwrap_or_default();
    let (columns, spark) = columns(area.width.into(), screen.sort, &all, in_sight);
    let palette = screen.palette;
    let heading = columns.iter().map(|(column, width)| {
        let style = if *column == screen.sort {
            palette.sorted()
        } else {
            palette.heading()
        };
        (aligned(column.heading(), *width, column.is_text()), style)
    });
    let mut lines = vec![joined(heading)];
    for (place, one) in (screen.top..).zip(in_sight) {
        let cells = columns.iter().map(|(column, width)| {
            let text = printable(&column.cell(one));
            let text = match column {
                Column::Remote | Column::Local => without_middle(&text, *width),
                _ => text,
            };
            (aligned(&text, *width, column.is_text()), Style::new())
        });
        let mut line = joined(cells);
        if spark > 1 {
            line.push_span(Span::styled(
                format!(" {}", sparkline(one, spark - 1)),
                palette.curve(0),
            ));
        }
        lines.push(chosen(line, place, screen));
    }
    show(frame, area, lines, screen);
}

pub fn groups(
    frame: &mut Frame<'_>,
    area: Rect,
    screen: &mut Screen,
    view: &View<'_>,
    by: GroupBy,
) {
    let all = screen.groups(by, view);
    let rows: Vec<Chosen> = all
        .iter()
        .map(|group| Chosen::Group(group.name.clone()))
        .collect();
    screen.settle(&rows, usize::from(area.height).saturating_sub(1));
    let palette = screen.palette;
    // Numbers have eight characters; the name has the rest.
    let headings = headings(by);
    let others = headings.len() - 1;
    let numbers = (usize::from(area.width).saturating_sub(12) / 9).min(others);
    let name = usize::from(area.width).saturating_sub(numbers * 9).min(60);
    let width = |column: usize| if column == 0 { name } else { 8 };
    let aligned_at = |column: usize, text: &str| aligned(text, width(column), column == 0);
    let sorted = screen.order().heading();
    let place = |name: &str| headings.iter().position(|heading| *heading == name);
    let sorted = place(sorted);
    let mut shown: Vec<usize> = (0..=others).collect();
    let spare = SPARE_GROUP_HEADINGS
        .into_iter()
        .filter_map(place)
        .chain((1..=others).rev());
    for column in spare.filter(|column| Some(*column) != sorted || numbers == 0) {
        if shown.len() > numbers + 1 {
            shown.retain(|one| *one != column);
        }
    }
    let heading = shown.iter().map(|&column| {
        let heading = headings[column];
        let style = if Some(column) == sorted {
            palette.sorted()
        } else {
            palette.heading()
        };
        (aligned_at(column, heading), style)
    });
    let mut lines = vec![joined(heading)];
    for (place, group) in all.iter().enumerate().skip(screen.top).take(screen.room) {
        let cells = cells(group);
        let cells = shown
            .iter()
            .filter_map(|&column| Some((aligned_at(column, cells.get(column)?), Style::new())));
        let line = joined(cells);
        lines.push(chosen(line, place, screen));
    }
    show(frame, area, lines, screen);
}

/// The row at this index, highlighted if it is selected.
fn chosen(line: Line<'static>, place: usize, screen: &Screen) -> Line<'static> {
    if place == screen.row {
        line.patch_style(screen.palette.chosen())
    } else {
        line
    }
}

/// Draws the heading and the rows below it.
fn show(frame: &mut Frame<'_>, area: Rect, mut lines: Vec<Line<'static>>, screen: &Screen) {
    if lines.len() == 1 {
        lines.push(Line::styled("no connection passes", screen.palette.quiet()));
    }
    frame.render_widget(Paragraph::new(lines), area);
}

fn joined(cells: impl Iterator<Item = (String, Style)>) -> Line<'static> {
    let mut spans = Vec::new();
    for (text, style) in cells {
        if !spans.is_empty() {
            spans.push(Span::raw(" "));
        }
        spans.push(Span::styled(text, style));
    }
    Line::from(spans)
}

/// The text padded to this width, or shortened with a mark.
fn aligned(text: &str, width: usize, is_left: bool) -> String {
    let length = text.chars().count();
    if length > width {
        let kept: String = text.chars().take(width.saturating_sub(1)).collect();
        return format!("{kept}…");
    }
    if is_left {
        format!("{text:<width$}")
    } else {
        format!("{text:>width$}")
    }
}

/// The bytes that the connection sent and received in the last polls, relative to its own maximum.
fn sparkline(connection: &Connection, width: usize) -> String {
    const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let history = connection.history();
    let skipped = history.len().saturating_sub(width);
    let rates: Vec<f32> = history.skip(skipped).map(|past| past.rate_bps).collect();
    let most = rates.iter().copied().fold(0.0, f32::max);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a level from 0 to 7"
    )]
    let level = |rate: f32| {
        let place = if most > 0.0 {
            (rate / most * 7.0).round() as usize
        } else {
            0
        };
        LEVELS.get(place).copied().unwrap_or(' ')
    };
    let drawn: String = rates.into_iter().map(level).collect();
    format!("{drawn:>width$}")
}
