//! `fullpipe trace`, on the captures that `fullpipe run` writes.

use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::path::Path;
use std::process::Command;

use rustix::process::Signal;
use serde_json::Value;

use crate::support::{Running, fullpipe, refused};

const SCENARIO: &str = "name = \"two\"\nduration = \"8s\"\n\n[path]\nrate = \"10mbit\"\nrtt = \"20ms\"\n\
                        buffer = \"2bdp\"\n\n[[flow]]\ncontroller = \"bbr1\"\n\n[[flow]]\n\
                        controller = \"cubic\"\nstart = \"5s\"\n";

/// Runs the command with these arguments in a directory. Returns its stdout.
fn told<'a>(directory: &Path, arguments: impl IntoIterator<Item = &'a str>) -> String {
    let mut command = fullpipe(arguments);
    let output = command.current_dir(directory).output().expect("runs");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    String::from_utf8(output.stdout).expect("text")
}

/// The names of all fields of a summary of TCP; names of parts follow a dot.
fn fields(summary: &Value) -> BTreeSet<String> {
    fn add(value: &Value, before: &str, to: &mut BTreeSet<String>) {
        // These objects have arbitrary keys.
        const OPEN: [&str; 4] = ["read.opaque", "read.others", "read.unknown_links", "path"];
        for (name, value) in value.as_object().expect("an object") {
            let name = format!("{before}{name}");
            if value.is_object() && !OPEN.contains(&&*name) {
                add(value, &format!("{name}."), to);
            } else {
                to.insert(name);
            }
        }
    }
    let mut all = BTreeSet::new();
    let connection = &summary["connections"][0];
    for part in [summary, connection, &connection["flows"][0]] {
        add(part, "", &mut all);
    }
    all.remove("flows");
    all
}

/// The names that `docs/trace.md` has for `--json`.
fn documented() -> BTreeSet<String> {
    let page = include_str!("../../../../docs/trace.md");
    // The names in a column of the table whose header has this beginning.
    let names = |header: &str, column: usize| -> BTreeSet<String> {
        let (_, table) = page.split_once(header).expect("a table");
        let rows = table
            .lines()
            .skip(2)
            .take_while(|line| line.starts_with('|'));
        let cells = rows.map(|row| row.split('|').nth(column).expect("a cell"));
        let names = cells.flat_map(|cell| cell.split(", "));
        let names = names.filter_map(|name| name.trim().strip_prefix('`')?.strip_suffix('`'));
        names.map(str::to_owned).collect()
    };
    let other = "| `--json` | `connections.parquet` |";
    let columns = names("<!-- columns: connections -->\n|", 1);
    let equal = &columns - &names(other, 2);
    &(&names("| `--json` | content |", 1) | &names(other, 1)) | &equal
}

#[test]
fn a_simulation_is_captured_and_traced() {
    let directory = tempfile::tempdir().expect("a directory");
    let at = directory.path();
    fs::write(at.join("two.toml"), SCENARIO).expect("written");
    told(at, ["run", "two.toml", "--pcap", "captures", "--quiet"]);
    let names = fs::read_dir(at.join("captures")).expect("captures");
    assert_eq!(names.count(), 2, "nothing else is left");
    for end in ["sender", "receiver"] {
        let file = format!("captures/{end}.pcapng");
        let table = told(at, ["trace", &file]);
        assert_eq!(table.lines().count(), 3, "{table}");
        assert!(
            table.contains("10.1.0.2:32769") && table.contains(end),
            "{table}"
        );
        let json = told(at, ["trace", &file, "--json", "--top", "1"]);
        let summary: Value = serde_json::from_str(&json).expect("JSON alone");
        let connections = summary["connections"].as_array().expect("connections");
        assert_eq!(connections.len(), 2);
        assert_eq!(fields(&summary), documented());
        let rtprop = connections[0]["flows"][0]["rtprop_ms"].as_f64();
        assert!(
            rtprop.is_some_and(|rtprop| (20.0..23.0).contains(&rtprop)),
            "{json}"
        );
    }
    // Captures of both ends: each packet counts once.
    let both = [
        "trace",
        "captures/receiver.pcapng",
        "captures/sender.pcapng",
    ];
    let table = told(at, both);
    assert_eq!(table.lines().count(), 4, "{table}");
    assert!(table.contains("2 directions captured twice"), "{table}");
    let file = "captures/sender.pcapng";
    let wanted = ["--out", "out", "--scenario", "path.toml"];
    let wanted = wanted
        .into_iter()
        .chain(["--ranges", "ranges.toml", "--quiet"]);
    told(at, ["trace", file].into_iter().chain(wanted));
    for name in report::trace::FILES {
        assert!(at.join("out").join(name).is_file(), "{name}");
    }
    let page = fs::read_to_string(at.join("out/report.html")).expect("a page");
    let pictures = page.matches("<svg class=\"wide\"").count();
    assert_eq!(pictures, 2, "a picture for each");
    // The same for the other connection.
    let path = ["--ranges", "other.toml", "--connection", "10.1.0.1:32768"];
    let output = fullpipe(["trace", file].into_iter().chain(path));
    let output = { output }.current_dir(at).output().expect("runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        said.contains("path: 10.1.0.1:32768 to 10.2.0.1:5001 ("),
        "{said}"
    );
    let other = fs::read_to_string(at.join("other.toml")).expect("ranges");
    assert!(other.starts_with("# From 10.1.0.1:32768 to "), "{other}");
    // The measured path is simulated.
    let again = told(at, ["run", "path.toml", "--json", "--quiet"]);
    let again: Value = serde_json::from_str(&again).expect("JSON");
    let rate = again["path"]["rate_bps"].as_f64().expect("a rate");
    assert!((9.7e6..10.3e6).contains(&rate), "{rate}");
    for from in ["ranges.toml", "out", "out/summary.json"] {
        let options = ["--paths", "2", "--duration", "2s", "--json"];
        let all = ["advise", "--from", from].into_iter().chain(options);
        let advice: Value = serde_json::from_str(&told(at, all)).expect("JSON");
        let ranges = advice["ranges"].as_array().expect("ranges");
        let is_rate = |range: &Value| range["field"] == "path.rate";
        assert!(ranges.iter().any(is_rate), "{from}");
    }
}

/// The content of the next fenced block in this language.
fn fenced<'d>(document: &'d str, language: &str) -> &'d str {
    let (_, after) = document
        .split_once(&format!("```{language}\n"))
        .expect("a fence");
    after.split_once("```").expect("its end").0
}

#[test]
fn the_first_example_of_the_document_is_what_its_commands_print() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let document = fs::read_to_string(root.join("docs/trace.md")).expect("the document");
    let directory = tempfile::tempdir().expect("a directory");
    let scenario = root.join("scenarios/shared.toml");
    let scenario = scenario.to_str().expect("a name");
    let mut printed = String::new();
    for command in fenced(&document, "console").lines() {
        let words = command.strip_prefix("$ fullpipe ").expect("a command");
        let words = words.split(' ').map(|word| match word {
            "scenarios/shared.toml" => scenario,
            other => other,
        });
        printed = told(directory.path(), words);
    }
    assert_eq!(printed.trim_end(), fenced(&document, "text").trim_end());
}

/// A silent pipe that stays open.
#[test]
fn a_pipe_that_says_nothing_can_be_ended() {
    let directory = tempfile::tempdir().expect("a directory");
    let pipe = directory.path().join("pipe");
    let made = Command::new("mkfifo").arg(&pipe).status().expect("runs");
    assert!(made.success());
    let trace = Running::start(directory.path(), ["trace", "pipe"]);
    // This waits until it is read.
    let writer = OpenOptions::new().write(true).open(&pipe);
    let writer = writer.expect("a pipe");
    trace.signal(Signal::INT);
    trace.finish_with(130);
    drop(writer);
}

#[test]
fn what_is_no_capture_is_answered() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("two.toml");
    fs::write(&file, SCENARIO).expect("written");
    let file = file.to_str().expect("a name");
    refused(
        ["trace", file],
        2,
        &["two.toml: is a scenario; use `fullpipe run`"],
    );
    let csv = directory.path().join("a.csv");
    fs::write(&csv, "time_s,rate_mbps\n0,10\n1,20\n").expect("written");
    for command in ["trace", "diagnose"] {
        refused(
            [command, csv.to_str().expect("a name")],
            2,
            &["a.csv: is not a capture; give pcap, pcapng or qlog"],
        );
    }
    refused(["trace", "/nowhere"], 2, &["/nowhere: cannot be read"]);
    refused(
        ["trace", "/"],
        2,
        &["/: ", "is a directory; give the files"],
    );
    refused(["trace"], 2, &["<FILE>"]);
    refused(["trace", file, "--top", "0"], 2, &["--top"]);
    refused(["trace", file, "--out", file], 2, &["--out"]);
    refused(
        ["trace", file, "--scenario", "/"],
        2,
        &["--scenario", "directory"],
    );
    for (arguments, parts) in [
        (&["--scenario", "-"][..], &["--scenario -", "stdout"][..]),
        (
            &["--scenario", "/tmp/a.toml", "--ranges", "/tmp/./a.toml"],
            &["--ranges", "--scenario", "give another name"],
        ),
        (&["--connection", "192.0.2.1:80"], &["--scenario"]),
        (
            &["--ranges", "/tmp/a.toml", "--connection", "web"],
            &["--connection", "192.0.2.7:50000"],
        ),
    ] {
        let all = ["trace", file].into_iter().chain(arguments.iter().copied());
        refused(all, 2, parts);
    }
    refused(
        ["run", file, "--out", "record", "--qlog", "all"],
        2,
        &["--qlog", "the number of a flow such as 0"],
    );
    let pcap = directory.path().join("captures");
    let pcap = pcap.to_str().expect("a name");
    refused(
        ["run", file, "--pcap", pcap, "--engine", "quic"],
        2,
        &["--pcap", "--engine sim"],
    );
}

#[test]
fn a_capture_at_a_link_is_traced_from_there() {
    let directory = tempfile::tempdir().expect("a directory");
    let at = directory.path();
    let network = "name = \"two\"\nduration = \"2s\"\n\
                   [[link]]\nname = \"dsl\"\nfrom = \"a\"\nto = \"b\"\nrate = \"20mbit\"\nrtt = \"30ms\"\n\
                   [[link]]\nname = \"core\"\nfrom = \"b\"\nto = \"c\"\nrate = \"10mbit\"\nrtt = \"10ms\"\n\
                   [[flow]]\ncontroller = \"bbr1\"\nfrom = \"a\"\nto = \"c\"\n";
    let file = at.join("net.toml");
    fs::write(&file, network).expect("written");
    let places = "core,dsl.uplink,core";
    let run = ["run", "net.toml", "--pcap", "captures", "--quiet"];
    told(at, run.into_iter().chain(["--pcap-at", places]));
    let names = fs::read_dir(at.join("captures")).expect("captures");
    assert_eq!(names.count(), 4, "two ends, and two places");
    for place in ["core", "dsl.uplink"] {
        let capture = format!("captures/link-{place}.pcapng");
        let json = told(at, ["trace", &capture, "--json"]);
        let summary: Value = serde_json::from_str(&json).expect("JSON alone");
        let flow = &summary["connections"][0]["flows"][0];
        let to_sender = flow["to_sender_ms"].as_f64();
        assert!(
            to_sender.is_some_and(|time| (30.0..32.0).contains(&time)),
            "{place}: {flow}"
        );
    }
    let file = file.to_str().expect("a name");
    let directory = at.join("none");
    let directory = directory.to_str().expect("a name");
    for (engine, place, parts) in [
        ("sim", "dls", ["--pcap-at dls", "did you mean `dsl`"]),
        ("sim", "nowhere", ["--pcap-at nowhere", "known: dsl, core"]),
        ("sim", "", ["--pcap-at: a name is empty", "a link"]),
        ("sim", "dsl,", ["--pcap-at: a name is empty", "a link"]),
        ("linux", "dsl", ["--pcap-at", "--engine sim"]),
    ] {
        let capture = ["--pcap", directory, "--pcap-at", place];
        let run = ["run", file, "--engine", engine];
        refused(run.into_iter().chain(capture), 2, &parts);
    }
    assert!(!at.join("none").exists());
}
