//! A writer that is killed at any time, or meets a full disk, leaves the old file or the new one.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use files::{NewDirectory, Readers, tidy, write};

/// The number of writers that are killed in turn.
const KILLS: u64 = 60;

/// The maximum life of a writer after its first version. It writes several versions in this time.
const MAX_LIFE: Duration = Duration::from_millis(20);

/// The variable with the directory in which a child process writes.
const DIRECTORY: &str = "FULLPIPE_TEST_DIRECTORY";

/// The files of the written directory.
const PARTS: [&str; 2] = ["a", "b"];

/// The whole contents of a version: its number, repeatedly, with a length that depends on the number.
fn contents(version: u64) -> Vec<u8> {
    let count = 1 + version * 7919 % 20_011;
    version.to_le_bytes().repeat(count as usize)
}

/// Returns the version of the file, which must be whole.
fn version(path: &Path) -> u64 {
    let read = fs::read(path).expect("the file is there");
    let (first, _) = read.split_first_chunk().expect("the file has contents");
    let version = u64::from_le_bytes(*first);
    assert!(read == contents(version), "a torn file of {version}");
    version
}

fn write_directory(path: &Path, contents: &[u8]) -> Result<(), files::WriteError> {
    let new = NewDirectory::create(path)?;
    for part in PARTS {
        fs::write(new.part().join(part), contents).map_err(|source| files::WriteError {
            path: path.to_owned(),
            source,
        })?;
    }
    new.commit().map_err(|error| match error {
        files::CommitError::Write(error) => error,
        left => panic!("{left}"),
    })
}

/// Returns this program's command for one of its ignored tests, in a directory.
fn child(test: &str, directory: &Path) -> Vec<OsString> {
    let mut variable = OsString::from(format!("{DIRECTORY}="));
    variable.push(directory);
    let program = std::env::current_exe().expect("a program").into();
    let options = ["--exact", "--ignored", "--nocapture"].map(OsString::from);
    [
        ["env".into(), variable, program, test.into()].as_slice(),
        &options,
    ]
    .concat()
}

fn own_directory() -> PathBuf {
    std::env::var_os(DIRECTORY)
        .expect("started by another test")
        .into()
}

/// Writes versions until it is killed, from the next one on. Reports the written ones on stderr.
#[test]
#[ignore = "a child of a_killed_writer_leaves_a_whole_version"]
fn writer() {
    let directory = own_directory();
    let (file, both) = (directory.join("file"), directory.join("both"));
    for version in version(&file) + 1.. {
        write_directory(&both, &contents(version)).expect("written");
        write(&file, &contents(version), Readers::Everybody).expect("written");
        eprintln!("{version}");
    }
}

/// Starts a writer, reads its file repeatedly, and kills it after this time. Returns the last version that it reported.
fn kill_after(life: Duration, directory: &Path) -> u64 {
    let line = child("writer", directory);
    let mut command = Command::new(&line[0]);
    command.args(&line[1..]);
    command.stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("a child");
    let mut said = BufReader::new(child.stderr.take().expect("its stderr"));
    let mut lines = String::new();
    said.read_line(&mut lines).expect("it has written");
    let begin = Instant::now();
    while begin.elapsed() < life {
        version(&directory.join("file"));
    }
    child.kill().expect("killed");
    child.wait().expect("ended");
    said.read_to_string(&mut lines).expect("what it said");
    // The last line may be torn.
    let whole = lines.rsplit_once('\n').map_or("", |(whole, _)| whole);
    let last = whole.lines().last().expect("a version");
    last.parse().unwrap_or_else(|_| panic!("{lines}"))
}

#[test]
fn a_killed_writer_leaves_a_whole_version() {
    let home = tempfile::tempdir().expect("a directory");
    let directory = home.path();
    let (file, both) = (directory.join("file"), directory.join("both"));
    let count = || fs::read_dir(directory).expect("readable").count();
    write(&file, &contents(1), Readers::Everybody).expect("written");
    write_directory(&both, &contents(1)).expect("written");
    let (mut random, mut interrupted) = (1_u64, 0);
    for _ in 0..KILLS {
        // Knuth's generator (MMIX).
        random = random.wrapping_mul(6_364_136_223_846_793_005);
        random = random.wrapping_add(1_442_695_040_888_963_407);
        let life = MAX_LIFE.mul_f64((random >> 11) as f64 / (1_u64 << 53) as f64);
        let said = kill_after(life, directory);
        let now = version(&file);
        assert!(now >= said, "{said} was written, and now there is {now}");
        // At most one writer has left of each.
        assert!(count() <= 4, "{} entries", count());
        interrupted += u64::from(count() > 2);
        tidy(directory, Some(OsStr::new("both")), |_| true);
        let parts = PARTS.map(|part| version(&both.join(part)));
        assert!(parts[0] == parts[1] && parts[0] >= said, "{parts:?}");
    }
    assert!(interrupted > 0, "no writer was killed while it wrote");
    write(&file, &contents(1), Readers::Everybody).expect("written");
    assert_eq!(count(), 2);
}

#[test]
#[ignore = "a child of a_full_disk_changes_nothing"]
fn on_a_small_disk() {
    let directory = own_directory();
    let names = || {
        let entries = fs::read_dir(&directory).expect("readable");
        let mut names: Vec<_> = entries.map(|of| of.expect("read").file_name()).collect();
        names.sort();
        names
    };
    let (file, both) = (directory.join("file"), directory.join("both"));
    let too_much = vec![7; 1 << 20];
    for size in [1000, 2000, 3000] {
        let small = vec![7; size];
        write(&file, &small, Readers::Everybody).expect("there is room");
        write_directory(&both, &small).expect("there is room");
        for error in [
            write(&file, &too_much, Readers::Everybody).expect_err("no room"),
            write_directory(&both, &too_much).expect_err("no room"),
            write(&directory.join("new"), &too_much, Readers::Owner).expect_err("no room"),
        ] {
            assert_eq!(error.source.kind(), ErrorKind::StorageFull, "{error}");
            assert!(error.to_string().contains(" write "), "{error}");
        }
        assert_eq!(names(), ["both", "file"]);
        assert_eq!(fs::read(&file).expect("there"), small);
        for part in PARTS {
            assert_eq!(fs::read(both.join(part)).expect("there"), small);
        }
    }
}

#[test]
fn a_full_disk_changes_nothing() {
    let home = tempfile::tempdir().expect("a directory");
    let mount = "mount -t tmpfs -o size=64k none \"$0\" && exec \"$@\"";
    let inside = |command: &[OsString]| {
        let mut unshare = Command::new("unshare");
        unshare.args(["-m", "sh", "-c", mount]).arg(home.path());
        unshare.args(command).output()
    };
    if !inside(&["true".into()]).is_ok_and(|tried| tried.status.success()) {
        skipping::skip!("a full disk: this takes root and unshare");
        return;
    }
    let done = inside(&child("on_a_small_disk", home.path())).expect("a child");
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{said}");
    let said = String::from_utf8_lossy(&done.stdout);
    assert!(said.contains("1 passed"), "{said}");
}
