//! docs/statements.md.

use std::collections::BTreeMap;

use super::claims::{Claims, Known};
use super::table::{State, Statement, Table};

/// The failing expectations in the results, as `id: what`, each with the engines.
type Failed = BTreeMap<String, Vec<String>>;

/// The whole page.
pub fn page(table: &Table, claims: &Claims, failed: &Failed) -> String {
    let mut page = format!("{HEAD}\n{}", counts(table, failed));
    for publication in &table.publication {
        page += &format!("\n## {}\n\n{}\n", publication.name, publication.about);
        for section in &publication.section {
            page += &format!("\n### {}\n\n{TABLE}", section.name);
            page.extend(section.statement.iter().map(|of| row(of, claims, failed)));
        }
    }
    page
}

const HEAD: &str = "# Statements

What four publications state about BBR, statement by statement and in our own words; what implements each, and what
shows it. Each claim links to its [results](results/claims.md), which have the numbers. Each expectation shows its measure,
its band and its points, as in the [table of claims](../scenarios/claims/claims.toml).

| state | meaning |
| --- | --- |
| shown | a claim or a test shows it |
| shown in part | a claim or a test shows a part of it; the cause is beside it |
| differs | it was measured and is not so; the cause is beside it, and with its numbers in the claim |
| not shown | nothing here shows it; why is beside it |

An expectation that does not hold is marked *differs* if this is known, and **FAILS** if it is not. The results of a claim that
differs have the cause, or say that no cause is established. The mark names the engines that it holds for; without a name,
it holds for all that can show the claim.

Where engines differ, the simulator counts, and the claim names the engines on which it differs. Most publications are of
2016: a statement is shown if BBR of that time shows it. A row in *italics* asks the same of something that the publication
does not speak of, such as the current BBR; it is counted apart.

This page is made of [`docs/statements.toml`](statements.toml). To change it, change that file, and run
`STATEMENTS=write cargo test -p fullpipe-proof --test statements`. The test fails if a file, an item, a claim or a test is
no longer there or no longer run, if a state does not agree with its claims, and if an expectation of a claim has no
statement.
";

const TABLE: &str = "| statement | code | shown by | state |\n| --- | --- | --- | --- |\n";

/// The addition to a state if all of its claims are left out of a quick run.
const FULL_ONLY: &str = "Only a full run of the claims shows it, which the test suite does not do.";

/// The number of statements in each state.
fn counts(table: &Table, failed: &Failed) -> String {
    let mut text = String::from("| publication |");
    for state in State::ALL {
        text += &format!(" {state} |");
    }
    text += " all |\n| --- | --- | --- | --- | --- | --- |\n";
    let states = |statements: Vec<&Statement>| -> Vec<State> {
        statements.iter().map(|statement| statement.state).collect()
    };
    for publication in &table.publication {
        let theirs = publication
            .statement()
            .filter(|statement| !statement.beyond)
            .collect();
        text += &count_row(&publication.name, &states(theirs));
    }
    let (beyond, theirs) = table.statements().partition(|statement| statement.beyond);
    text += &count_row("all", &states(theirs));
    text += &count_row("*asked beyond them*", &states(beyond));
    let rests_on_a_failure = |of: &&Statement| of.claims.iter().any(|it| failed.contains_key(it));
    let failing = table.statements().filter(rests_on_a_failure).count();
    text + &format!("\nStatements of which a claim fails in the last results: {failing}.\n")
}

fn count_row(name: &str, states: &[State]) -> String {
    let count = |state| states.iter().filter(|is| **is == state).count();
    let counts = State::ALL.map(|state| count(state).to_string());
    format!("| {name} | {} | {} |\n", counts.join(" | "), states.len())
}

fn row(statement: &Statement, claims: &Claims, failed: &Failed) -> String {
    let code: Vec<String> = statement.code.iter().map(|place| link(place)).collect();
    // The check reports a reference to nothing.
    let known = statement.claims.iter().filter_map(|reference| {
        let (id, what) = reference.split_once(": ")?;
        Some((id, what, claims.find(reference).ok()?))
    });
    let known: Vec<(&str, &str, Known)> = known.collect();
    let tests = statement
        .tests
        .iter()
        .map(|place| format!("test {}", link(place)));
    let shown: Vec<String> = of_claims(&known, failed).into_iter().chain(tests).collect();
    let is_full_only = known.iter().all(|(.., known)| known.is_full_only);
    let has_claims_alone = !known.is_empty() && statement.tests.is_empty();
    let more = if has_claims_alone && is_full_only {
        format!(". {FULL_ONLY}")
    } else {
        String::new()
    };
    let why = statement.why.as_deref().map(|why| format!(": {why}"));
    let says = if statement.beyond {
        format!("*{}*", statement.says)
    } else {
        statement.says.clone()
    };
    let cells = [
        format!("<a id=\"{}\"></a>{says}", statement.id),
        code.join("<br>"),
        shown.join("<br>"),
        format!("**{}**{}{more}", statement.state, why.unwrap_or_default()),
    ];
    format!(
        "| {} |\n",
        cells.map(|cell| cell.replace('|', "\\|")).join(" | ")
    )
}

/// Each claim once, with its expectations and the engines on which they differ or fail.
fn of_claims(known: &[(&str, &str, Known)], failed: &Failed) -> Vec<String> {
    let of_one = known.chunk_by(|one, next| one.0 == next.0);
    let told = of_one.map(|expectations| {
        let id = expectations[0].0;
        let whats: Vec<String> = expectations
            .iter()
            .map(|(_, what, known)| {
                let differs = match &known.differs_on[..] {
                    [] => String::new(),
                    on if on.len() == known.engines.len() => " (differs)".to_owned(),
                    on => format!(" (differs on {})", on.join(", ")),
                };
                let fails = match failed.get(&format!("{id}: {what}")) {
                    Some(on) => format!(" (**FAILS** on {})", on.join(", ")),
                    None => String::new(),
                };
                format!("{what} `{}`{differs}{fails}", known.asked)
            })
            .collect();
        format!("claim [{id}](results/claims.md#{id}): {}", whats.join("; "))
    });
    told.collect()
}

/// A link to the file of `place`, without the directories that all crates have in common, and with its item.
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

    const CLAIMS: &str = r#"
        [[claim]]
        id = "one"
        engines = ["sim", "linux"]
        [[claim.expect]]
        what = "what"
        measure = "jain"
        at_least = 0.9
        quick = false
        [[claim.expect]]
        what = "more"
        measure = "jain"
        at_least = 0.9
        quick = false
        [[claim.expect.differs]]
        why = "why"
        engines = ["linux"]
        [[claim.expect]]
        what = "bad"
        measure = "even"
        at_most = "30s"
        [[claim.expect.differs]]
        why = "why"
    "#;

    fn statement(claims: &[&str]) -> Statement {
        Statement {
            id: "an-id".to_owned(),
            says: "a | b".to_owned(),
            beyond: false,
            code: vec!["crates/path/src/queue/codel.rs#Codel".to_owned()],
            claims: claims.iter().map(|claim| (*claim).to_owned()).collect(),
            tests: vec!["crates/path/tests/link.rs#shows".to_owned()],
            state: State::InPart,
            why: Some("because".to_owned()),
        }
    }

    fn row_of(statement: &Statement) -> String {
        row_with(statement, &Failed::new())
    }

    fn row_with(statement: &Statement, failed: &Failed) -> String {
        row(statement, &Claims::parse(CLAIMS).expect("claims"), failed)
    }

    #[test]
    fn a_row_names_what_shows_it() {
        let code = "[path/queue/codel.rs](../crates/path/src/queue/codel.rs) `Codel`";
        let claims = "claim [one](results/claims.md#one): what `jain ≥ 0.9`; more `jain ≥ 0.9` (differs on linux); bad `even ≤ 30s` (differs)";
        let test = "test [path/tests/link.rs](../crates/path/tests/link.rs) `shows`";
        let first = "<a id=\"an-id\"></a>a \\| b";
        let wanted =
            format!("| {first} | {code} | {claims}<br>{test} | **shown in part**: because |\n");
        assert_eq!(
            row_of(&statement(&["one: what", "one: more", "one: bad"])),
            wanted
        );
    }

    #[test]
    fn what_fails_says_so() {
        let failed = Failed::from([("one: what".to_owned(), vec!["linux".to_owned()])]);
        let told = row_with(&statement(&["one: what", "one: bad"]), &failed);
        assert!(
            told.contains("what `jain ≥ 0.9` (**FAILS** on linux); bad"),
            "{told}"
        );
    }

    #[test]
    fn what_only_full_runs_show_says_so() {
        let mut of_claims = statement(&["one: what", "one: more"]);
        assert!(!row_of(&of_claims).contains(FULL_ONLY));
        of_claims.tests.clear();
        assert!(row_of(&of_claims).contains(FULL_ONLY));
        of_claims.claims.push("one: bad".to_owned());
        assert!(!row_of(&of_claims).contains(FULL_ONLY));
    }

    #[test]
    fn states_are_counted() {
        let states = [State::Shown, State::Shown, State::NotShown];
        assert_eq!(count_row("p", &states), "| p | 2 | 0 | 0 | 1 | 3 |\n");
    }
}
