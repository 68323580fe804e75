//! The journal of verified blocks and files, which need not be sent again.
//!
//! A list of records, each appended after its block was verified and written: the file (a hash of its path), the block
//! (eight bytes, little-endian), and the block's hash. The last record of a file has the file's own hash. Nothing in
//! the journal is trusted without reading the file again: a torn or damaged record, or a block that was lost in a
//! power failure, is not verified, and is sent again.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};

use data_encoding::HEXLOWER;

use crate::directory::Directory;
use crate::message::Offered;
use crate::tree::Hash;

/// The index in a record of a whole file.
pub const WHOLE_FILE: u64 = u64::MAX;

const KEY_LEN: usize = 16;
const INDEX_LEN: usize = 8;

/// The size of a record in bytes.
pub const RECORD_LEN: usize = KEY_LEN + INDEX_LEN + blake3::OUT_LEN;

/// A hash of a path, because paths may be long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key([u8; KEY_LEN]);

impl Key {
    /// The key of `path`.
    pub fn of(path: &str) -> Key {
        Key::of_all([path])
    }

    /// The key of these paths together.
    pub fn of_all<'a>(paths: impl IntoIterator<Item = &'a str>) -> Key {
        let mut hasher = blake3::Hasher::new();
        for (place, path) in paths.into_iter().enumerate() {
            // No path contains a line feed.
            hasher.update(if place == 0 { &b""[..] } else { b"\n" });
            hasher.update(path.as_bytes());
        }
        let mut key = [0; KEY_LEN];
        hasher.finalize_xof().fill(&mut key);
        Key(key)
    }

    /// The key as text, for names.
    pub fn text(self) -> String {
        HEXLOWER.encode(&self.0)
    }

    /// The name of the file's part in the state folder.
    pub fn part(self) -> String {
        self.text() + ".part"
    }
}

/// A record: the hash of a block or, with the index [`WHOLE_FILE`], of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record {
    pub key: Key,
    pub index: u64,
    pub hash: Hash,
}

impl Record {
    /// The record of the block `index` of `offered`, or of the whole file.
    pub fn of(offered: &Offered, index: u64, hash: Hash) -> Record {
        let key = Key::of(&offered.path);
        Record { key, index, hash }
    }
}

/// The records of a journal: the latest of each block.
#[derive(Debug, Default)]
pub struct Records(Vec<Record>);

impl Records {
    /// Reads the journal `name` in `state`; a missing one is empty.
    pub fn read(state: &Directory, name: &str) -> io::Result<Records> {
        let mut bytes = Vec::new();
        match state.read(name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            opened => {
                opened?.read_to_end(&mut bytes)?;
            }
        }
        Ok(Records::parse(&bytes))
    }

    /// Parses the records in a journal's bytes.
    pub fn parse(bytes: &[u8]) -> Records {
        let (records, _torn) = bytes.as_chunks::<RECORD_LEN>();
        let mut records: Vec<Record> = records.iter().filter_map(parse).collect();
        // The sort is stable: the latest of equal records is the last.
        records.sort_by_key(|record| (record.key, record.index));
        Records(records)
    }

    /// The records of a file, in the order of its blocks.
    pub fn of(&self, key: Key) -> &[Record] {
        let start = self.0.partition_point(|record| record.key < key);
        let rest = self.0.get(start..).unwrap_or_default();
        let count = rest.partition_point(|record| record.key == key);
        rest.get(..count).unwrap_or_default()
    }

    /// Keeps only the records of files for which `keep` is true.
    pub fn retain(&mut self, mut keep: impl FnMut(Key) -> bool) {
        let mut latest = None;
        self.0.retain(|record| match latest {
            Some((key, kept)) if key == record.key => kept,
            _ => {
                let kept = keep(record.key);
                latest = Some((record.key, kept));
                kept
            }
        });
    }

    /// True if there are no records.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Encodes exactly these records.
    pub fn encode(&self) -> Vec<u8> {
        self.0.iter().flat_map(encode).collect()
    }
}

fn parse(record: &[u8; RECORD_LEN]) -> Option<Record> {
    let (key, rest) = record.split_first_chunk::<KEY_LEN>()?;
    let (index, hash) = rest.split_first_chunk::<INDEX_LEN>()?;
    Some(Record {
        key: Key(*key),
        index: u64::from_le_bytes(*index),
        hash: hash.try_into().ok()?,
    })
}

fn encode(record: &Record) -> [u8; RECORD_LEN] {
    let mut bytes = [0; RECORD_LEN];
    let (key, rest) = bytes.split_at_mut(KEY_LEN);
    let (index, hash) = rest.split_at_mut(INDEX_LEN);
    key.copy_from_slice(&record.key.0);
    index.copy_from_slice(&record.index.to_le_bytes());
    hash.copy_from_slice(&record.hash);
    bytes
}

/// A journal that is open for appending.
#[derive(Debug)]
pub struct Journal {
    file: File,
}

impl Journal {
    /// Opens the journal `name` in `state`, and creates it if it is missing. A torn record at its end is removed.
    pub fn open(state: &Directory, name: &str) -> io::Result<Journal> {
        let mut file = state.write(name, false)?;
        let len = file.metadata()?.len();
        file.set_len(len - len % RECORD_LEN as u64)?;
        file.seek(SeekFrom::End(0))?;
        Ok(Journal { file })
    }

    /// Appends records.
    pub fn append(&mut self, records: &[Record]) -> io::Result<()> {
        let bytes: Vec<u8> = records.iter().flat_map(encode).collect();
        self.file.write_all(&bytes)
    }

    /// Makes the records durable.
    pub fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_record_is_the_last_and_torn_ones_go() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("journal");
        let state = Directory::open(dir.path()).unwrap();
        let read = || Records::read(&state, "journal").unwrap();
        let append = |records: &[Record]| {
            let journal = Journal::open(&state, "journal");
            journal.unwrap().append(records).unwrap();
        };
        assert!(read().is_empty());
        let record = |name, index, byte| Record {
            key: Key::of(name),
            index,
            hash: [byte; 32],
        };
        let (b1, a7, a3) = (record("b", 1, 1), record("a", 7, 2), record("a", 3, 3));
        append(&[b1, a7]);
        let mut torn = std::fs::read(&path).unwrap();
        torn.extend([9; RECORD_LEN - 1]);
        std::fs::write(&path, torn).unwrap();
        let a7_again = record("a", 7, 4);
        append(&[a3, a7_again]);
        let mut records = read();
        assert_eq!(records.of(Key::of("a")), [a3, a7, a7_again]);
        assert_eq!(records.of(Key::of("b")), [b1]);
        assert_eq!(records.of(Key::of("c")), []);
        records.retain(|key| key == Key::of("b"));
        assert_eq!(records.encode(), encode(&b1));
    }
}
