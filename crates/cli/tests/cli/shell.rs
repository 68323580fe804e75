//! `fullpipe shell`: commands behind a path. Where the machine does not allow one, the tests are skipped.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::support::{Running, TEST_TIMEOUT, fullpipe, refused};

/// The end of a command behind a path.
struct Ended {
    code: i32,
    stdout: String,
    stderr: String,
}

fn shell(options: &[&str], command: &[&str]) -> Ended {
    let arguments = ["shell"]
        .iter()
        .chain(options)
        .chain(&["--"])
        .chain(command);
    let output = fullpipe(arguments.copied()).output().expect("runs");
    Ended {
        code: output.status.code().expect("an exit code"),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// True if commands can run behind a path here. If not, a message goes to the uncaptured stderr.
fn is_possible() -> bool {
    let tried = shell(&["--quiet"], &["true"]);
    if tried.code == 125 {
        skipping::skip!("no command can run behind a path here: {}", tried.stderr);
    }
    tried.code != 125
}

/// Runs the command. Returns its summary, too.
fn summary(options: &[&str], command: &[&str]) -> (Ended, Value) {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("summary.json");
    let json = ["--json", file.to_str().expect("text")];
    let ended = shell(&[&json, options].concat(), command);
    let text = fs::read_to_string(&file).unwrap_or_else(|_| panic!("no JSON: {}", ended.stderr));
    (ended, serde_json::from_str(&text).expect("JSON"))
}

#[test]
fn exit_codes_are_the_commands() {
    if !is_possible() {
        return;
    }
    for (command, code) in [
        (&["true"][..], 0),
        (&["sh", "-c", "exit 42"], 42),
        (&["sh", "-c", "kill -KILL $$"], 128 + 9),
        (&["no-such-command-anywhere"], 127),
        (&["/"], 126),
    ] {
        let ended = shell(&[], command);
        assert_eq!(ended.code, code, "{command:?}: {}", ended.stderr);
    }
}

#[test]
fn stdout_and_arguments_are_the_commands() {
    if !is_possible() {
        return;
    }
    let options = ["--rate", "10mbit", "--serve", "echo served; exec sleep 60"];
    let script = "printf '%s|' \"$@\"";
    // The server listens nowhere, which is reported and causes only a short delay.
    let ended = shell(&options, &["sh", "-c", script, "sh", "a b", "--rate", ""]);
    assert_eq!(ended.stdout, "a b|--rate||", "{}", ended.stderr);
    assert!(ended.stderr.contains("served\n"), "{}", ended.stderr);
    assert!(ended.stderr.contains("listens nowhere"), "{}", ended.stderr);
    assert!(ended.stderr.contains("10.0 Mbit/s"), "{}", ended.stderr);
    let buffer = "fullpipe: without --buffer, the buffer is 1.5mb\n";
    assert!(ended.stderr.contains(buffer), "{}", ended.stderr);
    let quiet = shell(&["--quiet"], &["echo", "said"]);
    assert_eq!(
        (quiet.stdout.as_str(), quiet.stderr.as_str()),
        ("said\n", "")
    );
}

#[test]
fn a_command_finds_the_far_side_and_nothing_else() {
    if !is_possible() {
        return;
    }
    let script = "echo $FULLPIPE_FAR $FULLPIPE_NEAR; cat /proc/net/dev";
    let ended = shell(&[], &["sh", "-c", script]);
    let mut lines = ended.stdout.lines();
    let addresses = lines.next().expect("a line");
    assert_eq!(addresses, "10.200.1.1 10.200.0.1", "{}", ended.stderr);
    let devices: BTreeSet<&str> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, _)| name.trim())
        .filter(|name| *name == "lo" || *name == "path0" || name.starts_with("e"))
        .collect();
    assert_eq!(devices, BTreeSet::from(["lo", "path0"]));
}

/// Sends ten datagrams to the far side's discard port. Each causes an ICMP answer, because nobody listens.
const TEN_DATAGRAMS: [&str; 3] = [
    "bash",
    "-c",
    "for n in 1 2 3 4 5 6 7 8 9 10; do echo $n > /dev/udp/$FULLPIPE_FAR/9; done; sleep 0.5; true",
];

#[test]
fn what_the_path_takes_is_counted() {
    if !is_possible() {
        return;
    }
    for (direction, options, [up, down]) in [
        ("up", &["--loss", "100%"][..], [10, 0]),
        ("down", &["--ack-loss", "100%"], [10, 0]),
        ("up", &["--rate", "1mbit"], [0, 0]),
    ] {
        let options = [&["--direction", direction], options].concat();
        let (ended, summary) = summary(&options, &TEN_DATAGRAMS);
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        let link = |way: &str, count: &str| summary[way]["link"][count].as_u64();
        assert_eq!(link("up", "entered_packets"), Some(10), "{summary:#}");
        assert_eq!(link("up", "random_losses"), Some(up), "{summary:#}");
        assert_eq!(link("down", "random_losses"), Some(down), "{summary:#}");
        assert_eq!(
            link("up", "delivered_packets"),
            Some(10 - up),
            "{summary:#}"
        );
    }
}

/// The far side would answer an undamaged packet, even if its kernel relies on the checksums of an offloading card.
#[test]
fn the_far_side_discards_what_is_damaged() {
    if !is_possible() {
        return;
    }
    let options = ["--direction", "up", "--corruption", "100%"];
    let (ended, summary) = summary(&options, &TEN_DATAGRAMS);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let up = &summary["up"];
    assert_eq!(up["link"]["corrupted_packets"], 10, "{summary:#}");
    assert_eq!(up["link"]["delivered_packets"], 10, "{summary:#}");
    assert_eq!(up["tun"]["written_packets"], 10, "{summary:#}");
    assert_eq!(summary["down"]["link"]["entered_packets"], 0, "{summary:#}");
    assert!(ended.stderr.contains("100 % corrupted"), "{}", ended.stderr);
}

#[test]
fn a_rate_holds_up_a_burst() {
    if !is_possible() {
        return;
    }
    // At 100 kbit/s a packet of 1028 bytes takes 82 ms: the last of ten waits for the nine before it.
    let send = "for n in 1 2 3 4 5 6 7 8 9 10; do head -c 1000 /dev/zero > /dev/udp/$FULLPIPE_FAR/9; done; sleep 2";
    let options = ["--direction", "up", "--rate", "100kbit"];
    let (ended, summary) = summary(&options, &["bash", "-c", send]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let up = &summary["up"];
    assert_eq!(up["link"]["delivered_bytes"], 10 * 1028, "{summary:#}");
    assert_eq!(up["path"]["rate_bps"], 100_000);
    let busy = Duration::from_nanos(up["link"]["busy_ns"].as_u64().expect("a number"));
    assert_eq!(busy.as_millis(), 10 * 1028 * 8 / 100);
}

#[test]
fn reports_are_whole() {
    if !is_possible() {
        return;
    }
    let directory = tempfile::tempdir().expect("a directory");
    let out = directory.path().join("out");
    let options = ["--rate", "1mbit", "--out", out.to_str().expect("text")];
    for _ in 0..2 {
        let ended = shell(&options, &TEN_DATAGRAMS);
        assert_eq!(ended.code, 0, "{}", ended.stderr);
    }
    let names = fs::read_dir(&out).expect("written").map(|entry| {
        let name = entry.expect("an entry").file_name();
        name.to_string_lossy().into_owned()
    });
    let names: BTreeSet<String> = names.collect();
    assert_eq!(names, shell::FILES.map(str::to_owned).into());
    let page = fs::read_to_string(out.join("report.html")).expect("a page");
    assert!(page.contains("1.00 Mbit/s") && !page.contains("{{"));
    assert_eq!(fs::read_dir(directory.path()).expect("there").count(), 1);
}

#[test]
fn signals_reach_the_command_and_it_is_reported() {
    if !is_possible() {
        return;
    }
    let script = "trap 'echo caught; exit 3' INT; echo ready; while :; do sleep 0.05; done";
    let arguments = ["shell", "--", "sh", "-c", script];
    let mut running = Running::start(Path::new("."), arguments);
    assert_eq!(running.stdout_line(), "ready");
    running.signal(Signal::INT);
    let (stdout, stderr) = running.finish_with(3);
    assert_eq!(stdout, "caught\n");
    assert!(stderr.contains("delivered packets"), "{stderr}");
}

/// Everything that a run may leave behind: namespaces, devices, routes, mounts; and processes with `mark` in their
/// arguments.
fn traces(mark: &str) -> BTreeSet<String> {
    let mut traces = BTreeSet::new();
    for file in ["/proc/net/dev", "/proc/net/route", "/proc/self/mounts"] {
        let text = fs::read_to_string(file).expect("readable");
        let first = |line: &str| {
            line.split_once(':')
                .map_or(line, |(name, _)| name)
                .to_owned()
        };
        traces.extend(text.lines().map(|line| format!("{file} {}", first(line))));
    }
    let processes = fs::read_dir("/proc").expect("readable").flatten();
    for process in processes {
        let arguments = fs::read(process.path().join("cmdline")).unwrap_or_default();
        let arguments = String::from_utf8_lossy(&arguments).replace('\0', " ");
        if arguments.contains(mark) {
            traces.insert(format!("{} {arguments}", process.path().display()));
        }
    }
    traces
}

#[test]
fn nothing_is_left_behind_however_it_ends() {
    if !is_possible() {
        return;
    }
    let mark = format!("9{}.25", std::process::id());
    let before = traces(&mark);
    // Each leaves a child in a session of its own, which only the end of its namespace ends.
    let serve = format!("setsid sleep {mark} & exec sleep {mark}");
    let command = format!("setsid sleep {mark} & echo ready; exec sleep {mark}");
    for round in 0..20u64 {
        // A server that listens nowhere: the end comes during the wait for it, otherwise while the command runs.
        let is_waiting = round % 2 == 0;
        let mut arguments = vec!["shell", "--rate", "1mbit"];
        if is_waiting {
            arguments.extend(["--serve", &serve]);
        }
        arguments.extend(["--", "sh", "-c", &command]);
        let mut running = Running::start(Path::new("."), arguments);
        if round % 4 == round / 4 % 2 {
            // An arbitrary moment.
            thread::sleep(Duration::from_millis(round * 997 % 250));
            running.signal(Signal::KILL);
            // A surviving process would hold its pipes.
            running.finish();
            continue;
        }
        let expected = if is_waiting {
            running.stderr_line_with("far side at");
            130
        } else {
            assert_eq!(running.stdout_line(), "ready");
            143
        };
        running.signal(Signal::TERM);
        let (status, _, stderr) = running.finish();
        assert_eq!(status.code(), Some(expected), "{stderr}");
    }
    let start = Instant::now();
    while traces(&mark) != before {
        assert!(start.elapsed() < TEST_TIMEOUT, "{:#?}", traces(&mark));
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn under_nohup_a_hang_up_reaches_nobody() {
    if !is_possible() {
        return;
    }
    let program = env!("CARGO_BIN_EXE_fullpipe");
    let script = "echo ready; read go; kill -HUP $$; echo alive; kill -INT $$; echo ignored";
    let mut run = std::process::Command::new("sh")
        .args(["-c", "trap '' HUP INT; exec \"$@\"", "sh", program])
        .args(["shell", "--quiet", "--", "sh", "-c", script])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("starts");
    let mut stdout = BufReader::new(run.stdout.take().expect("piped"));
    let mut line = String::new();
    stdout.read_line(&mut line).expect("a line");
    assert_eq!(line, "ready\n");
    let pid = Pid::from_raw(i32::try_from(run.id()).expect("a pid")).expect("not zero");
    kill_process(pid, Signal::HUP).expect("still runs");
    let mut stdin = run.stdin.take().expect("piped");
    stdin.write_all(b"go\n").expect("read");
    let mut rest = String::new();
    stdout.read_to_string(&mut rest).expect("text");
    assert_eq!(rest, "alive\n");
    let status = run.wait().expect("its end");
    assert_eq!(status.code(), Some(128 + 2));
}

#[test]
fn places_that_cannot_be_written_are_known_before_the_command_runs() {
    if !is_possible() {
        return;
    }
    let directory = tempfile::tempdir().expect("a directory");
    let mark = directory.path().join("has run");
    let mark = mark.to_str().expect("text");
    let here = directory.path().to_str().expect("text");
    for options in [
        ["--json", "/no/such/place.json"],
        ["--json", "/proc/nothing"],
        ["--json", "/dev/fd/77"],
        ["--json", here],
        ["--out", "/no/such/place"],
    ] {
        let ended = shell(&options, &["touch", mark]);
        assert_eq!(ended.code, 2, "{options:?}: {}", ended.stderr);
        assert!(ended.stderr.contains(options[1]), "{}", ended.stderr);
        assert_eq!(ended.stderr.lines().count(), 1, "{}", ended.stderr);
    }
    assert!(!Path::new(mark).exists());
    // A directory that vanishes while the command runs is a different case.
    let place = directory.path().join("place");
    fs::create_dir(&place).expect("made");
    let file = place.join("summary.json");
    let json = ["--json", file.to_str().expect("text")];
    let ended = shell(&json, &["rm", "-r", place.to_str().expect("text")]);
    assert_eq!(ended.code, 125, "{}", ended.stderr);
}

#[test]
fn a_command_sees_its_own_devices_in_sys() {
    if !is_possible() {
        return;
    }
    let script = "ls /sys/class/net; cat /proc/net/dev";
    let ended = shell(&["--quiet"], &["sh", "-c", script]);
    if ended
        .stderr
        .contains("/sys shows the network devices outside")
    {
        skipping::skip!("{}", ended.stderr);
        return;
    }
    let (in_sys, in_proc): (Vec<&str>, Vec<&str>) = ended
        .stdout
        .lines()
        .partition(|line| !line.contains([':', '|']));
    let in_sys: BTreeSet<&str> = in_sys.into_iter().flat_map(str::split_whitespace).collect();
    let in_proc = in_proc.into_iter().filter_map(|line| line.split_once(':'));
    let in_proc: BTreeSet<&str> = in_proc.map(|(name, _)| name.trim()).collect();
    assert_eq!(in_sys, in_proc);
    assert!(
        in_sys.contains("lo") && in_sys.contains("path0"),
        "{in_sys:?}"
    );
}

#[test]
fn what_makes_no_sense_is_refused() {
    refused(["shell"], 2, &["<COMMAND>...", "fullpipe shell --help"]);
    for (options, parts) in [
        (["--rate", "20"], ["--rate", "20mbit"]),
        (["--uplink", "rat=1mbit"], ["--uplink: rat: ", "`rate`"]),
        (["--queue", "cdel"], ["--queue", "codel"]),
        (["--direction", "left"], ["--direction", "down, up, both"]),
        (["--wait-for", "80"], ["--serve", "required"]),
        (["--controller", "vegas"], ["--controller", "bbr1"]),
        (["--out", "/proc/nowhere/out"], ["--out", "/proc/nowhere"]),
    ] {
        let arguments = ["shell"].into_iter().chain(options).chain(["--", "true"]);
        refused(arguments, 2, &parts);
    }
    let options = [
        "shell",
        "--direction",
        "both",
        "--uplink",
        "rate=1mbit",
        "--",
        "true",
    ];
    refused(options, 2, &["--uplink", "down or up"]);
}

#[test]
fn a_server_that_fails_is_named() {
    if !is_possible() {
        return;
    }
    let served = shell(&["--quiet", "--serve", "exit 7"], &["echo", "never"]);
    assert_eq!((served.code, served.stdout.as_str()), (125, ""));
    assert!(served.stderr.contains("exit code 7"), "{}", served.stderr);
    let unknown = shell(&["--quiet", "--controller", "kernel:none-such"], &["true"]);
    assert_eq!(unknown.code, 125);
    assert!(unknown.stderr.contains("reno"), "{}", unknown.stderr);
}
