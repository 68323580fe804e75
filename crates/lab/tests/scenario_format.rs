//! The documented format is the one that is read: keys, examples, and the included scenarios.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use lab::{Engine, Sim};
use scenario::Scenario;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn documentation() -> String {
    fs::read_to_string(root().join("docs/scenario.md")).unwrap()
}

#[test]
fn the_first_example_is_a_scenario_that_comes_along() {
    let documentation = documentation();
    let first = documentation.split("```toml\n").nth(1).unwrap();
    let (first, _) = first.split_once("```\n").unwrap();
    let file = fs::read_to_string(root().join("scenarios/bufferbloat.toml")).unwrap();
    assert_eq!(first, file);
}

/// The section of the documentation about a table.
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

/// The headings of the documentation's tables, each with a scenario that has an unknown key in that table.
const TABLES: [(&str, &str); 26] = [
    ("", "KEY"),
    ("[path]", "path = { KEY }"),
    ("[path.uplink]", "path.uplink = { KEY }"),
    ("[[path.change]]", "path.change = [{ KEY }]"),
    ("loss: gilbert", "path.loss = { kind = 'gilbert', KEY }"),
    ("jitter", "path.jitter = { KEY }"),
    ("reorder", "path.reorder = { KEY }"),
    ("policer", "path.policer = { KEY }"),
    ("demand", "path.demand = { KEY }"),
    ("aggregation", "path.aggregation = { KEY }"),
    ("queue: codel", "path.queue = { kind = 'codel', KEY }"),
    ("queue: fq_codel", "path.queue = { kind = 'fq_codel', KEY }"),
    ("queue: red", "path.queue = { kind = 'red', KEY }"),
    (
        "queue: threshold",
        "path.queue = { kind = 'threshold', KEY }",
    ),
    ("queue: dualpi2", "path.queue = { kind = 'dualpi2', KEY }"),
    ("[host]", "host = { KEY }"),
    ("[[host.change]]", "host.change = [{ KEY }]"),
    ("[[flow]]", "flow = [{ KEY }]"),
    ("bbr1", "flow = [{ bbr1 = { KEY } }]"),
    ("cubic", "flow = [{ cubic = { KEY } }]"),
    (
        "app: requests",
        "flow = [{ app = { kind = 'requests', KEY } }]",
    ),
    (
        "app: poisson",
        "flow = [{ app = { kind = 'poisson', KEY } }]",
    ),
    ("app: rate", "flow = [{ app = { kind = 'rate', KEY } }]"),
    ("app: video", "flow = [{ app = { kind = 'video', KEY } }]"),
    (
        "sizes: lognormal",
        "flow = [{ app = { kind = 'poisson', sizes = { kind = 'lognormal', KEY } } }]",
    ),
    (
        "sizes: pareto",
        "flow = [{ app = { kind = 'poisson', sizes = { kind = 'pareto', KEY } } }]",
    ),
];

/// The keys of a table: the error about an unknown one lists them.
fn keys(text: &str) -> BTreeSet<String> {
    let error = text
        .replace("KEY", "zzzzzzzzzzzz = 1")
        .parse::<Scenario>()
        .unwrap_err();
    let reason = error.reason.to_string();
    let (_, known) = reason
        .split_once("known: ")
        .unwrap_or_else(|| panic!("{error} in {text}"));
    known.split(", ").map(str::to_string).collect()
}

#[test]
fn what_is_documented_is_what_is_read() {
    let documentation = documentation();
    for (table, text) in TABLES {
        let lines = section(&documentation, table).lines();
        let rows = lines.filter_map(|line| line.strip_prefix("| `")?.split('`').next());
        let mut documented: BTreeSet<String> = rows.map(str::to_string).collect();
        if table == "[path]" {
            documented.insert("next".to_string());
        }
        assert_eq!(documented, keys(text), "{table}");
    }
}

/// A link with a name has the keys of a path and its own.
#[test]
fn links_with_names_have_the_keys_of_paths() {
    let path = keys("path = { KEY }");
    let mut expected: BTreeSet<String> = path.into_iter().filter(|key| key != "next").collect();
    expected.extend(["name", "from", "to"].map(str::to_string));
    assert_eq!(keys("link = [{ KEY }]"), expected);
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
        let top = example.split("\n[").next().unwrap_or_default();
        if !top.contains("name =") {
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
        // Scenarios are drawn from a population and a CDN, which are no scenarios themselves.
        let others = [
            "population.toml",
            "cdn.toml",
            "cdn-linux.toml",
            "cdn-shared.toml",
        ];
        let is_other = others.iter().any(|name| file.ends_with(name));
        if file.extension().is_none_or(|extension| extension != "toml") || is_other {
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
    assert!(count >= 10);
}
