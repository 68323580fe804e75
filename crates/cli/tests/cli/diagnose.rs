//! `fullpipe diagnose`, on the captures that `fullpipe run` writes.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::support::{fullpipe, refused};

/// A short transfer beside a long one.
const SCENARIO: &str = "name = \"two\"\nduration = \"12s\"\n\n[path]\nrate = \"10mbit\"\nrtt = \"20ms\"\n\
                        buffer = \"2bdp\"\nloss = \"1%\"\n\n[[flow]]\ncontroller = \"cubic\"\n\n[[flow]]\n\
                        controller = \"cubic\"\nstart = \"9s\"\nbytes = \"4kb\"\n";

/// A directory with captures of both ends.
fn captured() -> tempfile::TempDir {
    let directory = tempfile::tempdir().expect("a directory");
    fs::write(directory.path().join("two.toml"), SCENARIO).expect("written");
    told(
        directory.path(),
        &["run", "two.toml", "--pcap", "captures", "--quiet"],
    );
    directory
}

/// The command's stdout and stderr in this directory.
fn told(directory: &Path, arguments: &[&str]) -> (String, String) {
    let mut command = fullpipe(arguments.iter().copied());
    let output = command.current_dir(directory).output().expect("runs");
    let [stdout, stderr] =
        [output.stdout, output.stderr].map(|text| String::from_utf8(text).expect("text"));
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    (stdout, stderr)
}

#[test]
fn a_capture_is_enough_for_advice() {
    let directory = captured();
    let capture = "captures/sender.pcapng";
    let arguments = ["diagnose", capture, "--report", "page.html"];
    let (text, notes) = told(directory.path(), &arguments);
    for part in [
        "connection: ",
        "captured at the sender\n",
        "your path: RTprop 2",
        "your limit: ",
        "what you would gain: with bbr",
        "times the goodput of cubic, which the connection probably has",
        "whom it would harm: ",
        "\nsure: ",
        " over ",
        "CUBIC keeps",
        "requests p95: ",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(
        notes.contains("not used: 1 direction with less payload"),
        "{notes}"
    );
    let page = fs::read_to_string(directory.path().join("page.html")).expect("a page");
    for part in [
        "<dt>Your path</dt>",
        "<dt>Whom it would harm</dt>",
        "<svg",
        "advise --from path.toml",
    ] {
        assert!(page.contains(part), "{part}");
    }
    assert_eq!(page.matches("<table").count(), 2);
    // The advice is the same as that of the two commands.
    let ranges = ["trace", capture, "--ranges", "path.toml", "--quiet"];
    told(directory.path(), &ranges);
    let (advice, _) = told(
        directory.path(),
        &["advise", "--from", "path.toml", "--quiet"],
    );
    let (_, tables) = advice.split_once("\n\n").expect("tables");
    assert!(text.ends_with(tables), "{advice}\n{text}");
}

#[test]
fn what_a_capture_cannot_say_is_told_with_what_to_capture() {
    let directory = captured();
    let capture = directory.path().join("captures/sender.pcapng");
    let capture = capture.to_str().expect("a name");
    refused(
        [
            "diagnose",
            capture,
            "--quiet",
            "--connection",
            "192.0.2.1:9",
        ],
        2,
        &[
            "--connection 192.0.2.1:9: no connection with data has this end; there are ",
            " to 10.",
            " MB)",
        ],
    );
    let ranges = directory.path().join("path.toml");
    let ranges = ranges.to_str().expect("a name");
    let output = fullpipe(["trace", capture, "--quiet", "--ranges", ranges])
        .args(["--connection", "192.0.2.1:9"])
        .output()
        .expect("runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(
        said.contains("no connection with data has this end; there are "),
        "{said}"
    );
    assert!(!directory.path().join("path.toml").exists());
    let (text, _) = told(directory.path(), &["trace", capture, "--json", "--quiet"]);
    let summary: Value = serde_json::from_str(&text).expect("JSON");
    let short = summary["connections"][1]["client"]
        .as_str()
        .expect("an end");
    refused(
        ["diagnose", capture, "--quiet", "--connection", short],
        1,
        &[
            "no more payload than an initial window",
            "at the sender",
            "for 10 s or more: tcpdump -s 128 -w again.pcap host ",
        ],
    );
    // Other commands recognise a capture, compressed or not.
    let bytes = fs::read(capture).expect("there");
    let packed = directory.path().join("packed.gz");
    fs::write(&packed, [&[0x1f, 0x8b, 8, 0], &bytes[..]].concat()).expect("written");
    let packed = packed.to_str().expect("a name");
    for file in [capture, packed] {
        for command in [&["run"][..], &["sweep"], &["advise", "--from"]] {
            let all = command.iter().copied().chain([file]);
            refused(
                all,
                2,
                &["capture", "`fullpipe diagnose`", "`fullpipe trace`"],
            );
        }
    }
    refused(["diagnose"], 2, &["<CAPTURE>"]);
    refused(["diagnose", "/no/such"], 2, &["/no/such"]);
    refused(["diagnose", capture, "--report", "/"], 2, &["--report"]);
}
