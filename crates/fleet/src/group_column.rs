//! The columns of a list of groups, which is also sorted by some of them.

use std::sync::LazyLock;

use tables::statistics::nearest_rank;
use units::Duration;

use crate::column::{Column, UNKNOWN, bps, millis};
use crate::group::Group;

/// A column of a list of groups.
pub struct GroupColumn {
    /// The heading.
    pub heading: &'static str,
    /// The number, if it is known.
    number: fn(&Group) -> Option<f64>,
    /// The text of a number.
    text: Text,
}

enum Text {
    /// That of a column of connections. Groups can be sorted by it.
    Of(Column),
    /// A text of its own.
    Own(fn(f64) -> String),
}

/// The columns of a group, after its name.
pub const GROUP_COLUMNS: [GroupColumn; 8] = [
    own(
        "conns",
        |group| Some(group.connections as f64),
        |count| format!("{count:.0}"),
    ),
    of(Column::Send, |group| group.send_rate.map(bps)),
    of(Column::Receive, |group| group.receive_rate.map(bps)),
    of(Column::Rtt, |group| rtt(group, 0.5)),
    own("p95", |group| rtt(group, 0.95), millis),
    own(
        "min RTT",
        |group| group.min_rtt.map(Duration::as_millis_f64),
        millis,
    ),
    of(Column::Delivery, |group| {
        nearest_rank(&group.delivery_rates, 0.5).map(bps)
    }),
    of(Column::Resent, |group| group.since.resent()),
];

/// The headings of the columns that are left out first on a narrow terminal.
pub const SPARE_GROUP_HEADINGS: [&str; 3] = ["min RTT", "p95", Column::Delivery.heading()];

/// The columns by which groups are sorted.
pub fn sortable_columns() -> &'static [Column] {
    static COLUMNS: LazyLock<Vec<Column>> =
        LazyLock::new(|| GROUP_COLUMNS.iter().filter_map(GroupColumn::of).collect());
    &COLUMNS
}

/// The number by which a group is sorted. For a distribution, it is the median.
pub(crate) fn number(group: &Group, by: Column) -> Option<f64> {
    let column = GROUP_COLUMNS.iter().find(|one| one.of() == Some(by))?;
    (column.number)(group)
}

const fn of(column: Column, number: fn(&Group) -> Option<f64>) -> GroupColumn {
    GroupColumn {
        heading: column.heading(),
        number,
        text: Text::Of(column),
    }
}

const fn own(
    heading: &'static str,
    number: fn(&Group) -> Option<f64>,
    text: fn(f64) -> String,
) -> GroupColumn {
    GroupColumn {
        heading,
        number,
        text: Text::Own(text),
    }
}

fn rtt(group: &Group, share: f64) -> Option<f64> {
    nearest_rank(&group.rtts, share).map(Duration::as_millis_f64)
}

impl GroupColumn {
    /// The cell of a group. A dash is an unknown value.
    pub fn cell(&self, group: &Group) -> String {
        let number = (self.number)(group);
        match self.text {
            Text::Of(column) => column.text(number),
            Text::Own(text) => number.map_or_else(|| UNKNOWN.to_owned(), text),
        }
    }

    fn of(&self) -> Option<Column> {
        match self.text {
            Text::Of(column) => Some(column),
            Text::Own(_) => None,
        }
    }
}
