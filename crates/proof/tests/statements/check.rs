//! The faults of a table of statements.

use std::collections::BTreeSet;

use super::claims::{Claims, Known};
use super::table::{State, Statement, Table};

/// The possible targets of references.
pub trait Workspace {
    /// True if the file exists and, for source code, is compiled.
    fn has_file(&self, path: &str) -> bool;
    /// True if the file defines the item, outside of tests.
    fn defines(&self, path: &str, item: &str) -> bool;
    /// True if the file has a test of that name that is run.
    fn tests(&self, path: &str, name: &str) -> bool;
}

/// A line for each fault.
pub fn faults(table: &Table, claims: &Claims, workspace: &impl Workspace) -> Vec<String> {
    let mut faults = Vec::new();
    let mut ids = BTreeSet::new();
    for statement in table.statements() {
        let mut found = of_statement(statement, claims, workspace);
        if !ids.insert(&statement.id) {
            found.push("another statement has the same id".to_owned());
        }
        faults.extend(
            found
                .iter()
                .map(|fault| format!("{}: {fault}", statement.id)),
        );
    }
    for publication in &table.publication {
        let there = publication.statement().count();
        let told = publication.statements;
        if there != told {
            let name = &publication.name;
            faults.push(format!(
                "{name}: it has {there} statements, and says {told}"
            ));
        }
    }
    let referred: BTreeSet<&String> = table.statements().flat_map(|of| &of.claims).collect();
    let lonely = claims.references().filter(|it| !referred.contains(it));
    faults.extend(lonely.map(|it| format!("no statement names the claim “{it}”: add one")));
    faults
}

fn of_statement(statement: &Statement, claims: &Claims, workspace: &impl Workspace) -> Vec<String> {
    let mut faults = Vec::new();
    for place in &statement.code {
        let (path, item) = place.split_once('#').unwrap_or((place, ""));
        let names_item = place.contains('#');
        if !workspace.has_file(path) {
            faults.push(format!("there is no file {path}"));
        } else if names_item && !workspace.defines(path, item) {
            faults.push(format!("{path} defines no “{item}”"));
        }
    }
    for place in &statement.tests {
        let (path, name) = place.split_once('#').unwrap_or((place, ""));
        if !workspace.has_file(path) {
            faults.push(format!("there is no file {path}"));
        } else if !workspace.tests(path, name) {
            faults.push(format!("{path} has no test “{name}” that is run"));
        }
    }
    let found = statement.claims.iter().map(|it| (it, claims.find(it)));
    let mut evidence = Vec::new();
    for (reference, known) in found {
        match known {
            Ok(known) => evidence.push((reference.as_str(), known)),
            Err(error) => faults.push(error),
        }
    }
    if evidence.len() == statement.claims.len() {
        faults.extend(of_state(statement, &evidence));
    }
    faults
}

/// Checks that the state agrees with the evidence.
fn of_state(statement: &Statement, evidence: &[(&str, Known)]) -> Vec<String> {
    let mut faults = Vec::new();
    let has_tests = !statement.tests.is_empty();
    let has_evidence = !evidence.is_empty() || has_tests;
    let differing = evidence.iter().filter(|(_, known)| known.differs());
    let differing: Vec<&str> = differing.map(|(reference, _)| *reference).collect();
    let all_differ = has_evidence && !has_tests && differing.len() == evidence.len();
    let state = statement.state;
    let mut fault = |is_wrong: bool, text: &str| {
        if is_wrong {
            faults.push(format!("it is “{state}”, {text}"));
        }
    };
    match state {
        State::Shown => {
            fault(!has_evidence, "and no claim or test shows it");
            let mut engines = evidence.iter().flat_map(|(_, known)| &known.engines);
            let is_in_ci = has_tests || engines.any(|engine| engine == "sim");
            fault(
                has_evidence && !is_in_ci,
                "and neither a test nor the simulator shows it",
            );
            let differ =
                format!("but these differ: {differing:?}; name the expectation that holds");
            fault(!differing.is_empty(), &differ);
        }
        State::InPart => {
            fault(!has_evidence, "and no claim or test shows it");
            fault(all_differ, "but all that is to show it differs");
        }
        State::Differs => fault(differing.is_empty(), "and none of its claims differs"),
        State::NotShown => fault(has_evidence, "but a claim or test is named"),
    }
    let is_implemented = !statement.code.is_empty();
    fault(
        state != State::NotShown && !is_implemented,
        "and names no code that implements it",
    );
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
        engines = ["sim"]
        [[claim.expect]]
        what = "good"
        [[claim.expect]]
        what = "bad"
        [[claim.expect.differs]]
        why = "why"
    "#;

    /// A statement that names both expectations, so that only the one beside it can be wrong.
    const OTHER: &str = r#"
        [[publication.section.statement]]
        id = "other"
        says = "…"
        code = ["code.rs"]
        claims = ["a: good", "a: bad"]
        state = "shown in part"
        why = "…"
    "#;

    struct OneFile;

    impl Workspace for OneFile {
        fn has_file(&self, path: &str) -> bool {
            path == "code.rs"
        }

        fn defines(&self, _: &str, item: &str) -> bool {
            item == "item"
        }

        fn tests(&self, _: &str, name: &str) -> bool {
            name == "shows"
        }
    }

    fn faults_of(statements: &str) -> Vec<String> {
        let count = statements.matches("id = ").count();
        faults_of_table(count, statements)
    }

    fn faults_of_table(count: usize, statements: &str) -> Vec<String> {
        let head = format!(
            "[[publication]]\nname = \"p\"\nabout = \"…\"\nstatements = {count}\n[[publication.section]]\nname = \"s\"\n"
        );
        let table = Table::parse(&format!("{head}{statements}")).expect("a table");
        faults(&table, &Claims::parse(CLAIMS).expect("claims"), &OneFile)
    }

    /// The faults of a statement with these lines, beside a correct one.
    fn faults_with(lines: &str) -> String {
        let head = "[[publication.section.statement]]\nid = \"this\"\nsays = \"…\"\n";
        let code = if lines.contains("code = ") {
            ""
        } else {
            "code = [\"code.rs\"]\n"
        };
        faults_of(&format!("{head}{code}{lines}\n{OTHER}")).join("\n")
    }

    #[test]
    fn good_statements_have_none() {
        for lines in [
            "state = \"shown\"\ncode = [\"code.rs\", \"code.rs#item\"]\nclaims = [\"a: good\"]",
            "state = \"shown\"\ntests = [\"code.rs#shows\"]",
            "state = \"shown in part\"\nclaims = [\"a: good\"]\nwhy = \"…\"",
            "state = \"shown in part\"\nclaims = [\"a: good\", \"a: bad\"]\nwhy = \"…\"",
            "state = \"shown in part\"\nclaims = [\"a: bad\"]\ntests = [\"code.rs#shows\"]\nwhy = \"…\"",
            "state = \"differs\"\nclaims = [\"a: good\", \"a: bad\"]\nwhy = \"…\"",
            "state = \"not shown\"\nwhy = \"…\"",
        ] {
            assert_eq!(faults_with(lines), "", "{lines}");
        }
    }

    #[test]
    fn each_break_is_told() {
        let shown = "state = \"shown\"";
        let why = "why = \"…\"";
        for (lines, fault) in [
            (
                format!("{shown}\ntests = [\"code.rs#shows\"]\ncode = [\"lost.rs\"]"),
                "no file lost.rs",
            ),
            (
                format!("{shown}\ntests = [\"code.rs#shows\"]\ncode = [\"code.rs#lost\"]"),
                "code.rs defines no “lost”",
            ),
            (
                format!("{shown}\ntests = [\"code.rs#shows\"]\ncode = [\"code.rs#\"]"),
                "code.rs defines no “”",
            ),
            (
                format!("{shown}\ntests = [\"code.rs#shows\"]\ncode = []"),
                "names no code that implements it",
            ),
            (
                format!("{shown}\ntests = [\"lost.rs#shows\"]"),
                "no file lost.rs",
            ),
            (
                format!("{shown}\ntests = [\"code.rs#item\"]"),
                "no test “item” that is run",
            ),
            (
                format!("{shown}\ntests = [\"code.rs\"]"),
                "no test “” that is run",
            ),
            (format!("{shown}\nclaims = [\"lost\"]"), "no claim lost"),
            (format!("{shown}\nclaims = [\"a\"]"), "name what a expects"),
            (
                format!("{shown}\nclaims = [\"a: lost\"]"),
                "a expects no “lost”",
            ),
            (
                format!("{shown}\ncode = [\"code.rs#item\"]"),
                "no claim or test shows it",
            ),
            (
                format!("{shown}\nclaims = [\"a: good\", \"a: bad\"]"),
                "these differ: [\"a: bad\"]",
            ),
            (
                format!("{shown}\nclaims = [\"a: good\"]\n{why}"),
                "needs no `why`",
            ),
            (
                format!("state = \"shown in part\"\n{why}"),
                "no claim or test shows it",
            ),
            (
                format!("state = \"shown in part\"\nclaims = [\"a: bad\"]\n{why}"),
                "all that is to show it differs",
            ),
            (
                "state = \"shown in part\"\nclaims = [\"a: good\"]".to_owned(),
                "`why` has to say",
            ),
            (
                format!("state = \"differs\"\nclaims = [\"a: good\"]\n{why}"),
                "none of its claims differs",
            ),
            (
                "state = \"differs\"\nclaims = [\"a: bad\"]".to_owned(),
                "`why` has to say",
            ),
            (
                "state = \"not shown\"\nwhy = \"\"".to_owned(),
                "`why` has to say",
            ),
            (
                format!("state = \"not shown\"\nclaims = [\"a: good\"]\n{why}"),
                "a claim or test is named",
            ),
        ] {
            let told = faults_with(&lines);
            assert!(told.contains(fault), "{lines}\n{told}");
            assert_eq!(told.lines().count(), 1, "{lines}\n{told}");
        }
    }

    #[test]
    fn none_goes_unnoticed() {
        let told = faults_of_table(2, OTHER);
        assert_eq!(told, ["p: it has 1 statements, and says 2"]);
    }

    #[test]
    fn ids_are_unique() {
        let told = faults_of(&format!("{OTHER}{OTHER}"));
        assert_eq!(told, ["other: another statement has the same id"]);
    }

    #[test]
    fn no_expectation_is_without_a_statement() {
        let told = faults_of(
            &OTHER
                .replace("\"a: good\", ", "")
                .replace("shown in part", "differs"),
        );
        assert_eq!(told, ["no statement names the claim “a: good”: add one"]);
    }
}
