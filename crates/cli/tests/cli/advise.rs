//! `fullpipe advise`, on slow paths.

use std::fs;
use std::process::Command;

use serde_json::Value;

use crate::support::{Running, fullpipe, refused};

/// Options for a short run.
const SHORT: [&str; 6] = ["advise", "--paths", "4", "--duration", "20s", "--quiet"];

fn short<'a>(options: &[&'a str]) -> Vec<&'a str> {
    SHORT.iter().chain(options).copied().collect()
}

fn advice(options: &[&str]) -> Value {
    let output = fullpipe(short(options))
        .arg("--json")
        .output()
        .expect("runs");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    serde_json::from_slice(&output.stdout).expect("JSON alone")
}

#[test]
fn loss_decides_for_bbr_and_the_same_question_has_the_same_answer() {
    let lossy = [
        "--rate",
        "5mbit..10mbit",
        "--rtt",
        "60ms",
        "--buffer",
        "2bdp",
        "--loss",
        "2%",
    ];
    let first = advice(&[&lossy[..], &["--controllers", "bbr1,cubic"]].concat());
    assert_eq!(first["choice"], "bbr1");
    assert_eq!(first["ranges"][0]["field"], "path.rate");
    let rival = &first["goals"][0]["rivals"][0];
    assert_eq!(
        (&rival["controller"], &rival["paths"]),
        (&"cubic".into(), &4.into())
    );
    assert!(rival["mean"].as_f64() > Some(1.5), "{rival}");
    let with_jobs = [&lossy[..], &["--controllers", "bbr1,cubic", "--jobs", "1"]].concat();
    assert_eq!(advice(&with_jobs), first);
}

#[test]
fn what_is_the_same_has_no_clear_difference() {
    let one = advice(&[
        "--rate",
        "4mbit",
        "--rtt",
        "20ms",
        "--buffer",
        "1bdp",
        "--controllers",
        "cubic",
    ]);
    assert_eq!(one["choice"], "cubic");
    let candidate = &one["paths"][0]["candidates"]["cubic"];
    assert_eq!(candidate["beside_cubic"]["neighbour_goodput"], 1.0);
    assert_eq!(candidate["beside_cubic"]["neighbour_rtt_p95"], 1.0);
    // CUBIC meets `fair` by definition: it is the reference for the other controllers.
    let itself = &candidate["beside_itself"];
    assert_eq!(itself["jain"], itself["cubic_jain"]);
    let fair = &one["goals"][2];
    assert_eq!(
        (&fair["goal"], &fair["is_met"]),
        (&"fair".into(), &true.into())
    );
    assert_eq!(fair["met_on"], 4);
}

/// The advice as text for a path of 4 Mbit/s and 20 ms.
fn told(options: &[&str]) -> String {
    text(&[&["--rate", "4mbit", "--rtt", "20ms"][..], options].concat())
}

/// The advice as text.
fn text(options: &[&str]) -> String {
    let output = fullpipe(["advise", "--quiet"].iter().chain(options).copied())
        .output()
        .expect("runs");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    String::from_utf8(output.stdout).expect("text")
}

/// The word after these in a line.
fn told_share<'a>(line: &'a str, before: &str) -> &'a str {
    let (_, rest) = line.split_once(before).expect(line);
    rest.split(' ').next().unwrap_or_default()
}

#[test]
fn the_headline_says_what_a_neighbour_keeps_where_the_buffer_is_a_tenth_of_a_bdp() {
    let path = ["--rate", "20mbit", "--rtt", "40ms", "--buffer", "0.11bdp"];
    let few = [
        "--controllers",
        "bbr1,cubic",
        "--paths",
        "2",
        "--duration",
        "10s",
    ];
    let text = text(&[&path[..], &few].concat());
    let headline = text.lines().next().unwrap_or_default();
    assert!(headline.starts_with("choose bbr1 for throughput"), "{text}");
    let kept: f64 = told_share(headline, "keeps ").parse().expect(headline);
    assert!(kept < 0.95, "{text}");
}

#[test]
fn the_headline_says_whom_it_costs_and_short_runs_are_not_sure() {
    let shallow = [
        "--buffer",
        "0.5bdp..1bdp",
        "--controllers",
        "bbr1,cubic",
        "--paths",
        "8",
    ];
    let long = told(&[&shallow[..], &["--duration", "20s"]].concat());
    let headline = long.lines().next().unwrap_or_default();
    assert!(headline.starts_with("choose bbr1 for throughput"), "{long}");
    // The median of the line below, where its range is.
    let kept = told_share(headline, "keeps ");
    assert!(
        headline.ends_with(" of the goodput that it has beside another CUBIC flow"),
        "{long}"
    );
    assert!(
        long.contains(&format!("a CUBIC flow has {kept} (")),
        "{long}"
    );
    assert!(
        long.contains("what bbr1 takes from CUBIC counts as a gain"),
        "{long}"
    );
    let harm = long
        .lines()
        .find(|line| line.starts_with("harm: "))
        .unwrap_or_default();
    assert!(
        harm.contains(" times the goodput")
            && harm.ends_with(
                "(medians over the paths; in parentheses, the least and the most of the paths)"
            ),
        "{long}"
    );
    for column in ["beside CUBIC: ", "Jain: ", "requests p95: "] {
        assert!(long.contains(column), "{column}: {long}");
    }
    let brief = told(&[&shallow[..], &["--duration", "5s"]].concat());
    assert!(
        brief.contains("\nnot sure: runs of 5.00 s do not show")
            && brief.contains("; runs of 10s do"),
        "{brief}"
    );
    let cubic = told(&["--buffer", "1bdp", "--controllers", "cubic", "--paths", "2"]);
    let headline = cubic.lines().next().unwrap_or_default();
    assert!(!headline.contains("neighbour"), "{cubic}");
}

#[test]
fn the_scenario_on_the_page_runs_again() {
    let directory = tempfile::tempdir().expect("a directory");
    let at = |name: &str| directory.path().join(name).display().to_string();
    let path = [
        "--rate",
        "4mbit..8mbit",
        "--rtt",
        "20ms",
        "--jitter",
        "0..2ms",
    ];
    let candidates = ["--controllers", "bbr3"];
    let page = at("advice.html");
    let told = advice(&[&path[..], &candidates, &["--report", &page]].concat());
    let text = fs::read_to_string(&page).expect("written");
    let (_, after) = text.split_once("The first of the paths").expect("named");
    let (_, toml) = after.split_once("<pre>").expect("there");
    let (toml, _) = toml.split_once("</pre>").expect("there");
    let toml = toml.replace("&#34;", "\"").replace("&quot;", "\"");
    fs::write(at("path.toml"), toml).expect("written");
    let run = ["run", &at("path.toml"), "--json", "--quiet"];
    let output = fullpipe(run).output().expect("runs");
    let summary: Value = serde_json::from_slice(&output.stdout).expect("JSON alone");
    assert_eq!(summary["flows"][1]["controller"], "cubic");
    let beside = &told["paths"][0]["candidates"]["bbr3"]["beside_cubic"];
    assert_eq!(
        summary["flows"][0]["goodput_bps"].as_f64(),
        beside["goodput_bps"].as_f64()
    );
}

#[test]
fn a_pipe_that_nobody_writes_is_named() {
    let directory = tempfile::tempdir().expect("a directory");
    let pipe = directory.path().join("path.pipe");
    let made = Command::new("mkfifo").arg(&pipe).status().expect("runs");
    assert!(made.success());
    let options = ["--paths", "1", "--duration", "2s", "--from", "path.pipe"];
    let command = ["advise", "--quiet"].into_iter().chain(options);
    let mut running = Running::start(directory.path(), command);
    running.stderr_line_with("path.pipe is a pipe: waiting");
    let path = "[path]\nrate = \"4mbit\"\nrtt = \"20ms\"\nbuffer = \"1bdp\"\n";
    fs::write(&pipe, path).expect("written");
    let (status, stdout, stderr) = running.finish();
    assert!(
        status.success() && stdout.starts_with("choose "),
        "{stderr}"
    );
}

#[test]
fn records_scenarios_and_summaries_tell_of_paths() {
    let directory = tempfile::tempdir().expect("a directory");
    let at = |name: &str| directory.path().join(name).display().to_string();
    let scenario = "name = \"known\"\nduration = \"5s\"\n[path]\nrate = \"4mbit\"\nrtt = \"20ms\"\nbuffer = \"2bdp\"\n\
                    loss = \"1%\"\n[[flow]]\ncontroller = \"reno\"\n";
    fs::write(at("known.toml"), scenario).expect("written");
    let (file, record) = (at("known.toml"), at("record"));
    let run = ["run", &file, "--json", "--quiet", "--out", &record];
    let output = fullpipe(run).output().expect("runs");
    fs::write(at("summary.json"), output.stdout).expect("written");
    for (from, path) in [
        ("known.toml", "buffer 2bdp"),
        ("record", "buffer 2bdp"),
        ("summary.json", "buffer 20000b"),
    ] {
        let told = advice(&["--from", &at(from), "--controllers", "bbr3"]);
        let of = told["path"].as_str().expect("text");
        assert!(of.contains(path), "{of}");
    }
}

#[test]
fn the_page_needs_no_network() {
    let directory = tempfile::tempdir().expect("a directory");
    let page = directory.path().join("advice.html");
    let page = page.display().to_string();
    let path = [
        "--rate",
        "4mbit",
        "--rtt",
        "20ms",
        "--controllers",
        "bbr3,cubic",
        "--report",
        &page,
    ];
    fullpipe(short(&path)).assert().success();
    let text = fs::read_to_string(&page).expect("written");
    assert!(text.contains("<svg") && text.contains("for throughput"));
    assert!(!text.contains("src=\"http"));
    fs::write(&page, "mine").expect("written");
    refused(short(&path), 2, &["--report", "no Fullpipe report"]);
}

#[test]
fn what_makes_no_sense_is_answered_in_one_line() {
    for (options, parts) in [
        (&[][..], &["--rate", "--from"][..]),
        (&["--rtt", "20ms"], &["--rate", "is missing"]),
        (&["--rate", "4mbit"], &["--rtt", "is missing"]),
        (
            &["--rate", "4mbit..1mbit", "--rtt", "20ms"],
            &["--rate", "1mbit..4mbit"],
        ),
        (
            &["--rate", "4mbit", "--rtt", "20ms..3%"],
            &["--rtt", "same kind of unit"],
        ),
        (
            &["--rate", "4mbit", "--rtt", "20ms..3parsecs"],
            &["--rtt: \"3parsecs\" is not an end of a range"],
        ),
        (
            &["--rate", "1bit", "--rtt", "20ms"],
            &["--rate: 1bit is less than 8bit, the least rate"],
        ),
        (
            &["--rate", "400gbit", "--rtt", "100ms"],
            &["--rate: runs of 2.5s would have", "give a lower rate"],
        ),
        (
            &["--rate", "4mbit", "--rtt", "20ms", "--loss", "1%..200%"],
            &["--loss"],
        ),
        (&["--from", "nothing.toml"], &["nothing.toml"]),
        (&["--from", "."], &["scenario.toml", "summary.json"]),
        (
            &["--rate", "4mbit", "--rtt", "20ms", "--loss", "100%"],
            &["--loss: at a share of 100% nothing arrives"],
        ),
        (
            &["--rtt", "20ms", "--trace", "nothing.trace"],
            &["fullpipe: --trace: nothing.trace: "],
        ),
        (
            &["--rate", "4mbit", "--rtt", "20ms", "--duration", "1us"],
            &["--duration", "too short", "1s or more"],
        ),
        (
            &["--rate", "4mbit", "--rtt", "2ms", "--controllers", "bbr9"],
            &["bbr9"],
        ),
        (
            &["--rate", "4mbit", "--rtt", "2ms", "--goal", "speed"],
            &["speed", "latency"],
        ),
    ] {
        let arguments: Vec<&str> = ["advise", "--quiet"]
            .iter()
            .chain(options)
            .copied()
            .collect();
        refused(arguments, 2, parts);
    }
}

#[test]
fn a_mistake_is_told_of_who_made_it() {
    let directory = tempfile::tempdir().expect("a directory");
    let at = |name: &str| directory.path().join(name).display().to_string();
    let write = |name: &str, text: &str| {
        fs::write(at(name), text).expect("written");
        at(name)
    };
    let toml = |path: &str| write("path.toml", &format!("[path]\n{path}"));
    let json = |path: &str, flow: &str| {
        let text = format!("{{ \"path\": {{ {path} }}, \"flows\": [{{ {flow} }}] }}");
        write("summary.json", &text)
    };
    let told = |from: &str, options: &[&str], parts: &[&str]| {
        let all = ["advise", "--quiet", "--from", from];
        refused(all.iter().chain(options).copied(), 2, parts);
    };
    for (path, options, parts) in [
        (
            "rate = \"4mbit\"\nrtt = \"soon\"\n",
            &["--buffer", "9kb"][..],
            &["path.toml: line 3: path.rtt: \"soon\""][..],
        ),
        (
            "rate = \"4mbit\"\nrtt = \"1us\"\nbuffer = \"1bdp\"\n",
            &["--loss", "1%"],
            &["path.toml: line 4: path.buffer: 1bdp at 4mbit and 1us is 0b"],
        ),
        (
            "rate = \"4mbit\"\nbuffer = \"1bdp\"\n",
            &[],
            &["path.toml: path.rtt: is missing"],
        ),
        (
            "rate = \"4mbit\"\nrtt = \"9ms\"\nbuffer = \"1bdp\"\n",
            &["--loss", "100%"],
            &["--loss: at a share of 100%"],
        ),
        (
            "rate = \"4mbit\"\nrtt = \"9ms\"\nloss = \"0..100%\"\n",
            &[],
            &["path.toml: line 4: path.loss: at a share of 100%"],
        ),
        (
            "rtt = \"9ms\"\ntrace = \"nothing.trace\"\n",
            &[],
            &["path.toml: line 3: path.trace: ", "nothing.trace"],
        ),
    ] {
        told(&toml(path), options, parts);
    }
    let known = "\"rate_bps\": 4000000, \"rtprop_ms\": 20";
    for (path, flow, parts) in [
        (
            "\"rate_bps\": 0, \"rtprop_ms\": 20",
            "",
            &["summary.json: path.rate"][..],
        ),
        (
            known,
            "\"rtt_ms\": { \"min\": 30, \"p50\": 25 }",
            &["summary.json: flows[0].rtt_ms.min: 30 is above"],
        ),
    ] {
        told(&json(path, flow), &[], parts);
    }
    told(
        &write("else.json", "{}"),
        &[],
        &["else.json: is not a summary"],
    );
    told(&write("empty.toml", "\n"), &[], &["empty.toml: is empty"]);
    told(
        &toml("rate = \"4mbit\"\nrtt = \"9ms\"\n"),
        &["--duration", "9s", "--change", "at=9s,rate=5mbit"],
        &["--change: 9s is not within runs of 9s; give longer runs"],
    );
}

#[test]
fn nothing_arrives_and_nothing_is_advised() {
    let path = ["--rate", "4mbit", "--rtt", "20s", "--controllers", "reno"];
    let options = ["advise", "--paths", "1", "--duration", "9s", "--quiet"];
    refused(
        options.iter().chain(&path).copied(),
        1,
        &[
            "no data arrived, with any candidate",
            "give longer runs than 9s\n",
        ],
    );
    let lossy = options.iter().chain(&path).chain(&["--loss", "1%"]);
    refused(lossy.copied(), 1, &["than 9s, or less loss"]);
}

#[test]
fn one_candidate_and_one_path_have_no_table_and_no_interval() {
    let path = ["--rate", "4mbit", "--rtt", "20ms", "--jitter", "0..5ms"];
    let text = |options: &[&str]| {
        let all = ["advise", "--duration", "10s", "--quiet"];
        let all = all.iter().chain(&path).chain(options).copied();
        let output = fullpipe(all).output().expect("runs");
        assert_eq!(output.status.code(), Some(0));
        String::from_utf8(output.stdout).expect("text")
    };
    let one = text(&["--paths", "2", "--controllers", "bbr1"]);
    assert!(one.contains("there is no other candidate"), "{one}");
    assert!(!one.contains("bbr1 over"), "{one}");
    let two = text(&["--paths", "1", "--controllers", "bbr3,reno"]);
    assert!(
        two.contains("one path does not show the effect of chance"),
        "{two}"
    );
    assert!(!two.contains("inf") && two.contains('–'), "{two}");
}
