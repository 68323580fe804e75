//! A journal: a line of JSON for each thing that has happened, appended to a file.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use serde_json::{Value, json};

/// So many lines wait for room on the disk; more are lost.
const WAITING: usize = 1000;

/// Lines that are written whole, in order, as soon as there is room for them.
#[derive(Debug)]
pub(super) struct Journal<W> {
    to: W,
    /// What is not written yet.
    waiting: VecDeque<Vec<u8>>,
    /// How much of the first of these is.
    begun: usize,
    lost: u64,
}

impl Journal<File> {
    /// Appends to this file, which is made if it is not there.
    pub fn open(path: &Path) -> io::Result<Journal<File>> {
        Ok(Journal::to(scenario::regular::append_own(path)?))
    }
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

    /// Notes something; what is wrong, if it cannot be written yet.
    pub fn note(&mut self, unix_s: f64, what: &str, about: &Value) -> Option<String> {
        if self.waiting.len() < WAITING {
            let line = json!({ "unix_s": unix_s, "what": what, "about": about });
            self.waiting.push_back(format!("{line}\n").into_bytes());
        } else {
            self.lost += 1;
        }
        self.write()
    }

    /// Writes what waits; what is wrong, if something still does.
    pub fn write(&mut self) -> Option<String> {
        while let Some(line) = self.waiting.front() {
            // A line in one call: whoever is killed leaves no part of one.
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

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// A disk with so much room.
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
    fn on_a_full_disk_lines_wait_and_none_is_broken() {
        let room = Cell::new(100);
        let has = Vec::new();
        let mut journal = Journal::to(Disk { room: &room, has });
        let mut troubles = Vec::new();
        for number in 0..WAITING + 10 {
            troubles.extend(journal.note(7.0, "began", &Value::from(number)));
        }
        assert!(troubles[0].contains("its lines wait"), "{troubles:?}");
        assert!(troubles[troubles.len() - 1].contains("lines are lost"));
        let lost = journal.lost;
        assert!(lost > 0);
        // A little room at a time.
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
        assert_eq!(lines.len() as u64, WAITING as u64 + 10 - lost + 1);
        assert!(
            (0..)
                .zip(&lines[..WAITING])
                .all(|(number, line)| line["about"] == number)
        );
        assert_eq!(lines[lines.len() - 1]["what"], "ended");
    }
}
