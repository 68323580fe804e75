//! Groups of connections as rows of text.

use std::iter::once;

use fleet::{GROUP_COLUMNS, Group, GroupBy};
use program::output;

/// The headings of a group's name and columns.
pub fn headings(by: GroupBy) -> Vec<&'static str> {
    let columns = GROUP_COLUMNS.iter().map(|column| column.heading);
    once(by.name()).chain(columns).collect()
}

/// The cells of a group below the [`headings`].
pub fn cells(group: &Group) -> Vec<String> {
    let columns = GROUP_COLUMNS.iter().map(|column| column.cell(group));
    once(output::word(&group.name)).chain(columns).collect()
}
