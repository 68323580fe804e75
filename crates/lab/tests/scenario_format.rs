//! The documented format is the one that is read: keys, examples, and the scenarios that come along.

use std::fs;
use std::path::{Path, PathBuf};

use lab::{Engine, Sim};
use scenario::{Scenario, TABLES};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn documentation() -> String {
    fs::read_to_string(root().join("docs/scenario.md")).unwrap()
}

/// The part of the documentation that is about a table.
fn section<'d>(documentation: &'d str, table: &str) -> &'d str {
    let heading = match table {
        "" => "## The top".to_string(),
        table => format!("# `{table}`"),
    };
    let start = documentation.find(&format!("{heading}\n"));
    let section = &documentation[start.unwrap_or_else(|| panic!("no heading {heading}"))..];
    let end = section[heading.len()..]
        .find("\n#")
        .map(|end| end + heading.len());
    &section[..end.unwrap_or(section.len())]
}

#[test]
fn every_key_is_documented() {
    let documentation = documentation();
    for (table, keys) in TABLES {
        let section = section(&documentation, table);
        let rows = || {
            section
                .lines()
                .filter_map(|line| line.strip_prefix("| `")?.split('`').next())
        };
        for key in keys {
            assert!(
                rows().any(|row| row == *key),
                "{table}: {key} is not documented"
            );
        }
        let next = ["next"];
        let known = |row: &str| keys.contains(&row) || (table == "[path]" && next.contains(&row));
        let unknown: Vec<_> = rows().filter(|row| !known(row)).collect();
        assert!(
            unknown.is_empty(),
            "{table}: {unknown:?} are documented and not there"
        );
    }
}

#[test]
fn every_example_is_a_scenario() {
    let documentation = documentation();
    let examples = documentation.split("```toml\n").skip(1);
    let examples: Vec<_> = examples
        .filter_map(|rest| rest.split("```").next())
        .collect();
    assert!(examples.len() >= 10);
    for example in examples {
        let mut text = example.to_string();
        if !text.contains("name =") {
            text.insert_str(0, "name = \"example\"\nduration = \"60s\"\n");
        }
        if !text.contains("[[flow]]") {
            text.push_str("[[flow]]\ncontroller = \"bbr1\"\n");
        }
        let scenario: Scenario = text
            .parse()
            .unwrap_or_else(|error| panic!("{error} in\n{text}"));
        Sim::new()
            .check(&scenario)
            .unwrap_or_else(|error| panic!("{error} in\n{text}"));
    }
}

#[test]
fn every_scenario_that_comes_along_can_be_run() {
    let files = fs::read_dir(root().join("scenarios")).unwrap();
    let mut count = 0;
    for file in files {
        let file = file.unwrap().path();
        // A population is what scenarios are drawn from.
        let is_population = file
            .file_name()
            .is_some_and(|name| name == "population.toml");
        if file.extension().is_none_or(|extension| extension != "toml") || is_population {
            continue;
        }
        let scenario =
            Scenario::load(&file).unwrap_or_else(|error| panic!("{error} in {}", file.display()));
        Sim::new().check(&scenario).unwrap();
        assert_eq!(
            Some(scenario.name.as_str()),
            file.file_stem().and_then(|stem| stem.to_str())
        );
        assert_eq!(scenario.to_string().parse(), Ok(scenario));
        count += 1;
    }
    assert!(count >= 6);
}
