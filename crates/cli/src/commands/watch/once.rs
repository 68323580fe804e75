//! One poll, printed.

use fleet::{Column, Connection, Group, GroupBy, Limit, Moment};
use program::failure::Failure;
use program::output;
use report::{Table, below};
use serde_json::{Map, Value, json};
use tables::numbers::count;
use tables::statistics::nearest_rank;
use units::{Duration, Rate};

use super::Options;
use super::watching::Watching;
use crate::terminal::connections::{share_remotes, some_of};
use crate::terminal::groups::{HEADINGS, SPARE_HEADINGS, cells};

/// The columns of a table: those that have values after one poll.
const COLUMNS: [Column; 16] = [
    Column::Local,
    Column::Remote,
    Column::Process,
    Column::Namespace,
    Column::Controller,
    Column::State,
    Column::Send,
    Column::Receive,
    Column::Delivery,
    Column::Rtt,
    Column::Ratio,
    Column::Inflight,
    Column::Pacing,
    Column::Resent,
    Column::As,
    Column::Cgroup,
];

/// The columns that are left out first if the terminal is narrow.
const SPARE_COLUMNS: [Column; 7] = [
    Column::Cgroup,
    Column::As,
    Column::Pacing,
    Column::Inflight,
    Column::Local,
    Column::Ratio,
    Column::State,
];

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
        let fields = fleet::fields();
        return lines(
            all.iter()
                .map(|one| output::json_text(&fleet::json(&fields, &one.seen))),
        );
    }
    // Empty columns are left out: rates, for example, need two polls.
    let is_known = |column: &Column| {
        column.tells(all.iter().copied()) && all.iter().any(|one| column.cell(one) != "–")
    };
    let shown: Vec<Column> = COLUMNS.into_iter().filter(is_known).collect();
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
    let spare: Vec<&str> = SPARE_COLUMNS
        .into_iter()
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
        return lines(
            all.iter()
                .map(|group| output::json_text(&of_group(by, group, when))),
        );
    }
    let rows = all.iter().map(cells);
    let table = Table::new(
        HEADINGS.map(|heading| {
            if heading.is_empty() {
                by.name()
            } else {
                heading
            }
        }),
        rows,
    );
    let sorted = options.sort.heading();
    let spare = SPARE_HEADINGS
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

fn of_group(by: GroupBy, group: &Group, when: Moment) -> Map<String, Value> {
    let time = |span: Option<Duration>| span.map(Duration::as_millis_f64);
    let shares = group.since.shares();
    let value = json!({
        by.name(): group.name,
        "unix_s": when.unix_s,
        "at_s": when.at.as_secs_f64(),
        "connections": group.connections,
        "send_rate_bps": group.send_rate.map(Rate::bits_per_sec),
        "receive_rate_bps": group.receive_rate.map(Rate::bits_per_sec),
        "srtt_p50_ms": time(nearest_rank(&group.rtts, 0.5)),
        "srtt_p95_ms": time(nearest_rank(&group.rtts, 0.95)),
        "min_rtt_ms": time(group.min_rtt),
        "delivery_rate_p50_bps": nearest_rank(&group.delivery_rates, 0.5).map(Rate::bits_per_sec),
        "resent": group.since.resent(),
        "limited_application": shares.map(|shares| shares.application),
        "limited_receiver": shares.map(|shares| shares.receiver),
        "limited_send_buffer": shares.map(|shares| shares.send_buffer),
        "limited_congestion": shares.map(|shares| shares.congestion),
        "limit": shares.map(|shares| Limit::name(shares.most().0)),
    });
    match value {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

/// Prints lines at once. Returns whether stdout is still open.
fn lines(lines: impl Iterator<Item = String>) -> Result<bool, Failure> {
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
    output::offer(output::printable(text.trim_end()))
}
