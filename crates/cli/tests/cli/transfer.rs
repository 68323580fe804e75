//! `fullpipe recv` and `fullpipe send`, through `fullpipe emulate` where a transfer should take time.

use std::fs;
use std::net::UdpSocket;
use std::path::Path;

use rustix::process::Signal;
use tempfile::TempDir;

use crate::support::{Running, fullpipe, refused};

/// A directory with a file `data` of `size` bytes without repeated content.
fn source(size: usize) -> (TempDir, Vec<u8>) {
    let directory = tempfile::tempdir().expect("a directory");
    let mut state = 1u64;
    let next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 56) as u8
    };
    let content: Vec<u8> = std::iter::repeat_with(next).take(size).collect();
    fs::write(directory.path().join("data"), &content).expect("written");
    (directory, content)
}

/// A free address, for the next program.
fn free_address() -> String {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a free port");
    socket.local_addr().expect("bound").to_string()
}

/// A receiver in `directory`, reachable through a path of 8 Mbit/s, 20 ms and 1 % loss.
struct Far {
    relay: Running,
    listen: String,
    advertise: String,
}

impl Far {
    fn new() -> Far {
        let listen = free_address();
        let arguments = ["emulate", "--listen", "127.0.0.1:0", "--to", &listen];
        let path = [
            "--rate", "8mbit", "--rtt", "20ms", "--loss", "1%", "--buffer", "4bdp",
        ];
        let mut relay = Running::start(Path::new("."), arguments.into_iter().chain(path));
        let line = relay.stderr_line_with("relaying");
        let advertise = line
            .split_whitespace()
            .nth(1)
            .expect("an address")
            .to_owned();
        Far {
            relay,
            listen,
            advertise,
        }
    }

    /// Starts to receive in `directory`. Returns the receiver and its ticket.
    fn receiver(&self, directory: &Path) -> (Running, String) {
        receive_at(&self.listen, directory, &["--advertise", &self.advertise])
    }
}

/// Starts to receive in `directory` with these options. Returns the receiver and its ticket.
fn receive_in(directory: &Path, options: &[&str]) -> (Running, String) {
    receive_at("127.0.0.1:0", directory, options)
}

fn receive_at(listen: &str, directory: &Path, options: &[&str]) -> (Running, String) {
    let arguments = ["recv", "--listen", listen].into_iter();
    let mut receiver = Running::start(directory, arguments.chain(options.iter().copied()));
    let ticket = receiver.stdout_line();
    (receiver, ticket)
}

/// The percentage in a line such as `data: 4.00 MB, continuing at 31 % (…)`.
fn percentage(line: &str) -> u64 {
    let before = line.split('%').next().unwrap_or_default();
    let number = before.split_whitespace().next_back().unwrap_or_default();
    number
        .parse()
        .unwrap_or_else(|_| panic!("no percentage in {line}"))
}

/// Asserts that both sides succeed, and that the file is there.
fn assert_arrived(sender: Running, receiver: Running, directory: &Path, content: &[u8]) {
    let (stdout, stderr) = sender.finish_with(0);
    assert_eq!(stdout, "");
    assert!(stderr.contains("sent data"), "{stderr}");
    let (stdout, stderr) = receiver.finish_with(0);
    assert_eq!(stdout, "");
    let hash = blake3::hash(content).to_hex();
    assert!(stderr.contains(hash.as_str()), "{stderr}");
    let received = fs::read(directory.join("data")).expect("received");
    assert!(received == content, "the content is another");
    let names: Vec<_> = fs::read_dir(directory).expect("readable").collect();
    assert_eq!(names.len(), 1, "something is left behind: {names:?}");
}

#[test]
fn a_file_crosses_a_lossy_path() {
    let (from, content) = source(1_500_000);
    let to = tempfile::tempdir().expect("a directory");
    let far = Far::new();
    let (receiver, ticket) = far.receiver(to.path());
    let sender = Running::start(from.path(), ["send", "data", &ticket]);
    assert_arrived(sender, receiver, to.path(), &content);
    far.relay.signal(Signal::INT);
    let (_, counters, _) = far.relay.finish();
    assert!(counters.contains("random losses"), "{counters}");
}

#[test]
fn a_killed_sender_continues() {
    let (from, content) = source(4_000_000);
    let to = tempfile::tempdir().expect("a directory");
    let far = Far::new();
    let (receiver, ticket) = far.receiver(to.path());
    let mut sender = Running::start(from.path(), ["send", "data", &ticket]);
    let seen = percentage(&sender.stderr_line_with("%"));
    sender.signal(Signal::KILL);
    sender.finish();
    assert!(!to.path().join("data").exists());

    let mut sender = Running::start(from.path(), ["send", "data", &ticket]);
    let continued = percentage(&sender.stderr_line_with("continuing"));
    assert!((seen..100).contains(&continued), "{seen} {continued}");
    assert_arrived(sender, receiver, to.path(), &content);
}

#[test]
fn a_killed_receiver_continues() {
    let (from, content) = source(4_000_000);
    let to = tempfile::tempdir().expect("a directory");
    let far = Far::new();
    let (receiver, ticket) = far.receiver(to.path());
    let mut sender = Running::start(from.path(), ["send", "data", &ticket]);
    let seen = percentage(&sender.stderr_line_with("%"));
    receiver.signal(Signal::KILL);
    receiver.finish();
    assert!(!to.path().join("data").exists());
    let (_, stderr) = sender.finish_with(1);
    assert!(stderr.contains("run the same command again"), "{stderr}");

    let (mut receiver, same_ticket) = far.receiver(to.path());
    assert_eq!(same_ticket, ticket);
    let sender = Running::start(from.path(), ["send", "data", &ticket]);
    let continued = percentage(&receiver.stderr_line_with("continuing at"));
    assert!((seen..100).contains(&continued), "{seen} {continued}");
    assert_arrived(sender, receiver, to.path(), &content);
}

#[test]
fn a_receiver_whose_sender_ended_is_not_told_to_run_again() {
    let (from, _) = source(4_000_000);
    let to = tempfile::tempdir().expect("a directory");
    let far = Far::new();
    let (mut receiver, ticket) = far.receiver(to.path());
    let mut sender = Running::start(from.path(), ["send", "data", &ticket]);
    sender.stderr_line_with("%");
    sender.signal(Signal::INT);
    sender.finish_with(130);
    assert_eq!(
        receiver.stderr_line_with("waiting for the sender"),
        "the peer ended the transfer (its program was ended); waiting for the sender to come back"
    );
}

#[test]
fn an_interrupted_receiver_says_what_to_do() {
    let to = tempfile::tempdir().expect("a directory");
    let (mut receiver, _) = receive_in(to.path(), &[]);
    receiver.stderr_line_with("waiting");
    receiver.signal(Signal::INT);
    let (_, stderr) = receiver.finish_with(130);
    assert_eq!(
        stderr,
        "fullpipe: interrupted; run the same command again to continue\n"
    );
}

#[test]
fn an_existing_file_is_left_alone_unless_asked() {
    let (from, content) = source(1000);
    let to = tempfile::tempdir().expect("a directory");
    fs::write(to.path().join("data"), "precious").expect("written");
    let (mut receiver, ticket) = receive_in(to.path(), &[]);
    let (_, stderr) = Running::start(from.path(), ["send", "data", &ticket]).finish_with(1);
    assert!(stderr.contains("--overwrite"), "{stderr}");
    receiver.stderr_line_with("--overwrite");
    receiver.signal(Signal::KILL);
    receiver.finish();
    assert_eq!(
        fs::read(to.path().join("data")).expect("there"),
        b"precious"
    );

    let (receiver, ticket) = receive_in(to.path(), &["--overwrite"]);
    let sender = Running::start(from.path(), ["send", "data", &ticket]);
    assert_arrived(sender, receiver, to.path(), &content);
}

#[test]
fn what_cannot_be_sent_is_named() {
    let to = tempfile::tempdir().expect("a directory");
    let (_receiver, ticket) = receive_in(to.path(), &[]);
    refused(
        ["send", "no-such-file", &ticket],
        2,
        &["no-such-file", "cannot read"],
    );
    refused(
        ["send", "no-such-file", "Cargo.toml", "nor-this", &ticket],
        2,
        &[
            "\"no-such-file\": No such file",
            "\"nor-this\": No such file",
        ],
    );
    refused(
        ["send", "/dev/null", &ticket],
        2,
        &["neither a file nor a directory"],
    );
    let known = ["magic", "bbr1", "cubic", "reno", "--controller"];
    refused(
        ["send", "Cargo.toml", &ticket, "--controller", "magic"],
        2,
        &known,
    );
    let broken = &ticket[..ticket.len() - 1];
    refused(
        ["send", "Cargo.toml", broken],
        2,
        &["the arguments: malformed ticket"],
    );
    refused(
        ["send", "Cargo.toml"],
        2,
        &["no ticket", "--ticket-file", "FULLPIPE_TICKET"],
    );
    refused(
        ["send", "Cargo.toml", &ticket, "--ticket-file", "Cargo.toml"],
        2,
        &["give one of them"],
    );
    refused(
        ["send", "Cargo.toml", "--ticket-file", "Cargo.toml"],
        2,
        &["--ticket-file Cargo.toml: malformed ticket"],
    );
    refused(["send", "-", &ticket], 2, &["--name"]);
    refused(
        ["send", "-", "--name", "../x", &ticket],
        2,
        &["--name", "path"],
    );
    refused(["send", "Cargo.toml", "--name", "x", &ticket], 2, &["`-`"]);
    refused(
        ["send", "-", "--name", "x"],
        2,
        &["stdin has the data to send"],
    );
    refused(
        ["send", "no\u{1b}[2Jfile", &ticket],
        2,
        &["no\\u{1b}[2Jfile"],
    );
}

/// The list of processes does not show the ticket, wherever it was among the arguments.
#[cfg(target_os = "linux")]
#[test]
fn a_ticket_among_the_arguments_is_wiped() {
    let (from, content) = source(1_500_000);
    let to = tempfile::tempdir().expect("a directory");
    let far = Far::new();
    let (receiver, ticket) = far.receiver(to.path());
    let mut sender = Running::start(from.path(), ["send", "data", "--restart", &ticket]);
    sender.stderr_line_with("connected");
    let list = fs::read(format!("/proc/{}/cmdline", sender.pid())).expect("runs");
    let list = String::from_utf8_lossy(&list);
    assert!(list.contains("send\0data\0--restart\0"), "{list}");
    assert!(!list.contains(&ticket[..20]), "{list}");
    assert_arrived(sender, receiver, to.path(), &content);
}

#[test]
fn a_ticket_comes_by_stdin_a_file_or_the_environment() {
    let (from, content) = source(1000);
    let path = from.path().join("ticket");
    let ways: [&dyn Fn(&str) -> assert_cmd::Command; 4] = [
        &|ticket| {
            let mut command = fullpipe(["send", "data"]);
            command.write_stdin(format!("{ticket}\n"));
            command
        },
        &|ticket| {
            let mut command = fullpipe(["send", "data", "--ticket-file", "-"]);
            command.write_stdin(ticket);
            command
        },
        &|ticket| {
            fs::write(&path, format!("{ticket}\n")).expect("written");
            fullpipe(["send", "data", "--ticket-file", "ticket"])
        },
        &|ticket| {
            let mut command = fullpipe(["send", "data"]);
            command.env("FULLPIPE_TICKET", ticket);
            command
        },
    ];
    for way in ways {
        let to = tempfile::tempdir().expect("a directory");
        let (receiver, ticket) = receive_in(to.path(), &[]);
        way(&ticket).current_dir(from.path()).assert().success();
        receiver.finish();
        assert!(fs::read(to.path().join("data")).expect("received") == content);
    }
}

/// Far more files than a process may have open.
#[test]
fn a_tree_needs_few_open_files() {
    let from = tempfile::tempdir().expect("a directory");
    let tree = from.path().join("tree");
    fs::create_dir_all(tree.join("empty")).expect("made");
    for i in 0..1_500 {
        fs::write(tree.join(i.to_string()), i.to_string()).expect("written");
    }
    let to = tempfile::tempdir().expect("a directory");
    let listen = ["recv", "--listen", "127.0.0.1:0", "--keep"];
    let mut receiver = Running::start_after(to.path(), "ulimit -n 64", listen);
    let ticket = receiver.stdout_line();
    for name in ["tree", "tree/7"] {
        let mut sender = Running::start_after(from.path(), "ulimit -n 64", ["send", name, &ticket]);
        sender.stderr_line_with("sent");
        sender.finish_with(0);
        receiver.stderr_line_with("waiting for the next transfer");
    }
    assert_eq!(
        fs::read_dir(to.path().join("tree")).expect("there").count(),
        1_501
    );
    assert_eq!(
        fs::read_to_string(to.path().join("tree/1499")).expect("there"),
        "1499"
    );
    assert_eq!(fs::read_to_string(to.path().join("7")).expect("there"), "7");
    receiver.signal(Signal::INT);
    receiver.finish_with(130);
}

#[test]
fn stdin_arrives_under_a_name() {
    let content = vec![7; 300_000];
    let to = tempfile::tempdir().expect("a directory");
    let (receiver, ticket) = receive_in(to.path(), &[]);
    let mut sender = fullpipe(["send", "-", "--name", "dump"]);
    sender
        .env("FULLPIPE_TICKET", &ticket)
        .write_stdin(content.clone());
    let output = sender.output().expect("runs");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    assert!(stderr.contains("sent dump: 300 kB"), "{stderr}");
    receiver.finish();
    assert!(fs::read(to.path().join("dump")).expect("received") == content);
}

/// Programs read one JSON document, and people one line for each name.
#[test]
fn a_result_is_one_document_and_a_name_one_line() {
    let from = tempfile::tempdir().expect("a directory");
    let tree = from.path().join("tree");
    fs::create_dir(&tree).expect("made");
    fs::write(tree.join("fine"), "fine").expect("written");
    for name in ["one\ntwo", "tab\tbell\u{7}"] {
        std::os::unix::fs::symlink("fine", tree.join(name)).expect("linked");
    }
    for is_quiet in [true, false] {
        let options: &[&str] = if is_quiet {
            &["--json", "--quiet"]
        } else {
            &["--json"]
        };
        let to = tempfile::tempdir().expect("a directory");
        let (receiver, ticket) = receive_in(to.path(), &[&["--rename"], options].concat());
        fs::write(to.path().join("tree"), "taken").expect("written");
        let arguments = ["send", "tree", &ticket].into_iter();
        let sender = Running::start(from.path(), arguments.chain(options.iter().copied()));
        let (sent, said) = sender.finish_with(0);
        let (received, heard) = receiver.finish_with(0);
        for document in [&sent, &received] {
            assert_eq!(document.matches('\n').count(), 1, "{document}");
            let document: serde_json::Value = serde_json::from_str(document).expect("JSON");
            assert_eq!(document["files"], 1, "{document}");
            assert_eq!(document["directories"], 1, "{document}");
            assert_eq!(document["data_bytes"], 4, "{document}");
        }
        let sent: serde_json::Value = serde_json::from_str(&sent).expect("JSON");
        assert_eq!(sent["skipped"][0]["path"], "tree/one\ntwo", "{sent}");
        let received: serde_json::Value = serde_json::from_str(&received).expect("JSON");
        assert_eq!(received["renamed"][0]["path"], "tree", "{received}");
        assert_eq!(received["renamed"][0]["to"], "tree (2)", "{received}");
        if is_quiet {
            assert_eq!([said, heard], ["", ""]);
            continue;
        }
        let lines: Vec<&str> = said
            .lines()
            .filter(|line| line.contains("is not sent"))
            .collect();
        assert_eq!(
            lines,
            [
                "warning: tree/one\\ntwo is not sent: it is a symbolic link",
                "warning: tree/tab\\tbell\\u{7} is not sent: it is a symbolic link",
            ]
        );
    }
}

#[test]
fn where_nothing_can_be_received_is_named() {
    let taken = UdpSocket::bind("127.0.0.1:0").expect("a free port");
    let address = taken.local_addr().expect("bound").to_string();
    let to = tempfile::tempdir().expect("a directory");
    let out = to.path().to_str().expect("a name");
    refused(
        ["recv", "--listen", &address, "--out", out],
        1,
        &["cannot bind", &address],
    );
    let file = to.path().join("file");
    fs::write(&file, "").expect("written");
    let file = file.to_str().expect("a name");
    refused(
        ["recv", "--listen", "127.0.0.1:0", "--out", file],
        2,
        &["--out", file],
    );
}
