//! The tables of columns in the pages of the documentation, which are made from the columns.

use std::fmt::Write;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::{env, fs};

use crate::cell::Kind;
use crate::column::Column;

/// The variable with the value `write` makes [`assert_has`] write the table.
const VARIABLE: &str = "COLUMNS";

/// Tests run side by side, and a page may have tables of several.
static WRITING: Mutex<()> = Mutex::new(());

/// The columns as a table in Markdown.
pub fn table<R>(columns: &[Column<'_, R>]) -> String {
    let mut table = "| column | type | meaning |\n| --- | --- | --- |\n".to_owned();
    for column in columns {
        let kind = match column.kind() {
            Kind::Whole => "whole",
            Kind::Real => "number",
            Kind::Text => "text",
            Kind::List => "list",
        };
        // Writing to a text does not fail.
        let _ = writeln!(table, "| `{}` | {kind} | {} |", column.name, column.meaning);
    }
    table
}

/// Asserts that a page has this table behind the line `<!-- columns: NAME -->`. With the variable `COLUMNS=write`, it
/// writes the table.
///
/// # Panics
///
/// The page has another table, or no such line.
pub fn assert_has(page: &Path, name: &str, table: &str) {
    let _turn = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
    let text =
        fs::read_to_string(page).unwrap_or_else(|error| panic!("{error}: {}", page.display()));
    let mark = format!("<!-- columns: {name} -->\n");
    let (before, after) = text
        .split_once(&mark)
        .unwrap_or_else(|| panic!("{} has no line {mark}", page.display()));
    let is_row = |line: &&str| line.starts_with('|');
    let length = after
        .split_inclusive('\n')
        .take_while(is_row)
        .map(str::len)
        .sum();
    let (present, rest) = after.split_at(length);
    if present != table && env::var(VARIABLE).is_ok_and(|value| value == "write") {
        fs::write(page, format!("{before}{mark}{table}{rest}")).expect("written");
        return;
    }
    assert!(
        present == table,
        "the table {name} of {} is not that of the columns; {VARIABLE}=write and this test write it:\n{table}",
        page.display()
    );
}

#[cfg(test)]
mod tests {
    use std::panic;

    use units::Duration;

    use super::*;

    #[test]
    fn a_page_has_what_the_columns_say() {
        let columns = crate::columns!(Duration {
            /// the round-trip time,
            /// of an ACK
            "rtt_ms": |row| *row,
            /// its name
            "name": |_| "rtt",
        });
        let table = table(&columns);
        let directory = tempfile::tempdir().expect("a directory");
        let page = directory.path().join("page.md");
        let has = |text: &str| {
            fs::write(&page, text).expect("written");
            panic::catch_unwind(|| assert_has(&page, "rows", &table)).is_ok()
        };
        let whole = "before\n<!-- columns: rows -->\n| column | type | meaning |\n| --- | --- | --- |\n\
                     | `rtt_ms` | number | the round-trip time, of an ACK |\n| `name` | text | its name |\n\nafter\n";
        assert!(has(whole));
        for (part, other) in [
            ("rtt_ms", "rtt_s"),
            ("ACK", "acknowledgement"),
            ("number", "whole"),
            ("| `name` | text | its name |\n", ""),
            ("columns: rows", "columns: others"),
        ] {
            assert!(!has(&whole.replace(part, other)), "{part}");
        }
    }
}
