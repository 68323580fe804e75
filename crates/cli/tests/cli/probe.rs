//! `fullpipe probe`, on small paths and over the loopback interface.

use std::fs;
use std::path::Path;

use rustix::process::Signal;
use serde_json::Value;

use crate::support::{Running, fullpipe, refused};

const PATHS: &str = "name = \"small\"\nbytes = \"200kb\"\ninterval = \"1s\"\nrounds = 2\n\
                     [path]\nrate = \"20mbit\"\nrtt = \"20ms\"\nbuffer = \"0.5bdp\"\n\
                     [axes]\n\"path.loss\" = [\"0%\", \"1%\"]\n";

/// The command's result with these options, in a directory with `text` as small.toml.
fn probe(directory: &Path, text: &str, options: &[&str]) -> Value {
    ended(directory, text, options, 0)
}

/// The same for a command that ends with this exit code.
fn ended(directory: &Path, text: &str, options: &[&str], code: i32) -> Value {
    fs::write(directory.join("small.toml"), text).expect("written");
    let arguments = ["probe", "small.toml", "--json"].iter().chain(options);
    let (status, stdout, stderr) = Running::start(directory, arguments.copied()).finish();
    assert_eq!(status.code(), Some(code), "{stderr}");
    serde_json::from_str(&stdout).expect("JSON alone")
}

fn files(directory: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir(directory).expect("a directory");
    let mut files: Vec<(String, Vec<u8>)> = entries
        .map(|entry| {
            let entry = entry.expect("an entry");
            let name = entry.file_name().into_string().expect("a name");
            (name, fs::read(entry.path()).expect("read"))
        })
        .collect();
    files.sort();
    files
}

#[test]
fn rounds_of_paths_are_appended_and_the_same_everywhere() {
    let [one, other] = [0; 2].map(|_| tempfile::tempdir().expect("a directory"));
    let result = probe(one.path(), PATHS, &["--jobs", "2"]);
    assert_eq!(probe(other.path(), PATHS, &["--jobs", "1"]), result);
    assert_eq!(result["destinations"][1]["name"], "path.loss=1%");
    assert_eq!(
        result["destinations"][1]["probes"],
        serde_json::json!([2, 2])
    );
    assert_eq!(result["cdf"].as_array().map(Vec::len), Some(2));
    let first = files(&one.path().join("small"));
    assert!(files(&other.path().join("small")) == first, "to the bit");
    probe(one.path(), PATHS, &["--duration", "500ms"]);
    let all = files(&one.path().join("small"));
    let names: Vec<&str> = all.iter().map(|(name, _)| name.as_str()).collect();
    let expected = [0, 1, 2].map(|round| format!("round-{round:06}.parquet"));
    assert_eq!(names, expected);
    assert!(all[..2] == first[..], "what was there has not changed");
}

#[test]
fn the_table_has_destinations_and_the_distribution() {
    let directory = tempfile::tempdir().expect("a directory");
    fs::write(directory.path().join("small.toml"), PATHS).expect("written");
    let arguments = ["probe", "small.toml", "--out", "rows"];
    let (stdout, stderr) = Running::start(directory.path(), arguments).finish_with(0);
    for part in [
        "bbr1 / cubic",
        "path.loss=1%",
        "Mbit/s",
        "by percentile of the destinations: p5 ",
        "p50 ",
    ] {
        assert!(stdout.contains(part), "no {part} in {stdout}");
    }
    assert!(stderr.contains("every probe: rows/*.parquet"), "{stderr}");
}

/// Probes a receiver with these options twice, and ends it.
fn over_loopback(options: &[&str], over: &str) {
    let directory = tempfile::tempdir().expect("a directory");
    let serve = ["probe", "--serve", "--listen", "127.0.0.1:0"];
    let mut receiver = Running::start(
        directory.path(),
        serve.into_iter().chain(options.iter().copied()),
    );
    let mut destination = String::new();
    let lines = if over == "tcp" { 3 } else { 4 } + usize::from(options.contains(&"--token"));
    for _ in 0..lines {
        destination += &(receiver.stdout_line() + "\n");
    }
    // Controllers that any kernel has.
    let text = format!(
        "name = \"loopback\"\ncontrollers = [\"cubic\", \"reno\"]\nbytes = \"100kb\"\ninterval = \"50ms\"\n{destination}"
    );
    let result = probe(directory.path(), &text, &["--rounds", "2"]);
    assert_eq!(
        result["destinations"][0]["probes"],
        serde_json::json!([2, 2]),
        "{result}"
    );
    assert_eq!(files(&directory.path().join("small")).len(), 2);
    receiver.signal(Signal::INT);
    receiver.finish_with(0);
    if over == "tcp" {
        // The receiver is gone: the rows have reasons, and the exit code is 1.
        let result = ended(directory.path(), &text, &["--rounds", "1"], 1);
        let failed = &result["destinations"][0]["failed"];
        assert_eq!(*failed, serde_json::json!([1, 1]), "{result}");
    }
}

#[test]
fn a_receiver_over_tcp() {
    over_loopback(&["--tcp"], "tcp");
}

#[test]
fn a_receiver_with_a_token() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("probe-token");
    let name = file.to_str().expect("a name");
    let serve = [
        "probe",
        "--serve",
        "--tcp",
        "--listen",
        "127.0.0.1:0",
        "--token",
    ];
    let mut receiver = Running::start(directory.path(), serve.into_iter().chain([name]));
    let destination: Vec<String> = (0..4).map(|_| receiver.stdout_line()).collect();
    assert_eq!(destination[3], "token = \"probe-token\"");
    let secret = fs::read_to_string(&file).expect("made");
    let text = |lines: &[String]| {
        let lines = lines.join("\n");
        format!(
            "name = \"x\"\ncontrollers = [\"cubic\"]\nbytes = \"100kb\"\ninterval = \"50ms\"\n{lines}\n"
        )
    };
    // The token is required even at the loopback interface's address.
    for (lines, probes) in [(&destination[..3], 0), (&destination[..], 2)] {
        let code = i32::from(probes == 0);
        let result = ended(directory.path(), &text(lines), &["--rounds", "2"], code);
        let result = &result["destinations"][0];
        assert_eq!(result["probes"], serde_json::json!([probes]), "{result}");
        if probes == 0 {
            let reason = result["failures"][0]["reason"].as_str().expect("a reason");
            assert!(reason.contains("another token"), "{reason}");
            assert_eq!(result["failures"][0]["count"], 2);
        }
    }
    for (_, row) in files(&directory.path().join("small")) {
        let kept = row.windows(32).any(|part| part == secret.trim().as_bytes());
        assert!(!kept, "the token is in a file of rows");
    }
    // The token may come from the environment.
    fs::write(directory.path().join("env.toml"), text(&destination[..3])).expect("written");
    let mut command = fullpipe(["probe", "env.toml", "--rounds", "1", "--json"]);
    command.env("FULLPIPE_PROBE_TOKEN", secret.trim());
    let output = command
        .current_dir(directory.path())
        .output()
        .expect("runs");
    let result: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(result["destinations"][0]["probes"], serde_json::json!([1]));
    for text in [output.stdout, output.stderr] {
        assert!(!String::from_utf8_lossy(&text).contains(secret.trim()));
    }
}

#[test]
fn a_receiver_for_the_network_needs_a_token() {
    for listen in ["0.0.0.0:0", "[::]:0", "192.0.2.1:4440"] {
        let arguments = ["probe", "--serve", "--listen", listen];
        refused(
            arguments,
            2,
            &["--listen", "--token", "FULLPIPE_PROBE_TOKEN"],
        );
    }
    let mut command = fullpipe(["probe", "--serve", "--listen", "127.0.0.1:0"]);
    let output = command
        .env("FULLPIPE_PROBE_TOKEN", "short")
        .output()
        .expect("runs");
    assert_eq!(output.status.code(), Some(2));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("at least 16 characters"), "{stderr}");
    assert!(!stderr.contains("short"), "{stderr}");
}

#[test]
fn a_token_that_others_can_read_is_warned_of() {
    use std::os::unix::fs::PermissionsExt;
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("token");
    fs::write(&file, "sixteen characters and more\n").expect("written");
    for (mode, is_warned) in [(0o644, true), (0o600, false)] {
        fs::set_permissions(&file, fs::Permissions::from_mode(mode)).expect("changed");
        let arguments = ["probe", "--serve", "--listen", "127.0.0.1:0", "--token"];
        let arguments = arguments.into_iter().chain(["token"]);
        let mut receiver = Running::start(directory.path(), arguments);
        let first = receiver.stderr_line_with("");
        assert_eq!(first.contains("other users can read"), is_warned, "{first}");
    }
}

#[test]
fn a_receiver_over_quic_keeps_its_identity() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("identity");
    over_loopback(&["--identity", file.to_str().expect("a name")], "quic");
    assert!(file.exists());
}

#[test]
fn an_interruption_leaves_whole_files_only() {
    let directory = tempfile::tempdir().expect("a directory");
    let text = "name = \"x\"\ncontrollers = [\"cubic\"]\ninterval = \"1min\"\n\
                [[destination]]\naddress = \"127.0.0.1:9\"\nover = \"tcp\"\n";
    fs::write(directory.path().join("small.toml"), text).expect("written");
    let mut run = Running::start(directory.path(), ["probe", "small.toml"]);
    run.stderr_line_with("x: 1 destination, ");
    run.stderr_line_with("round 0: 1 probe, 1 failed");
    run.signal(Signal::INT);
    let (stdout, stderr) = run.finish_with(1);
    assert!(stderr.contains("every probe failed"), "{stderr}");
    let reasons = [&stdout, &stderr].map(|text| text.matches("127.0.0.1:9 cubic: ").count());
    assert_eq!(reasons, [0, 1], "a reason is told once: {stdout}{stderr}");
    assert!(stdout.contains("127.0.0.1:9"), "{stdout}");
    let files = files(&directory.path().join("small"));
    assert_eq!(files.len(), 1);
    assert!(files[0].1.ends_with(b"PAR1"));
}

#[test]
fn what_makes_no_sense_is_one_line() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("small.toml");
    let name = file.to_str().expect("a name");
    for (from, to, parts) in [
        (
            "bytes",
            "byte",
            &["small.toml: line 2: byte: unknown key"][..],
        ),
        ("\"1%\"", "\"101%\"", &["path.loss=101%", "more than 100%"]),
        (
            "rtt",
            "rrt",
            &["line 7: path.rrt", "did you mean `path.rtt`?"],
        ),
    ] {
        fs::write(&file, PATHS.replace(from, to)).expect("written");
        refused(["probe", name], 2, parts);
    }
    assert!(!directory.path().join("small").exists());
    fs::write(&file, PATHS).expect("written");
    for (options, parts) in [
        (&["--rounds", "0"][..], &["--rounds"][..]),
        (&["--duration", "long"], &["--duration"]),
        (&["--tcp"], &["--serve"]),
    ] {
        refused(
            ["probe", name].into_iter().chain(options.iter().copied()),
            2,
            parts,
        );
    }
    refused(["probe"], 2, &["<PROBE>"]);
    refused(["probe", "--serve"], 2, &["--listen"]);
    refused(
        ["probe", name, "--out", "/"],
        2,
        &["--out", "not rounds of probes"],
    );
    // The probe's own file is not a picture, and is not replaced.
    let picture = ["probe", name, "--picture", name];
    refused(picture, 2, &["--picture", "is no Fullpipe picture"]);
    let token = directory.path().join("token");
    let token = token.to_str().expect("a name");
    let listen = ["probe", "--serve", "--tcp", "--listen", "192.0.2.1:4440"];
    let arguments = listen.into_iter().chain(["--token", token]);
    refused(arguments, 1, &["cannot listen on 192.0.2.1:4440"]);
    refused(
        [
            "probe",
            "--serve",
            "--listen",
            "127.0.0.1:0",
            "--identity",
            name,
        ],
        2,
        &["is not an identity"],
    );
}
