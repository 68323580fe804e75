//! docs/statements.md.

use super::table::{Publication, State, Statement, Table};

/// The whole page.
pub fn page(table: &Table) -> String {
    let mut page = format!("{HEAD}\n{}", counts(table));
    for publication in &table.publication {
        page += &format!("\n## {}\n\n{}\n", publication.name, publication.about);
        for section in &publication.section {
            page += &format!("\n### {}\n\n{TABLE}", section.name);
            page.extend(section.statement.iter().map(row));
        }
    }
    page
}

const HEAD: &str = "# Statements

What three publications state about BBR, statement by statement and in our own words; what implements each, and what
shows it. [The results of the claims](results/claims.md) have the numbers.

| state | meaning |
| --- | --- |
| shown | a claim or a test shows it |
| shown in part | a claim or a test shows a part of it; the cause is beside it |
| differs | it was measured and is not so; the cause is beside it, and with its numbers in the claim |
| not shown | nothing here shows it; why is beside it |

Where engines differ, the simulator counts. Most publications are of 2016: a statement is shown if BBR of that time
shows it, and says so where today's BBR does not.

This page is made of [`docs/statements.toml`](statements.toml). To change it, change that file, and run
`STATEMENTS=write cargo test -p fullpipe --test house statements`. The test fails if a file, an item, a claim or a test is
no longer there, if a statement is called shown and its claim differs, and if a claim has no statement.
";

const TABLE: &str = "| statement | code | shown by | state |\n| --- | --- | --- | --- |\n";

/// How many statements are in each state.
fn counts(table: &Table) -> String {
    let mut text = String::from("| publication |");
    for state in State::ALL {
        text += &format!(" {state} |");
    }
    text += " all |\n| --- | --- | --- | --- | --- | --- |\n";
    for publication in &table.publication {
        let of = |publication: &Publication| -> Vec<State> {
            let all = publication.section.iter().flat_map(|s| &s.statement);
            all.map(|statement| statement.state).collect()
        };
        text += &count_row(&publication.name, &of(publication));
    }
    let all: Vec<State> = table
        .statements()
        .map(|statement| statement.state)
        .collect();
    text + &count_row("all", &all)
}

fn count_row(name: &str, states: &[State]) -> String {
    let count = |state| states.iter().filter(|is| **is == state).count();
    let counts = State::ALL.map(|state| count(state).to_string());
    format!("| {name} | {} | {} |\n", counts.join(" | "), states.len())
}

fn row(statement: &Statement) -> String {
    let code: Vec<String> = statement.code.iter().map(|place| link(place)).collect();
    let claims = statement.claims.iter().map(|reference| {
        let (id, what) = reference.split_once(": ").unwrap_or((reference, ""));
        let what = if what.is_empty() {
            String::new()
        } else {
            format!(": {what}")
        };
        format!("claim `{id}`{what}")
    });
    let tests = statement
        .tests
        .iter()
        .map(|place| format!("test {}", link(place)));
    let shown: Vec<String> = claims.chain(tests).collect();
    let why = statement.why.as_deref().map(|why| format!(": {why}"));
    let cells = [
        format!("<a id=\"{}\"></a>{}", statement.id, statement.says),
        code.join("<br>"),
        shown.join("<br>"),
        format!("**{}**{}", statement.state, why.unwrap_or_default()),
    ];
    format!(
        "| {} |\n",
        cells.map(|cell| cell.replace('|', "\\|")).join(" | ")
    )
}

/// A place as a link to its file, without the directories that all crates have in common, and its item.
fn link(place: &str) -> String {
    let (path, item) = place.split_once('#').unwrap_or((place, ""));
    let shown = path.trim_start_matches("crates/").replace("/src/", "/");
    let item = if item.is_empty() {
        String::new()
    } else {
        format!(" `{item}`")
    };
    format!("[{shown}](../{path}){item}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_names_what_shows_it() {
        let statement = Statement {
            id: "an-id".to_owned(),
            says: "a | b".to_owned(),
            code: vec!["crates/path/src/queue/codel.rs#Codel".to_owned()],
            claims: vec!["one: what".to_owned()],
            tests: vec!["crates/path/tests/link.rs#shows".to_owned()],
            state: State::InPart,
            why: Some("because".to_owned()),
        };
        let code = "[path/queue/codel.rs](../crates/path/src/queue/codel.rs) `Codel`";
        let shown =
            "claim `one`: what<br>test [path/tests/link.rs](../crates/path/tests/link.rs) `shows`";
        let first = "<a id=\"an-id\"></a>a \\| b";
        let wanted = format!("| {first} | {code} | {shown} | **shown in part**: because |\n");
        assert_eq!(row(&statement), wanted);
    }

    #[test]
    fn states_are_counted() {
        let states = [State::Shown, State::Shown, State::NotShown];
        assert_eq!(count_row("p", &states), "| p | 2 | 0 | 0 | 1 | 3 |\n");
    }
}
