//! `fullpipe-proof population`.

use std::fs;

use crate::support::{Running, refused};

const POPULATION: &str = r#"name = "few"
[scenario]
duration = "2s"
[[scenario.flow]]
controller = "bbr1"
[[access]]
region = "Here"
name = "line"
share = "50%"
path = { rate = "5mbit", rtt = "20ms", buffer = "100kb" }
[[version]]
name = "no swing, jitter and aggregation"
[[version.change]]
path = { buffer = "10kb" }
"#;

#[test]
fn versions_are_compared_and_written_down() {
    let directory = tempfile::tempdir().expect("a directory");
    let at = |name: &str| directory.path().join(name);
    fs::write(at("population.toml"), POPULATION).expect("written");
    let marks = "# R\n<!-- population: begin -->\nold\n<!-- population: end -->\nBy hand.\n";
    fs::write(at("r.md"), marks).expect("written");
    let fixed = [
        "population",
        "--scenarios",
        ".",
        "--members",
        "2",
        "--document",
        "r.md",
    ];
    let (stdout, _) = Running::start(directory.path(), fixed).finish_with(0);
    for told in [
        "BBR of Linux 4.19",
        "the current BBR",
        "as assumed",
        "no swing, jitter and aggregation",
        "Here",
        "all users",
    ] {
        assert!(stdout.contains(told), "{told}: {stdout}");
    }
    let longest = stdout.lines().map(|line| line.chars().count()).max();
    assert!(longest.is_some_and(|longest| longest <= 80), "{stdout}");
    let written = fs::read_to_string(at("r.md")).expect("there");
    assert!(
        written.contains("| version | Here | all users |"),
        "{written}"
    );
    assert!(
        written.contains("| no swing, jitter and aggregation | ")
            && written.ends_with("By hand.\n"),
        "{written}"
    );
    assert!(!written.contains("old"), "{written}");
    let again = fixed.into_iter().chain(["--check"]);
    Running::start(directory.path(), again).finish_with(0);
    refused(["population", "--members", "0"], 2, &["--members", "1"]);
}
