//! `fullpipe rates`: recorded rates from one form to the other.

use std::fs;

use crate::support::{fullpipe, refused};

/// A second of 12 Mbit/s, an outage of two, and a second of 24 Mbit/s.
const TABLE: &str = "Time (s),note,DL_bitrate\n10,a,12000\n11,b,0\n13,c,24000\n14,d,24000\n15,e,\n";

/// The command's stdout and stderr for this stdin.
fn told(arguments: &[&str], stdin: &str) -> (String, String) {
    let mut command = fullpipe([&["rates", "-"], arguments].concat());
    let output = command.write_stdin(stdin).output().expect("runs");
    let [stdout, stderr] =
        [output.stdout, output.stderr].map(|text| String::from_utf8(text).expect("text"));
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    (stdout, stderr)
}

#[test]
fn a_table_becomes_opportunities_and_these_a_table() {
    let (table, about) = told(&[], TABLE);
    assert_eq!(table, "time_s,bps\n0,12000000\n1,0\n3,24000000\n");
    assert_eq!(
        about,
        "the table names no unit of its rates, which are taken as kbit/s\n5.00 s at 12.0 Mbit/s on average, 1 outage of 2.00 s \
         together, the longest 2.00 s\n"
    );
    assert_eq!(told(&["--out", "-"], TABLE).0, table);
    let (stamps, _) = told(&["--to", "mahimahi"], TABLE);
    let stamps: Vec<u64> = stamps
        .lines()
        .map(|line| line.parse().expect("a stamp"))
        .collect();
    assert_eq!(stamps.len(), 5_000);
    assert_eq!(
        (stamps[0], stamps[999], stamps[1_000], stamps[4_999]),
        (1, 1_000, 3_001, 5_000)
    );
    let text: String = stamps.iter().map(|stamp| format!("{stamp}\n")).collect();
    let (means, about) = told(&["--step", "1s"], &text);
    assert_eq!(means, table);
    assert!(
        about.ends_with("on average, 1 outage of 2.00 s together, the longest 2.00 s\n"),
        "{about}"
    );
}

#[test]
fn a_file_is_written_whole_or_not_at_all() {
    let directory = tempfile::tempdir().expect("a directory");
    let at = |name: &str| directory.path().join(name).display().to_string();
    let (table, out) = (at("table.csv"), at("cell.trace"));
    fs::write(&table, TABLE).expect("written");
    let output = fullpipe(["rates", &table, "--to", "mahimahi", "--out", &out])
        .output()
        .expect("runs");
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(output.stdout, b"");
    let written = fs::read_to_string(&out).expect("written");
    assert_eq!(written.lines().count(), 5_000);
    // A scenario accepts it like the table.
    for trace in [&out, &table] {
        let toml = format!(
            "name = \"x\"\nduration = \"2s\"\npath = {{ trace = \"{trace}\", rtt = \"9ms\" }}\n[[flow]]\ncontroller = \"bbr1\"\n"
        );
        fs::write(at("x.toml"), toml).expect("written");
        fullpipe(["run", &at("x.toml"), "--quiet"])
            .assert()
            .success();
    }
    fs::write(&table, "0,1\n1,x\n").expect("written");
    refused(["rates", &table, "--out", &out], 2, &["line 2: not a rate"]);
    assert_eq!(fs::read_to_string(&out).expect("kept"), written);
    refused(
        ["rates", &table, "--out", &at("no/where")],
        2,
        &["--out", "there is no directory"],
    );
    refused(["rates", &at("nothing")], 2, &["nothing: No such file"]);
    fs::write(&table, b"\x0a\x0d\x0d\x0a\xff").expect("written");
    refused(["rates", &table], 2, &["is a capture; use"]);
}

#[test]
fn what_makes_no_sense_is_refused_with_the_fix() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("two.csv").display().to_string();
    fs::write(&file, "t,a (mbps),b (mbps)\n0,1,2\n9,3,4\n").expect("written");
    refused(
        ["rates", &file],
        2,
        &["line 1: a (mbps) and b (mbps) are alike; give --column NAME"],
    );
    refused(
        ["rates", &file, "--column", "c"],
        2,
        &["line 1: no column has this name; there are t, a (mbps) and b (mbps)"],
    );
    refused(
        ["rates", &file, "--column", "t"],
        2,
        &["line 1: this column has the times"],
    );
    let output = fullpipe(["rates", &file, "--column", "b (mbps)"])
        .output()
        .expect("runs");
    assert_eq!(output.stdout, b"time_s,bps\n0,2000000\n9,4000000\n");
    refused(
        [
            "rates", &file, "--column", "a (mbps)", "--to", "mahimahi", "--step", "1s",
        ],
        2,
        &["--step"],
    );
    refused(
        ["rates", &file, "--step", "1us"],
        2,
        &["less than a millisecond"],
    );
    fs::write(&file, "0,1000\n86400,1000\n").expect("written");
    refused(
        ["rates", &file, "--to", "mahimahi"],
        2,
        &["more than 16777216", "a shorter trace"],
    );
    refused(
        ["rates", &file, "--step", "1ms"],
        2,
        &["more than 4194304", "a longer --step"],
    );
}
