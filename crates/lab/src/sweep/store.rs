//! The runs that are done, on disk: one line of JSON a run, so that a sweep goes on where it was ended.

use std::collections::HashMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The runs that are done.
#[derive(Debug)]
pub struct Store {
    path: PathBuf,
    file: File,
    done: HashMap<String, Value>,
}

/// A line of the file.
#[derive(Debug, Serialize, Deserialize)]
struct Line<V> {
    /// What tells the run from every other one.
    key: String,
    /// What it was, for people.
    run: String,
    /// The record's summary.
    summary: V,
}

/// Why results cannot be kept.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Another sweep writes to the same file.
    #[error("{} is in use by another sweep", .0.display())]
    Locked(PathBuf),
    /// The file cannot be read or written.
    #[error("cannot keep results in {}: {source}", .file.display())]
    File {
        /// The file.
        file: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl Store {
    /// The name of the file in a sweep's directory.
    pub const FILE: &'static str = "runs.jsonl";

    /// Opens the file in `directory`, or makes one, and reads what is done. A line that was torn when an earlier sweep
    /// was killed is cut off; lines that are none of ours count as not there. Results of runs that the sweep no longer
    /// has are left alone.
    ///
    /// # Errors
    ///
    /// The file cannot be used, or another sweep uses it.
    pub fn open(directory: &Path) -> Result<Store, StoreError> {
        let path = directory.join(Store::FILE);
        let failed = |source| StoreError::File {
            file: path.clone(),
            source,
        };
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(StoreError::Locked(path)),
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(failed)?;
        let whole = bytes
            .iter()
            .rposition(|byte| *byte == b'\n')
            .map_or(0, |last| last + 1);
        if whole < bytes.len() {
            file.set_len(whole as u64).map_err(failed)?;
        }
        file.seek(SeekFrom::Start(whole as u64)).map_err(failed)?;
        let lines = bytes.get(..whole).unwrap_or_default();
        let done = lines
            .split(|byte| *byte == b'\n')
            .filter_map(|line| serde_json::from_slice::<Line<Value>>(line).ok())
            .map(|line| (line.key, line.summary))
            .collect();
        Ok(Store { path, file, done })
    }

    /// The summary of the run with this key, if it is done.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.done.get(key)
    }

    /// Keeps the summary of the run with this key, which people know as `run`. Returns when it is on the disk.
    ///
    /// # Errors
    ///
    /// It could not be written.
    pub fn put(
        &mut self,
        key: &str,
        run: &str,
        summary: &impl Serialize,
    ) -> Result<(), StoreError> {
        let kept = (|| {
            let mut text = serde_json::to_string(&Line {
                key: key.to_string(),
                run: run.to_string(),
                summary,
            })?;
            // What is read back later and what is used now are the same, to the last bit.
            let line: Line<Value> = serde_json::from_str(&text)?;
            text.push('\n');
            self.file.write_all(text.as_bytes())?;
            self.file.sync_data()?;
            self.done.insert(line.key, line.summary);
            Ok(())
        })();
        kept.map_err(|source: io::Error| StoreError::File {
            file: self.path.clone(),
            source,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::fs;

    #[test]
    fn what_is_put_is_there_again() {
        let directory = tempfile::tempdir().unwrap();
        let summary = json!({ "jain": 0.1 + 0.2, "flows": [] });
        let mut store = Store::open(directory.path()).unwrap();
        assert_eq!(store.get("a"), None);
        store.put("a", "path.loss=1% repeat 0", &summary).unwrap();
        assert_eq!(store.get("a"), Some(&summary));
        assert!(matches!(
            Store::open(directory.path()),
            Err(StoreError::Locked(_))
        ));
        drop(store);
        let store = Store::open(directory.path()).unwrap();
        assert_eq!(store.get("a"), Some(&summary));
    }

    #[test]
    fn a_torn_line_is_dropped_wherever_it_was_torn() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join(Store::FILE);
        let mut store = Store::open(directory.path()).unwrap();
        store.put("a", "one", &json!({ "n": 1 })).unwrap();
        let first = fs::read(&file).unwrap().len();
        store.put("b", "two", &json!({ "n": 2 })).unwrap();
        drop(store);
        let whole = fs::read(&file).unwrap();
        for length in 0..whole.len() {
            fs::write(&file, &whole[..length]).unwrap();
            let mut store = Store::open(directory.path()).unwrap();
            assert_eq!(store.get("a").is_some(), length >= first, "{length}");
            assert_eq!(store.get("b"), None);
            store.put("b", "two", &json!({ "n": 2 })).unwrap();
            drop(store);
            let store = Store::open(directory.path()).unwrap();
            assert_eq!(store.get("a").is_some(), length >= first, "{length}");
            assert!(store.get("b").is_some());
        }
    }

    #[test]
    fn foreign_lines_are_no_results() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join(Store::FILE);
        fs::write(&file, b"\xff\xfe\n{}\n\nnull\n[1]\n").unwrap();
        let mut store = Store::open(directory.path()).unwrap();
        store.put("a", "one", &json!(1)).unwrap();
        drop(store);
        assert!(fs::read(&file).unwrap().starts_with(b"\xff\xfe\n{}\n"));
        assert!(Store::open(directory.path()).unwrap().get("a").is_some());
    }
}
