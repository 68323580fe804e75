//! One poll, printed.

use fleet::column::{OF_ONE_POLL, SPARE_OF_ONE_POLL, UNKNOWN};
use fleet::{Column, Connection, Group, GroupBy, GroupRow, SPARE_GROUP_HEADINGS};
use program::failure::Failure;
use program::output;
use report::{Table, below};
use tables::Json;
use tables::numbers::count;

use super::Options;
use super::watching::Watching;
use crate::terminal::connections::{share_remotes, some_of};
use crate::terminal::groups::{cells, headings};

/// Prints the last poll. Returns whether stdout is still open.
pub fn print(watching: &Watching, options: &Options) -> Result<bool, Failure> {
    let top = options.top.map_or(usize::MAX, usize::from);
    match options.group {
        Some(by) => groups(watching, by, options, top),
        None => connections(watching, options.sort, top, options.json),
    }
}

fn connections(
    watching: &Watching,
    sort: Column,
    top: usize,
    is_json: bool,
) -> Result<bool, Failure> {
    let mut all: Vec<&Connection> = watching.passing().collect();
    let number = all.len();
    sort.sort(&mut all, false);
    all.truncate(top);
    if is_json {
        return json(&fleet::fields(), all.iter().map(|one| &one.seen));
    }
    // Empty columns are left out: rates, for example, need two polls.
    let is_known = |column: &Column| {
        column.tells(all.iter().copied()) && all.iter().any(|one| column.cell(one) != UNKNOWN)
    };
    let shown: Vec<Column> = OF_ONE_POLL.iter().copied().filter(is_known).collect();
    let headings = shown.iter().map(|column| column.heading());
    let rows = all.iter().map(|one| {
        shown
            .iter()
            .map(|column| output::word(&column.cell(one)))
            .collect()
    });
    let place = |(place, column): (usize, &Column)| column.is_text().then_some(place);
    let table = Table {
        text: shown.iter().enumerate().filter_map(place).collect(),
        ..Table::new(headings, rows)
    };
    let keeps_local = share_remotes(&all);
    let is_spare = |column: &Column| *column != sort && !(keeps_local && *column == Column::Local);
    let spare: Vec<&str> = SPARE_OF_ONE_POLL
        .iter()
        .copied()
        .filter(is_spare)
        .map(Column::heading)
        .collect();
    let table = table.sparing(&spare);
    show(
        table,
        all.is_empty(),
        some_of(all.len(), number, "connection"),
        watching,
    )
}

fn groups(
    watching: &Watching,
    by: GroupBy,
    options: &Options,
    top: usize,
) -> Result<bool, Failure> {
    let mut all = Group::all(by, watching.passing());
    let number = all.len();
    Group::sort(&mut all, options.sort, false);
    all.truncate(top);
    if options.json {
        let when = watching.watcher.table().when();
        let rows = all.iter().map(|group| GroupRow { group, when });
        return json(&fleet::group_fields(by), rows);
    }
    let rows = all.iter().map(cells);
    let table = Table::new(headings(by), rows);
    let sorted = options.sort.heading();
    let spare = SPARE_GROUP_HEADINGS
        .into_iter()
        .filter(|heading| *heading != sorted);
    let table = table.sparing(&spare.collect::<Vec<&str>>());
    show(
        table,
        all.is_empty(),
        some_of(all.len(), number, "group"),
        watching,
    )
}

/// The rows as lines of JSON.
fn json<R>(
    columns: &[tables::Column<'_, R>],
    rows: impl Iterator<Item = R>,
) -> Result<bool, Failure> {
    let lines = rows.map(|row| output::json_text(&Json { columns, row: &row }));
    let lines: Vec<String> = lines.collect();
    if lines.is_empty() {
        return Ok(true);
    }
    output::offer(lines.join("\n"))
}

fn show(table: Table, is_empty: bool, all: String, watching: &Watching) -> Result<bool, Failure> {
    let text = if is_empty {
        String::new()
    } else {
        table.lines(output::width())
    };
    let left_out = watching.watcher.table().left_out();
    let more = (left_out > 0)
        .then(|| format!("{} too many to be followed", count(left_out, "connection")));
    let notes = std::iter::once(all).chain(more).collect();
    let text = below(&[text], notes, output::width());
    output::offer(text.trim_end())
}
