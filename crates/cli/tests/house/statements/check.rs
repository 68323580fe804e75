//! What is wrong with a table of statements.

use std::collections::BTreeSet;

use super::claims::Claims;
use super::sources::{has_test, has_word};
use super::table::{State, Statement, Table};

/// A line for each fault. `read` gives a file of the workspace.
pub fn faults(
    table: &Table,
    claims: &Claims,
    read: impl Fn(&str) -> Option<String>,
) -> Vec<String> {
    let mut faults = Vec::new();
    let mut ids = BTreeSet::new();
    let mut referred = BTreeSet::new();
    for statement in table.statements() {
        let mut found = of_statement(statement, claims, &read, &mut referred);
        if !ids.insert(&statement.id) {
            found.push("another statement has the same id".to_owned());
        }
        faults.extend(
            found
                .iter()
                .map(|fault| format!("{}: {fault}", statement.id)),
        );
    }
    let lonely = claims.ids().filter(|id| !referred.contains(*id));
    faults.extend(lonely.map(|id| format!("no statement names the claim {id}: add one")));
    faults
}

fn of_statement(
    statement: &Statement,
    claims: &Claims,
    read: impl Fn(&str) -> Option<String>,
    referred: &mut BTreeSet<String>,
) -> Vec<String> {
    let mut faults = Vec::new();
    for place in &statement.code {
        let (path, item) = match place.split_once('#') {
            Some((path, item)) => (path, Some(item)),
            None => (place.as_str(), None),
        };
        match (read(path), item) {
            (None, _) => faults.push(format!("there is no file {path}")),
            (Some(text), Some(item)) if !has_word(&text, item) => {
                faults.push(format!("there is no {item} in {path}"));
            }
            _ => {}
        }
    }
    for place in &statement.tests {
        let (path, name) = place.split_once('#').unwrap_or((place, ""));
        match read(path) {
            None => faults.push(format!("there is no file {path}")),
            Some(text) if !has_test(&text, name) => {
                faults.push(format!("there is no test “{name}” in {path}"));
            }
            Some(_) => {}
        }
    }
    let mut differing = Vec::new();
    for reference in &statement.claims {
        match claims.find(reference) {
            Err(error) => faults.push(error),
            Ok(meant) => {
                referred.insert(meant.claim.to_owned());
                differing.extend(meant.differs.then_some(reference.as_str()));
            }
        }
    }
    faults.extend(of_state(statement, &differing));
    faults
}

/// Whether the state agrees with what is said to show it.
fn of_state(statement: &Statement, differing: &[&str]) -> Vec<String> {
    let mut faults = Vec::new();
    let has_evidence = !statement.claims.is_empty() || !statement.tests.is_empty();
    let state = statement.state;
    let mut fault = |is_wrong: bool, text: &str| {
        if is_wrong {
            faults.push(format!("it is “{state}”, {text}"));
        }
    };
    match state {
        State::Shown => {
            fault(!has_evidence, "and no claim or test shows it");
            let differ =
                format!("but these differ: {differing:?}; name the expectation that holds");
            fault(!differing.is_empty(), &differ);
        }
        State::InPart => fault(!has_evidence, "and no claim or test shows it"),
        State::Differs => fault(differing.is_empty(), "and none of its claims differs"),
        State::NotShown => fault(has_evidence, "but a claim or test is named"),
    }
    let has_why = statement.why.as_ref().is_some_and(|why| !why.is_empty());
    if state == State::Shown {
        fault(has_why, "and needs no `why`");
    } else {
        fault(!has_why, "so `why` has to say why");
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLAIMS: &str = r#"
        [[claim]]
        id = "a"
        [[claim.expect]]
        what = "good"
        [[claim.expect]]
        what = "bad"
        differs = "why"
    "#;

    /// A statement that names the claim, so that only the one beside it can be wrong.
    const OTHER: &str = r#"
        [[publication.section.statement]]
        id = "other"
        says = "…"
        claims = ["a: good"]
        state = "shown"
    "#;

    fn read(path: &str) -> Option<String> {
        let text = "fn item() {}\n#[test]\nfn shows() {}\nfn helps() {}\n";
        (path == "code.rs").then(|| text.to_owned())
    }

    fn faults_of(statements: &str) -> Vec<String> {
        let head =
            "[[publication]]\nname = \"p\"\nabout = \"…\"\n[[publication.section]]\nname = \"s\"\n";
        let table = Table::parse(&format!("{head}{statements}")).expect("a table");
        faults(&table, &Claims::parse(CLAIMS).expect("claims"), read)
    }

    /// What is wrong with a statement of these lines, beside one with which nothing is.
    fn faults_with(lines: &str) -> String {
        let head = "[[publication.section.statement]]\nid = \"this\"\nsays = \"…\"\n";
        faults_of(&format!("{head}{lines}\n{OTHER}")).join("\n")
    }

    #[test]
    fn good_statements_have_none() {
        for lines in [
            "state = \"shown\"\ncode = [\"code.rs\", \"code.rs#item\"]\nclaims = [\"a: good\"]",
            "state = \"shown\"\ntests = [\"code.rs#shows\"]",
            "state = \"shown in part\"\nclaims = [\"a\"]\nwhy = \"…\"",
            "state = \"differs\"\nclaims = [\"a\"]\nwhy = \"…\"",
            "state = \"differs\"\nclaims = [\"a: bad\"]\nwhy = \"…\"",
            "state = \"not shown\"\nwhy = \"…\"",
        ] {
            assert_eq!(faults_with(lines), "", "{lines}");
        }
    }

    #[test]
    fn each_break_is_told() {
        for (lines, fault) in [
            (
                "state = \"shown\"\ntests = [\"code.rs#shows\"]\ncode = [\"lost.rs\"]",
                "no file lost.rs",
            ),
            (
                "state = \"shown\"\ntests = [\"code.rs#shows\"]\ncode = [\"code.rs#lost\"]",
                "no lost in code.rs",
            ),
            (
                "state = \"shown\"\ntests = [\"lost.rs#shows\"]",
                "no file lost.rs",
            ),
            (
                "state = \"shown\"\ntests = [\"code.rs#lost\"]",
                "no test “lost” in code.rs",
            ),
            (
                "state = \"shown\"\ntests = [\"code.rs#helps\"]",
                "no test “helps” in code.rs",
            ),
            (
                "state = \"shown\"\ntests = [\"code.rs\"]",
                "no test “” in code.rs",
            ),
            ("state = \"shown\"\nclaims = [\"lost\"]", "no claim lost"),
            (
                "state = \"shown\"\nclaims = [\"a: lost\"]",
                "a expects no “lost”",
            ),
            (
                "state = \"shown\"\ncode = [\"code.rs#item\"]",
                "no claim or test shows it",
            ),
            (
                "state = \"shown\"\nclaims = [\"a\"]",
                "these differ: [\"a\"]",
            ),
            (
                "state = \"shown\"\nclaims = [\"a: bad\"]",
                "these differ: [\"a: bad\"]",
            ),
            (
                "state = \"shown\"\nclaims = [\"a: good\"]\nwhy = \"…\"",
                "needs no `why`",
            ),
            (
                "state = \"shown in part\"\nwhy = \"…\"",
                "no claim or test shows it",
            ),
            (
                "state = \"shown in part\"\nclaims = [\"a\"]",
                "`why` has to say",
            ),
            (
                "state = \"differs\"\nclaims = [\"a: good\"]\nwhy = \"…\"",
                "none of its claims differs",
            ),
            ("state = \"differs\"\nclaims = [\"a\"]", "`why` has to say"),
            ("state = \"not shown\"\nwhy = \"\"", "`why` has to say"),
            (
                "state = \"not shown\"\nclaims = [\"a\"]\nwhy = \"…\"",
                "a claim or test is named",
            ),
        ] {
            let told = faults_with(lines);
            assert!(told.contains(fault), "{lines}\n{told}");
            assert_eq!(told.lines().count(), 1, "{lines}\n{told}");
        }
    }

    #[test]
    fn ids_are_unique() {
        let told = faults_of(&format!("{OTHER}{OTHER}"));
        assert_eq!(told, ["other: another statement has the same id"]);
    }

    #[test]
    fn no_claim_is_without_a_statement() {
        let told =
            faults_of(&OTHER.replace("claims = [\"a: good\"]", "tests = [\"code.rs#shows\"]"));
        assert_eq!(told, ["no statement names the claim a: add one"]);
    }
}
