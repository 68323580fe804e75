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

impl Group {
    /// Sorts groups by one of their [columns](sortable_columns), the largest first and unknown values last. It is
    /// stable.
    pub fn sort(groups: &mut [Group], by: Column, is_reversed: bool) {
        let number = |group: &Group| number(group, by).unwrap_or(f64::NEG_INFINITY);
        groups.sort_by(|one, other| number(other).total_cmp(&number(one)));
        if is_reversed {
            groups.reverse();
        }
    }
}

/// The number by which a group is sorted. For a distribution, it is the median.
fn number(group: &Group, by: Column) -> Option<f64> {
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

#[cfg(test)]
mod tests {
    use units::Rate;

    use super::*;
    use crate::group::GroupBy;
    use crate::tests::connection;

    #[test]
    fn groups_are_sorted_by_the_columns_that_they_have() {
        let mut far = connection(2);
        far.seen.socket.remote = "203.0.113.9:4444".parse().unwrap();
        far.seen.socket.info.rtt = Duration::from_millis(90);
        let since = far.seen.since.as_mut().unwrap();
        (since.acknowledged, since.received) = (units::Bytes::new(1), units::Bytes::new(7));
        (since.packets, since.retransmitted) = (10, 9);
        far.seen.socket.info.delivery_rate = Rate::from_bits_per_sec(1);
        let all = [connection(1), far];
        let first = |by: Column, is_reversed: bool| {
            let mut groups = Group::all(GroupBy::Prefix, &all);
            Group::sort(&mut groups, by, is_reversed);
            groups[0].name.starts_with("203.0.113.")
        };
        let is_far_first = [false, true, true, false, true];
        for (&by, is_first) in sortable_columns().iter().zip(is_far_first) {
            assert_eq!(first(by, false), is_first, "{by}");
            assert_eq!(first(by, true), !is_first, "{by}");
        }
    }
}
