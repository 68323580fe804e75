//! `fullpipe recv` on file systems that treat two names as one. They are made with FUSE; where that is impossible, the
//! tests are skipped.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::process::Signal;
use tempfile::TempDir;

use crate::support::Running;

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fuse/folding.py");

/// The system's Python has the system's packages.
const PYTHONS: [&str; 2] = ["python3", "/usr/bin/python3"];

/// A mounted file system, which is unmounted when it is dropped.
struct Mounted {
    process: Child,
    mount: PathBuf,
    _directory: TempDir,
}

impl Mounted {
    /// Mounts an empty file system that treats names as one according to `kind`; `None` if it cannot be mounted here.
    fn new(kind: &str) -> Option<Mounted> {
        let has_fuse = |python: &&str| {
            let mut command = Command::new(python);
            let command =
                command.args(["-c", "try: import fusepy\nexcept ImportError: import fuse"]);
            let output = command.output();
            output.is_ok_and(|output| output.status.success())
        };
        let Some(python) = PYTHONS.into_iter().find(has_fuse) else {
            skipping::skip!("no Python has fusepy (python3-fusepy and fuse3 on Debian)");
            return None;
        };
        let directory = tempfile::tempdir().expect("a directory");
        let [root, mount] = ["root", "mount"].map(|name| directory.path().join(name));
        for path in [&root, &mount] {
            fs::create_dir(path).expect("made");
        }
        let mut command = Command::new(python);
        command.arg(SCRIPT).args([&root, &mount]).arg(kind);
        let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = command.spawn().expect("started");
        let stdout = process.stdout.take().expect("piped");
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line).expect("read");
        if line.trim() != "Ready" {
            let output = process.wait_with_output().expect("ended");
            skipping::skip!("{}", String::from_utf8_lossy(&output.stderr));
            return None;
        }
        Some(Mounted {
            process,
            mount,
            _directory: directory,
        })
    }

    /// The names and their contents, sorted, without the state of transfers.
    fn contents(&self) -> Vec<(String, String)> {
        let entries = fs::read_dir(&self.mount).expect("there");
        let paths = entries.map(|entry| entry.expect("readable").path());
        let files = paths.filter(|path| path.is_file()).map(|path| {
            let name = path.file_name().expect("a name").to_string_lossy();
            let content = fs::read_to_string(&path).expect("readable");
            (name.into_owned(), content)
        });
        let mut files: Vec<_> = files.collect();
        files.sort();
        files
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let unmounted = ["fusermount3", "fusermount"].iter().any(|program| {
            let mut command = Command::new(program);
            let status = command.arg("-u").arg(&self.mount).status();
            status.is_ok_and(|status| status.success())
        });
        if !unmounted {
            let _ = self.process.kill();
        }
        let _ = self.process.wait();
    }
}

/// Sends `names` from `from` to a receiver with these options at `out`. Returns the sender's exit code, and the output
/// of both sides.
fn transfer(
    from: &Path,
    names: &[&str],
    out: &Path,
    send: &[&str],
    recv: &[&str],
) -> (i32, String) {
    let listen = ["recv", "--listen", "127.0.0.1:0"];
    let mut receiver = Running::start(out, listen.iter().chain(recv).copied());
    let ticket = receiver.stdout_line();
    let arguments = ["send", &ticket].into_iter().chain(names.iter().copied());
    let sender = Running::start(from, arguments.chain(send.iter().copied()));
    let (status, _, mut said) = sender.finish();
    if !status.success() {
        receiver.stderr_line_with("waiting for the sender");
        receiver.signal(Signal::INT);
    }
    let (_, _, heard) = receiver.finish();
    said += &heard;
    (status.code().expect("an exit code"), said)
}

/// Kinds of file systems, each with three names that it treats as one.
const ONE: [(&str, [&str; 3]); 2] = [
    ("case", ["README", "Readme", "readme"]),
    ("unicode", ["é\u{323}", "e\u{323}\u{301}", "ẹ\u{301}"]),
];

#[test]
fn two_names_that_are_one_lose_nothing() {
    for (kind, [first, second, _]) in ONE {
        let from = tempfile::tempdir().expect("a directory");
        for name in [first, second, "other"] {
            fs::write(from.path().join(name), name).expect("written");
        }
        let names = [first, second, "other"];
        let ways: [(&[&str], &[&str]); 4] = [
            (&[], &[]),
            (&[], &["--overwrite"]),
            (&["--skip"], &[]),
            (&["--skip"], &["--overwrite"]),
        ];
        for (send, recv) in ways {
            let Some(there) = Mounted::new(kind) else {
                return;
            };
            let (code, said) = transfer(from.path(), &names, &there.mount, send, recv);
            assert_eq!(code, 1, "{kind} {send:?} {recv:?}: {said}");
            for part in [&format!("{first:?}"), &format!("{second:?}"), "--rename"] {
                assert!(said.contains(part), "{kind} {recv:?}: {said}");
            }
            assert_eq!(there.contents(), [], "{kind} {recv:?}");
        }
        let Some(there) = Mounted::new(kind) else {
            return;
        };
        let (code, said) = transfer(from.path(), &names, &there.mount, &[], &["--rename"]);
        assert_eq!(code, 0, "{kind}: {said}");
        let other = format!("{second} (2)");
        let pair = |name: &str, content: &str| (name.to_owned(), content.to_owned());
        let mut expected = vec![
            pair(first, first),
            pair(&other, second),
            pair("other", "other"),
        ];
        expected.sort();
        assert_eq!(there.contents(), expected, "{kind}: {said}");
    }
}

#[test]
fn a_file_that_is_there_under_the_same_name_is_left_alone_unless_asked() {
    for (kind, [first, _, old]) in ONE {
        let from = tempfile::tempdir().expect("a directory");
        fs::write(from.path().join(first), "new").expect("written");
        let renamed = format!("{first} (2)");
        let ways = [
            (None, 1, vec![(old, "old")]),
            (Some("--overwrite"), 0, vec![(old, "new")]),
            (
                Some("--rename"),
                0,
                vec![(renamed.as_str(), "new"), (old, "old")],
            ),
        ];
        for (option, expected_code, expected) in ways {
            let recv = option.as_slice();
            let Some(there) = Mounted::new(kind) else {
                return;
            };
            fs::write(there.mount.join(old), "old").expect("written");
            let (code, said) = transfer(from.path(), &[first], &there.mount, &[], recv);
            assert_eq!(code, expected_code, "{kind} {recv:?}: {said}");
            let pair = |(name, content): (&str, &str)| (name.to_owned(), content.to_owned());
            let mut expected: Vec<_> = expected.into_iter().map(pair).collect();
            expected.sort();
            assert_eq!(there.contents(), expected, "{kind} {recv:?}: {said}");
        }
    }
}
