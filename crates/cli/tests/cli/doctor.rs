//! `fullpipe doctor`, on any machine.

use serde_json::Value;

use crate::support::fullpipe;

#[test]
fn each_part_is_told_with_the_fix_for_what_it_lacks() {
    let output = fullpipe(["doctor", "--json"]).output().expect("runs");
    let told: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let findings = told["findings"].as_array().expect("findings");
    let named = |name: &str| {
        let found = findings.iter().find(|one| one["name"] == name);
        found.unwrap_or_else(|| panic!("no {name}: {told}"))
    };
    for name in [
        "engine sim",
        "engine quic",
        "watch",
        "engine linux, shell",
        "kernel's controllers",
        "kernel",
        "study, steer",
        "study by route",
        "capture",
        "Python package",
        "UDP socket buffers",
        "UDP segmentation offload (GSO)",
        "timers",
        "pacing",
        "processors",
    ] {
        let one = named(name);
        assert_eq!(one["fix"].is_null(), one["state"] == "ok", "{one}");
        assert!(
            one["detail"].as_str().is_some_and(|text| !text.is_empty()),
            "{one}"
        );
    }
    // The simulator works on every machine.
    assert_eq!(named("engine sim")["state"], "ok");
    let is_broken = |one: &&Value| one["needs_privilege"] == false && one["state"] == "lacking";
    let works = findings.iter().filter(is_broken).count() == 0;
    assert_eq!(told["works"], works);
    assert_eq!(output.status.code(), Some(i32::from(!works)), "{told}");
}

#[test]
fn a_line_for_each_part_and_one_for_each_fix() {
    let output = fullpipe(["doctor"]).output().expect("runs");
    let text = String::from_utf8(output.stdout).expect("text");
    for line in text.lines() {
        let is_part = ["ok ", "note ", "lacking "]
            .iter()
            .any(|state| line.starts_with(state));
        assert!(is_part || line.starts_with("         fix: "), "{line}");
    }
    assert!(text.starts_with("ok       engine sim: "), "{text}");
}
