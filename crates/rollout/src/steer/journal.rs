//! A journal: one JSON line for each event, appended to a file. It contains the policies that were in force.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use files::regular;
use serde::Deserialize;
use serde_json::{Value, json};

/// The maximum number of lines that wait for room on the disk. Further lines are lost.
const MAX_WAITING_LINES: usize = 1000;

/// The maximum size of the waiting lines in bytes, because some lines contain a policy.
const MAX_WAITING_BYTES: usize = 16 << 20;

/// The maximum length of a line that is read, in bytes: more than twice the length of a line with the largest policy.
const MAX_LINE_BYTES: u64 = 32 << 20;

/// Writes whole lines, in order, as soon as there is room for them.
#[derive(Debug)]
pub(super) struct Journal<W> {
    to: W,
    /// The lines that wait.
    waiting: VecDeque<Vec<u8>>,
    /// The number of written bytes of the first waiting line.
    begun: usize,
    lost: u64,
}

impl Journal<File> {
    /// Opens this file to append to it. Creates the file if it does not exist.
    pub fn open(path: &Path) -> io::Result<Journal<File>> {
        let file = regular::append_own(path)?;
        let is_cut = is_cut(&file)?;
        let mut journal = Journal::to(file);
        if is_cut {
            journal.waiting.push_back(b"\n".to_vec());
        }
        Ok(journal)
    }
}

/// True if a file's last line has no end: its writer was killed while the disk was full, or the machine has crashed.
fn is_cut(file: &File) -> io::Result<bool> {
    let mut last = *b"\n";
    if let Some(place) = file.metadata()?.len().checked_sub(1) {
        file.read_exact_at(&mut last, place)?;
    }
    Ok(last != *b"\n")
}

impl<W: Write> Journal<W> {
    pub fn to(to: W) -> Journal<W> {
        Journal {
            to,
            waiting: VecDeque::new(),
            begun: 0,
            lost: 0,
        }
    }

    /// Adds a line. Returns the problem if lines cannot be written yet.
    pub fn note(&mut self, unix_s: f64, what: &str, about: &Value) -> Option<String> {
        let line = json!({ "unix_s": unix_s, "what": what, "about": about });
        let line = format!("{line}\n").into_bytes();
        let waiting: usize = self.waiting.iter().map(Vec::len).sum();
        if self.waiting.len() < MAX_WAITING_LINES
            && (waiting == 0 || waiting + line.len() <= MAX_WAITING_BYTES)
        {
            self.waiting.push_back(line);
        } else {
            self.lost += 1;
        }
        self.write()
    }

    /// Writes the waiting lines. Returns the problem if lines still wait.
    pub fn write(&mut self) -> Option<String> {
        while let Some(line) = self.waiting.front() {
            // Each line is written with one call, so a killed process does not leave a part of a line.
            match self.to.write(line.get(self.begun..).unwrap_or_default()) {
                Ok(0) => return Some(self.told("no space")),
                Ok(written) => self.begun += written,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Some(self.told(&error.to_string())),
            }
            if self.begun >= line.len() {
                self.begun = 0;
                self.waiting.pop_front();
            }
        }
        None
    }

    fn told(&self, why: &str) -> String {
        let what = if self.lost > 0 {
            "lines are lost"
        } else {
            "its lines wait"
        };
        format!("--journal: {why}; {what}, and connections are steered")
    }
}

/// The policies in a journal.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct History {
    /// The text of the policy that was last put in force; empty if there is none.
    pub last: String,
    /// The text of the policy before it, which has a different text.
    pub before: Option<String>,
    /// The file from which the last policy was read, if the journal names it.
    pub file: Option<PathBuf>,
}

/// The policies in the journal in this file.
///
/// # Errors
///
/// The file cannot be read, has a line that is too long for a journal, or another user can write to it.
pub fn history(path: &Path) -> io::Result<History> {
    History::read(BufReader::new(regular::open_trusted(path)?))
}

/// The fields of a line that are read. Other fields are ignored.
#[derive(Deserialize)]
struct Line {
    what: String,
    about: About,
}

#[derive(Deserialize)]
struct About {
    policy: Option<String>,
    file: Option<PathBuf>,
}

impl History {
    fn read(mut journal: impl BufRead) -> io::Result<History> {
        let (mut history, mut line) = (History::default(), Vec::new());
        for number in 1_u64.. {
            line.clear();
            let read = (&mut journal)
                .take(MAX_LINE_BYTES + 1)
                .read_until(b'\n', &mut line)?;
            if read as u64 > MAX_LINE_BYTES {
                return Err(io::Error::other(format!(
                    "line {number} is longer than {} MiB: that is not a journal of ours",
                    MAX_LINE_BYTES >> 20
                )));
            }
            if read == 0 {
                break;
            }
            history.add(&line);
        }
        Ok(history)
    }

    /// A line that is not a journal's has no policy.
    fn add(&mut self, line: &[u8]) {
        if let Ok(Line { what, about }) = serde_json::from_slice(line)
            && let "began" | "reloaded" = what.as_str()
        {
            self.file = about.file;
            if let Some(text) = about.policy.filter(|text| *text != self.last) {
                let before = std::mem::replace(&mut self.last, text);
                self.before = (!before.is_empty()).then_some(before);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// A disk with a given amount of room.
    struct Disk<'r> {
        room: &'r Cell<usize>,
        has: Vec<u8>,
    }

    impl Write for Disk<'_> {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let written = bytes.len().min(self.room.get());
            if written == 0 && !bytes.is_empty() {
                return Err(io::Error::from(io::ErrorKind::StorageFull));
            }
            self.room.set(self.room.get() - written);
            self.has.extend(&bytes[..written]);
            Ok(written)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_journal_has_the_policy_before() {
        let mut journal = Journal::to(Vec::new());
        let history = |journal: &Journal<Vec<u8>>| History::read(journal.to.as_slice()).unwrap();
        assert_eq!(history(&journal), History::default());
        let policy = |text: &str| json!({ "rules": [], "policy": text });
        journal.note(1.0, "began", &policy("a"));
        assert_eq!(history(&journal).before, None);
        journal.note(2.0, "reloaded", &policy("b\n"));
        assert_eq!(history(&journal).last, "b\n");
        journal.note(3.0, "refused", &policy("c"));
        journal.note(4.0, "reloaded", &json!({ "rules": [] }));
        journal.note(5.0, "ended", &Value::Null);
        // Begun again with the same policy.
        journal.note(6.0, "began", &policy("b\n"));
        assert_eq!(history(&journal).file, None);
        journal.note(7.0, "reloaded", &json!({ "rules": [], "file": "/b" }));
        journal.to.extend(b"{ no line of ours\n");
        let found = history(&journal);
        assert_eq!(
            (found.last.as_str(), found.before.as_deref()),
            ("b\n", Some("a"))
        );
        assert_eq!(found.file.as_deref(), Some(Path::new("/b")));
    }

    #[test]
    fn a_line_that_was_cut_takes_no_other_with_it() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("journal");
        let note = |policy: &str| {
            let about = json!({ "rules": [], "policy": policy });
            let mut journal = Journal::open(&path).unwrap();
            assert_eq!(journal.note(1.0, "began", &about), None);
        };
        note("a");
        let whole = std::fs::read(&path).unwrap();
        let cut = [whole.as_slice(), &whole[..whole.len() / 2]].concat();
        std::fs::write(&path, cut).unwrap();
        note("b");
        note("c");
        let found = history(&path).unwrap();
        assert_eq!(
            (found.last.as_str(), found.before.as_deref()),
            ("c", Some("b"))
        );
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text.lines().count(), 4);
    }

    #[test]
    fn a_line_without_an_end_is_not_read_to_it() {
        let endless = || io::BufReader::new(io::repeat(b'x'));
        let error = History::read(endless()).unwrap_err().to_string();
        assert!(error.starts_with("line 1 is longer than 32 MiB"), "{error}");
        let behind = b"{}\n".as_slice().chain(endless());
        let error = History::read(behind).unwrap_err().to_string();
        assert!(error.starts_with("line 2 "), "{error}");
        // The end of the line is part of its length.
        let longest = "x".repeat(MAX_LINE_BYTES as usize - 1) + "\n";
        assert_eq!(
            History::read(longest.as_bytes()).unwrap(),
            History::default()
        );
    }

    #[test]
    fn long_lines_do_not_wait_without_end() {
        let room = Cell::new(0);
        let mut journal = Journal::to(Disk {
            room: &room,
            has: Vec::new(),
        });
        let text = Value::from("x".repeat(MAX_WAITING_BYTES / 4));
        for _ in 0..10 {
            journal.note(1.0, "reloaded", &text);
        }
        assert_eq!((journal.waiting.len(), journal.lost), (3, 7));
        // A line that is longer than the limit waits alone.
        journal.waiting.clear();
        let text = Value::from("x".repeat(MAX_WAITING_BYTES));
        for _ in 0..2 {
            journal.note(1.0, "reloaded", &text);
        }
        assert_eq!((journal.waiting.len(), journal.lost), (1, 8));
    }

    #[test]
    fn on_a_full_disk_lines_wait_and_none_is_broken() {
        let room = Cell::new(100);
        let has = Vec::new();
        let mut journal = Journal::to(Disk { room: &room, has });
        let mut troubles = Vec::new();
        for number in 0..MAX_WAITING_LINES + 10 {
            troubles.extend(journal.note(7.0, "began", &Value::from(number)));
        }
        assert!(troubles[0].contains("its lines wait"), "{troubles:?}");
        assert!(troubles[troubles.len() - 1].contains("lines are lost"));
        assert_eq!(journal.waiting.len(), MAX_WAITING_LINES);
        let lost = journal.lost;
        assert!(lost > 0);
        // The disk gets a little room at a time.
        while !journal.waiting.is_empty() {
            room.set(37);
            journal.write();
        }
        room.set(1000);
        assert_eq!(journal.note(8.0, "ended", &Value::Null), None);
        let text = String::from_utf8(journal.to.has).unwrap();
        let lines: Vec<Value> = text
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert_eq!(lines.len() as u64, MAX_WAITING_LINES as u64 + 10 - lost + 1);
        assert!(
            (0..)
                .zip(&lines[..MAX_WAITING_LINES])
                .all(|(number, line)| line["about"] == number)
        );
        assert_eq!(lines[lines.len() - 1]["what"], "ended");
    }
}
