//! `fullpipe watch`: its output for the test's own connections, and its end.

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::path::Path;

use linux::diag::{Diag, Filter};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::Signal;
use rustix::termios::{LocalModes, tcgetattr};
use serde_json::Value;

use crate::support::{Running, TEST_TIMEOUT, fullpipe, refused};

/// Both ends of a loopback connection that has carried data. `None`, with a message, if the kernel has no sock_diag.
fn pair() -> Option<(TcpStream, TcpStream)> {
    let asked = Diag::open_here().and_then(|mut diag| diag.sockets(&Filter::default(), |_| {}));
    if let Err(error) = asked {
        skipping::skip!("{error}");
        return None;
    }
    let listener = TcpListener::bind("127.0.0.1:0").expect("listens");
    let mut near = TcpStream::connect(listener.local_addr().expect("bound")).expect("connects");
    let (mut far, _) = listener.accept().expect("accepts");
    near.write_all(&[7; 10_000]).expect("sent");
    far.read_exact(&mut [0; 10_000]).expect("received");
    Some((near, far))
}

fn port(stream: &TcpStream) -> String {
    stream.local_addr().expect("bound").port().to_string()
}

fn lines(arguments: &[&str]) -> Vec<Value> {
    let output = fullpipe(arguments.iter().copied()).output().expect("runs");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    let text = String::from_utf8(output.stdout).expect("text");
    let line = |line: &str| serde_json::from_str(line).expect("JSON");
    text.lines().map(line).collect()
}

#[test]
fn one_look_as_json_has_both_ends_and_whose_they_are() {
    let Some((near, _far)) = pair() else { return };
    let filter = format!("port={}", port(&near));
    let all = lines(&["watch", "--once", "--json", "--sort", "local", &filter]);
    assert_eq!(all.len(), 2, "{all:?}");
    let sent = all
        .iter()
        .find(|one| one["acknowledged_bytes"].as_u64() >= Some(10_000));
    let sent = sent.expect("one of them sent");
    let address = near.local_addr().expect("bound").to_string();
    assert_eq!(sent["local"], address);
    assert_eq!(sent["pid"], std::process::id());
    assert_eq!(sent["tcp_state"], "established");
    assert!(
        sent["min_rtt_ms"].is_number() && sent["send_rate_bps"].is_null(),
        "{sent}"
    );
    let groups = lines(&["watch", "--once", "--json", "--group", "process", &filter]);
    assert_eq!(
        (groups.len(), &groups[0]["connections"]),
        (1, &Value::from(2))
    );
}

/// The main limit of a group has the same name as that of a connection.
#[test]
fn groups_have_times_and_limits_like_connections() {
    let Some((near, _far)) = pair() else { return };
    let filter = format!("local-port={}", port(&near));
    let arguments = [
        "watch",
        "--json",
        "--group",
        "port",
        "--interval",
        "100ms",
        &filter,
    ];
    let mut running = Running::start(Path::new("."), arguments);
    let mut line = || -> Value { serde_json::from_str(&running.stdout_line()).expect("JSON") };
    let (first, second) = (line(), line());
    assert!(
        first["limit"].is_null() && first["unix_s"].as_f64() > Some(1e9),
        "{first}"
    );
    assert_eq!(second["limit"], "application", "{second}");
    assert!(second["at_s"].as_f64() > first["at_s"].as_f64(), "{second}");
    running.signal(Signal::TERM);
    assert!(running.finish().0.success());
}

#[test]
fn one_look_as_a_table() {
    let Some((near, _far)) = pair() else { return };
    let filter = format!("local-port={}", port(&near));
    let output = fullpipe(["watch", "--once", &filter])
        .output()
        .expect("runs");
    let text = String::from_utf8(output.stdout).expect("text");
    let address = near.local_addr().expect("bound").to_string();
    assert!(
        text.lines()
            .nth(1)
            .is_some_and(|line| line.starts_with(&address)),
        "{text}"
    );
    assert!(text.ends_with("1 connection\n"), "{text}");
    let none = fullpipe(["watch", "--once", &filter, "controller=none"])
        .output()
        .expect("runs");
    assert_eq!(String::from_utf8_lossy(&none.stdout), "0 connections\n");
}

/// A process name may contain anything, but stays on one line.
#[test]
fn a_name_with_a_line_end_is_one_line() {
    let Some((near, _far)) = pair() else { return };
    let filter = format!("local-port={}", port(&near));
    let name = fs::read("/proc/self/comm").expect("a name");
    fs::write("/proc/self/comm", "wa\nESTAB\u{9b}").expect("renamed");
    let output = |arguments: &[&str]| {
        let output = fullpipe(arguments.iter().copied()).output().expect("runs");
        String::from_utf8(output.stdout).expect("text")
    };
    let table = output(&["watch", "--once", &filter]);
    let json = output(&["watch", "--once", "--json", &filter]);
    fs::write("/proc/self/comm", name).expect("renamed back");
    assert!(table.contains("wa\\nESTAB\\u{9b}"), "{table}");
    assert!(
        table.lines().all(|line| !line.starts_with("ESTAB")),
        "{table}"
    );
    assert!(json.contains("wa\\nESTAB\\u009b"), "{json}");
}

#[test]
fn metrics_are_served_and_a_record_is_whole_at_the_end() {
    let Some((mut near, mut far)) = pair() else {
        return;
    };
    let directory = tempfile::tempdir().expect("a directory");
    let filter = format!("port={}", port(&near));
    let arguments = [
        "watch",
        &filter,
        "--interval",
        "100ms",
        "--prometheus",
        "0",
        "--record",
        "out",
        "--group",
        "port",
    ];
    let mut running = Running::start(directory.path(), arguments);
    let line = running.stderr_line_with("metrics: http://127.0.0.1:");
    let address = line
        .trim_start_matches("metrics: http://")
        .trim_end_matches("/metrics");
    let mut text = String::new();
    while !text.contains("fullpipe_tcp_acknowledged_bytes_total{port=") {
        near.write_all(&[7; 1000]).expect("sent");
        far.read_exact(&mut [0; 1000]).expect("received");
        let mut stream = TcpStream::connect(address).expect("listens");
        stream
            .write_all(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")
            .expect("asked");
        text.clear();
        stream.read_to_string(&mut text).expect("answered");
    }
    assert!(text.ends_with("# EOF\n"), "{text}");
    running.signal(Signal::TERM);
    running.finish_with(0);
    let files: Vec<_> = fs::read_dir(directory.path().join("out"))
        .expect("made")
        .collect();
    let [Ok(file)] = files.as_slice() else {
        panic!("{files:?}")
    };
    let bytes = fs::read(file.path()).expect("readable");
    assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"));
}

#[test]
fn a_collector_gets_metrics_and_its_absence_is_told_once() {
    let Some((near, _far)) = pair() else {
        return;
    };
    let filter = format!("port={}", port(&near));
    let collector = TcpListener::bind("127.0.0.1:0").expect("listens");
    let url = format!("http://{}", collector.local_addr().expect("bound"));
    let arguments = [
        "watch", &filter, "--once", "--group", "port", "--otlp", &url,
    ];
    let heard = std::thread::spawn(move || {
        let (mut stream, _) = collector.accept().expect("a request");
        let mut request = String::new();
        let mut part = [0; 4096];
        while !request.ends_with("]}]}]}") {
            let read = stream.read(&mut part).expect("more");
            request.push_str(std::str::from_utf8(&part[..read]).expect("text"));
        }
        let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}";
        stream.write_all(answer).expect("answered");
        request
    });
    let sent = fullpipe(arguments)
        .env("OTEL_EXPORTER_OTLP_HEADERS", "x-key=hidden")
        .output()
        .expect("runs");
    assert_eq!(sent.status.code(), Some(0), "{sent:?}");
    let request = heard.join().expect("a collector");
    // Both ends count for the service's port, which is the lower one.
    let ports = [near.local_addr(), near.peer_addr()].map(|end| end.expect("known").port());
    let service = ports[0].min(ports[1]);
    let wanted = format!(r#"{{"key":"port","value":{{"stringValue":"{service}"}}}}"#);
    assert!(
        request.contains("x-key: hidden") && request.contains(&wanted),
        "{request}"
    );

    // The connection is gone.
    let output = fullpipe(arguments)
        .env("OTEL_EXPORTER_OTLP_HEADERS", "x-key=hidden")
        .output()
        .expect("runs");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(
        said.matches("--otlp: the collector cannot be reached")
            .count(),
        1,
        "{said}"
    );
    assert!(!said.contains("hidden"), "{said}");
}

/// Starts the view on a terminal, and waits until it has drawn.
fn on_a_terminal(arguments: &[&str]) -> (Running, OwnedFd, String) {
    let (running, ours) = Running::start_on_a_terminal(Path::new("."), arguments);
    let mut text = String::new();
    while !text.contains("q quit") {
        text += &some(&ours);
    }
    (running, ours, text)
}

/// Pasted text is read and drawn at once, not one key per frame.
#[test]
fn many_keys_at_once_take_no_frame_each() {
    let Some((near, _far)) = pair() else { return };
    let filter = format!("local-port={}", port(&near));
    let (running, terminal, _) = on_a_terminal(&["watch", "--interval", "1h", &filter]);
    let typed = format!("/{}%", "x".repeat(60));
    rustix::io::write(&terminal, typed.as_bytes()).expect("typed");
    let mut text = String::new();
    while !text.contains('%') {
        text += &some(&terminal);
    }
    // Each frame hides the cursor.
    let frames = text.matches("\u{1b}[?25l").count();
    assert!(frames < 20, "{frames} frames: {text:?}");
    running.signal(Signal::TERM);
    assert!(is_restored(&terminal));
    assert!(running.finish().0.success());
}

/// The next output on the terminal.
fn some(terminal: &OwnedFd) -> String {
    let timeout = TEST_TIMEOUT.try_into().expect("a time");
    let ready = poll(&mut [PollFd::new(terminal, PollFlags::IN)], Some(&timeout));
    assert_eq!(ready, Ok(1), "nothing is drawn");
    let mut bytes = [0; 4096];
    let read = rustix::io::read(terminal, &mut bytes).expect("drawn");
    String::from_utf8_lossy(&bytes[..read]).into_owned()
}

/// True if the terminal is restored: lines, echo, the main screen.
fn is_restored(terminal: &OwnedFd) -> bool {
    let mut text = String::new();
    while !text.contains("\u{1b}[?1049l") {
        text += &some(terminal);
    }
    let modes = tcgetattr(terminal).expect("its modes").local_modes;
    modes.contains(LocalModes::ICANON | LocalModes::ECHO)
}

#[test]
fn a_command_goes_on_after_a_hangup_that_was_ignored_before() {
    let Some((near, _far)) = pair() else { return };
    let filter = format!("local-port={}", port(&near));
    let arguments = ["watch", "--json", &filter];
    let mut running = Running::start_after(Path::new("."), "trap '' HUP", arguments);
    running.stdout_line();
    running.signal(Signal::HUP);
    for _ in 0..3 {
        running.stdout_line();
    }
    running.signal(Signal::TERM);
    assert!(running.finish().0.success());
}

#[test]
fn the_terminal_is_as_before_however_the_view_ends() {
    let Some((near, _far)) = pair() else { return };
    let filter = format!("local-port={}", port(&near));
    for end in [
        None,
        Some(Signal::TERM),
        Some(Signal::INT),
        Some(Signal::HUP),
    ] {
        let (running, terminal, text) = on_a_terminal(&["watch", &filter]);
        assert!(text.contains("connection"), "{text:?}");
        assert!(
            !tcgetattr(&terminal)
                .expect("its modes")
                .local_modes
                .contains(LocalModes::ICANON)
        );
        match end {
            None => {
                rustix::io::write(&terminal, b"q").expect("typed");
            }
            Some(signal) => running.signal(signal),
        }
        assert!(is_restored(&terminal), "{end:?}");
        let (status, _, stderr) = running.finish();
        assert_eq!(status.code(), Some(0), "{end:?}: {stderr}");
    }
}

#[test]
fn what_makes_no_sense_gets_one_line() {
    let directory = tempfile::tempdir().expect("a directory");
    let odd = directory.path().join("odd");
    fs::write(&odd, "192.0.2.0/24\t1\nnonsense\n").expect("written");
    let odd = odd.to_str().expect("text");
    for (arguments, parts) in [
        (&["watch"][..], &["not a terminal", "--once"][..]),
        (
            &["watch", "--once", "prot=1"],
            &["prot=1", "did you mean `port`?"],
        ),
        (
            &["watch", "--once", "--sort", "sent"],
            &["--sort", "did you mean `send`?"],
        ),
        (&["watch", "--once", "--group", "x"], &["--group", "prefix"]),
        (
            &["watch", "--once", "--interval", "1ms"],
            &["--interval", "100ms"],
        ),
        (&["watch", "--once", "--as", odd], &["--as", "line 2"]),
        (
            &["watch", "--once", "--as", "/dev/zero"],
            &["--as", "not a regular file"],
        ),
        (
            &["watch", "--once", "--as", "/no/such"],
            &["--as", "/no/such"],
        ),
        (
            &["watch", "--once", "--namespace", "no-such"],
            &["--namespace: no-such", "`ip netns`"],
        ),
        (
            &["watch", "--once", "--record", odd],
            &["--record", odd, "is not a directory; give another name"],
        ),
        (
            &["watch", "--once", "as=64500"],
            &["filter as=: the autonomous systems", "--as"],
        ),
        (
            &["watch", "--once", "--group", "as"],
            &["--group as: the autonomous systems", "--as"],
        ),
        (
            &["watch", "--once", "port=1", "!limit=receiver"],
            &["filter limit=: ", "leave out --once"],
        ),
        (
            &["watch", "--once", "--record", "x", "--keep", "1kb"],
            &["--keep", "32 MB"],
        ),
        (&["watch", "--once", "--keep", "1gb"], &["--record"]),
        (
            &["watch", "--once", "--prometheus", "x"],
            &["--prometheus", "9100"],
        ),
        (
            &["watch", "--once", "--otlp", "127.0.0.1:4318"],
            &["--otlp", "http://127.0.0.1:4318"],
        ),
        (
            &[
                "watch",
                "--once",
                "--otlp",
                "http://me:hidden@127.0.0.1:4318",
            ],
            &["--otlp", "OTEL_EXPORTER_OTLP_HEADERS"],
        ),
        (
            &["watch", "--once", "--labels", "9"],
            &["--prometheus", "--otlp"],
        ),
        (&["watch", "--once", "--top", "0"], &["--top"]),
        (
            &["watch", "--once", "port=9-5"],
            &["port=9-5", "give the lower port first: 5-9"],
        ),
        (
            &["watch", "--once", "--group", "port", "--sort", "age"],
            &["--sort age", "send, receive, rtt, delivery, resent"],
        ),
    ] {
        refused(arguments.iter().copied(), 2, parts);
    }
    let taken = TcpListener::bind("127.0.0.1:0").expect("listens");
    let address = taken.local_addr().expect("bound").to_string();
    refused(
        ["watch", "--once", "--prometheus", &address],
        1,
        &["--prometheus", &address],
    );
}
