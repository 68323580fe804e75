//! `fullpipe-proof figures`, on short runs.

use std::fs;

use crate::support::{fullpipe as proof, on_a_terminal, refused};

#[test]
fn a_figure_is_drawn_as_files_and_a_page() {
    let directory = tempfile::tempdir().expect("a directory");
    let out = directory.path().join("drawn");
    let draw = |name| {
        let out = out.to_str().expect("a name");
        let command = ["figures", name, "--quick", "--quiet", "--out", out];
        let output = proof(command).output().expect("runs");
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!((output.status.code(), stderr.as_str()), (Some(0), ""));
    };
    draw("paper-4");
    let svg = fs::read_to_string(out.join("paper-4-first-second.svg")).expect("there");
    assert!(svg.contains("fullpipe-proof figures paper-4-first-second --quick"));
    let png = fs::read(out.join("paper-4-first-second.png")).expect("there");
    assert!(png.starts_with(b"\x89PNG"));
    let csv = fs::read_to_string(out.join("paper-4-first-second.csv")).expect("there");
    assert!(
        csv.starts_with("chart,curve,time_s,data_kb,rtt_ms\n"),
        "{csv:.80}"
    );
    draw("paper-2");
    let page = fs::read_to_string(out.join("figures.html")).expect("there");
    // Older pictures stay on the page.
    for name in ["paper-2-steady-state", "paper-4-first-second"] {
        assert!(page.contains(&format!("<figure id=\"{name}\">")), "{name}");
    }
}

#[test]
fn figures_are_listed_with_their_engines() {
    let output = proof(["figures", "--list", "paper-8"])
        .output()
        .expect("runs");
    let text = String::from_utf8_lossy(&output.stdout);
    let [_, text] = text.lines().collect::<Vec<_>>()[..] else {
        panic!("{text}");
    };
    assert!(
        text.starts_with("paper-8-loss-sweep") && text.contains("sim,quic,linux"),
        "{text}"
    );
}

#[test]
fn a_list_fits_a_terminal() {
    let directory = tempfile::tempdir().expect("a directory");
    for arguments in [
        &["figures", "--list"][..],
        &["calibrate", "--engines", "sim,sim", "--list"],
    ] {
        let shown = on_a_terminal(directory.path(), arguments);
        let widest = shown.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(80) && !shown.contains('…'), "{shown}");
    }
}

#[test]
fn mistakes_are_answered() {
    refused(
        ["figures", "paper-88"],
        2,
        &["paper-88", "did you mean `paper-8`"],
    );
    refused(["figures", "paper-1", "--engine", "quic"], 2, &["--list"]);
    refused(
        ["figures", "paper-4", "--scenarios", "/nowhere", "--list"],
        2,
        &["/nowhere"],
    );
}
