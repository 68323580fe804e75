//! `fullpipe-proof claims`, on a small table in virtual time, and on the built-in table.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::support::{Running, on_a_terminal, refused};

const STUDY: &str = "name = \"line\"\nduration = \"2s\"\npath = { rate = \"5mbit\", rtt = \"20ms\", buffer = \"2bdp\" }\n\
                     [quick]\nduration = \"1s\"\n[[flow]]\ncontroller = \"bbr1\"\n";
const DOCUMENT: &str = "# Results\n<!-- claims: begin -->\nold\n<!-- claims: end -->\nBy hand.\n";

fn directory(at_least: &str) -> tempfile::TempDir {
    let directory = tempfile::tempdir().expect("a directory");
    let cases = directory.path().join("cases");
    let table = format!(
        "[[claim]]\nid = \"line\"\nsource = \"a paper\"\nsetting = \"a line\"\npublished = \"it is full\"\n\
         engines = [\"sim\"]\n[[claim.expect]]\nwhat = \"goodput\"\nmeasure = \"limit_share\"\n\
         at_least = \"{at_least}\"\n"
    );
    fs::create_dir(&cases).expect("made");
    fs::write(cases.join("claims.toml"), table).expect("written");
    fs::write(cases.join("line.toml"), STUDY).expect("written");
    fs::write(directory.path().join("results.md"), DOCUMENT).expect("written");
    directory
}

/// The exit code, stdout and stderr.
fn claims(directory: &Path, options: &[&str]) -> (Option<i32>, String, String) {
    let fixed = ["claims", "--scenarios", "cases"];
    let arguments = fixed.iter().chain(options).copied();
    let (status, stdout, stderr) = Running::start(directory, arguments).finish();
    (status.code(), stdout, stderr)
}

#[test]
fn a_record_that_cannot_be_written_fails_and_costs_no_judgement() {
    let directory = directory("80%");
    fs::create_dir(directory.path().join("out")).expect("made");
    fs::write(directory.path().join("out/records"), "in the way").expect("written");
    let (code, stdout, stderr) = claims(directory.path(), &["--out", "out"]);
    assert_eq!(code, Some(1), "{stderr}");
    assert!(stdout.contains("1 holds, 0 differ"), "{stdout}");
    assert!(stderr.contains("no record of line-sim-0: "), "{stderr}");
    assert!(stderr.contains("could not be written: 1"), "{stderr}");
}

#[test]
fn what_holds_is_shown_kept_and_written_down() {
    let directory = directory("80%");
    let at = |name: &str| directory.path().join(name);
    // The remains of a killed run, of this record and of one that is not written again. No process has such a high
    // number.
    for name in ["line-sim-0", "other-sim-3"] {
        let left = at("out/records").join(format!("{name}.{}.part", i32::MAX));
        fs::create_dir_all(&left).expect("made");
        fs::write(left.join("samples.parquet"), "half").expect("written");
    }
    let (code, stdout, stderr) = claims(
        directory.path(),
        &["--document", "results.md", "--out", "out"],
    );
    assert_eq!(code, Some(0), "{stderr}");
    assert!(stdout.contains("1 holds, 0 differ"), "{stdout}");
    let document = fs::read_to_string(at("results.md")).expect("there");
    assert!(document.starts_with("# Results\n") && document.ends_with("\nBy hand.\n"));
    assert!(
        document.contains("### line") && !document.contains("\nold\n"),
        "{document}"
    );
    assert!(at("out/records/line-sim-0/samples.parquet").exists());
    let records = fs::read_dir(at("out/records")).expect("there");
    assert_eq!(records.count(), 1, "nothing else is left");
    let kept: Value =
        serde_json::from_slice(&fs::read(at("out/claims.json")).expect("there")).expect("JSON");
    let (_, json, _) = claims(directory.path(), &["line", "--json", "--quiet"]);
    assert_eq!(
        serde_json::from_str::<Value>(&json).expect("JSON alone"),
        kept
    );
    let (code, quick, _) = claims(directory.path(), &["--quick", "--json"]);
    assert_eq!(code, Some(0));
    assert_ne!(quick, json);
}

#[test]
fn a_document_that_says_something_else_is_told() {
    let directory = directory("80%");
    let page = directory.path().join("results.md");
    let document = ["--document", "results.md"];
    let check = ["--document", "results.md", "--check"];
    let (code, _, stderr) = claims(directory.path(), &check);
    assert_eq!(code, Some(1), "{stderr}");
    assert!(stderr.contains("It has: old"), "{stderr}");
    let (code, _, stderr) = claims(directory.path(), &document);
    assert_eq!(code, Some(0), "{stderr}");
    let (code, stdout, stderr) = claims(directory.path(), &check);
    assert_eq!(code, Some(0), "{stderr}");
    assert!(stdout.contains("1 holds"), "{stdout}");
    let made = fs::read_to_string(&page).expect("there");
    let (origin, results) = made.split_once("\n\n**").expect("results");
    let elsewhere = origin.replace("Made with `", "Made with `elsewhere ");
    fs::write(&page, format!("{elsewhere}\n\n**{results}")).expect("written");
    let (code, _, stderr) = claims(directory.path(), &check);
    assert_eq!(code, Some(0), "{stderr}");
    for (from, to) in [
        ("Made with `", "It all holds. Made with `"),
        ("| goodput |", "| goodputs |"),
        ("\nStudy `line`", "\nStudy `other`"),
    ] {
        let changed = made.replacen(from, to, 1);
        fs::write(&page, &changed).expect("written");
        let (code, _, stderr) = claims(directory.path(), &check);
        assert_eq!(code, Some(1), "{stderr}");
        assert!(
            stderr.contains("results.md differs from the results"),
            "{stderr}"
        );
        assert_eq!(fs::read_to_string(&page).expect("there"), changed);
    }
    let (code, _, stderr) = claims(directory.path(), &["--check"]);
    assert_eq!(code, Some(2), "{stderr}");
}

#[test]
fn what_does_not_hold_is_told_by_the_exit_code() {
    let directory = directory("101%");
    let (code, stdout, stderr) = claims(directory.path(), &[]);
    assert_eq!(code, Some(1), "{stderr}");
    assert!(stdout.contains("FAILS"), "{stdout}");
    assert!(
        stderr.contains("expectations that do not hold: 1 of 1"),
        "{stderr}"
    );
}

#[test]
fn what_a_first_impression_leaves_out_is_told() {
    let directory = directory("80%");
    let table = directory.path().join("cases/claims.toml");
    let text = fs::read_to_string(&table).expect("there");
    let more = "[[claim.expect]]\nwhat = \"slow\"\nmeasure = \"goodput\"\nat_least = \"1bit\"\nquick = false\n";
    fs::write(&table, format!("{text}{more}")).expect("written");
    let (code, _, stderr) = claims(directory.path(), &["--quick"]);
    assert_eq!(code, Some(0), "{stderr}");
    assert!(
        stderr.contains("--quick leaves out 1 of 2 expectations"),
        "{stderr}"
    );
    let (code, _, stderr) = claims(directory.path(), &[]);
    assert!(
        code == Some(0) && !stderr.contains("leaves out"),
        "{stderr}"
    );
    fs::write(&table, format!("{text}quick = false\n")).expect("written");
    let (code, _, stderr) = claims(directory.path(), &["--quick"]);
    assert_eq!(code, Some(1), "{stderr}");
    assert!(stderr.contains("nothing was judged"), "{stderr}");
}

#[test]
fn what_makes_no_sense_is_answered() {
    let directory = directory("80%");
    let cases = ["claims", "--scenarios", "cases"];
    for (arguments, reason) in [
        (
            &["lien"][..],
            "no claim is called lien; --list shows those that there are; did you mean `line`?",
        ),
        (
            &["--engine", "quic"],
            "--engine quic: only sim can show these claims",
        ),
        (&[""], "no claim is called \"\"; --list shows"),
        (&["--list", "--json"], "cannot be used with"),
        (&["--document", "nothing.md"], "--document nothing.md: "),
    ] {
        let all: Vec<&str> = cases.iter().chain(arguments).copied().collect();
        let (_, stderr) = Running::start(directory.path(), all).finish_with(2);
        assert!(stderr.contains(reason), "{stderr}");
    }
    refused(["claims", "--engine", "sin"], 2, &["--engine"]);
}

#[test]
fn those_that_are_built_in_can_be_listed() {
    let directory = tempfile::tempdir().expect("a directory");
    let (stdout, _) = Running::start(directory.path(), ["claims", "--list"]).finish_with(0);
    assert!(stdout.lines().count() >= 25, "{stdout}");
    assert!(stdout.contains("loss-sweep"), "{stdout}");
    // Without a terminal, no line is too long.
    assert!(!stdout.contains('…'), "{stdout}");
    // On a terminal, lines break between words, and nothing is cut.
    let shown = on_a_terminal(directory.path(), &["claims", "--list"]);
    let widest = shown.lines().map(|line| line.chars().count()).max();
    assert!(widest <= Some(80), "{shown}");
    let words = |text: &str| {
        let mut words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        words.sort();
        words
    };
    assert_eq!(words(&shown), words(&stdout));
    // The list has only claims that the engine can show, and their durations.
    let listing = ["claims", "--list", "--engine", "linux"];
    let (stdout, stderr) = Running::start(directory.path(), listing).finish_with(0);
    assert!(stdout.contains("coexistence") && !stdout.contains("scheduler"));
    assert!(
        stdout
            .lines()
            .skip(1)
            .all(|line| line.contains("linux") && line.contains(" s "))
    );
    assert!(stderr.contains("minutes in real time"), "{stderr}");
}
