//! The results of runs on disk: one line of JSON for each run, so that an interrupted sweep can be resumed. Each line
//! ends with its checksum, so that a damaged line is not taken for a result.

use std::collections::HashMap;
use std::fs::{File, TryLockError};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};

use files::regular;

/// The completed runs, with a `T` for each: the record's summary, or another result.
#[derive(Debug)]
pub struct Store<T> {
    /// The file. Nothing for a store in memory.
    kept: Option<Kept>,
    done: HashMap<String, T>,
    damaged: usize,
}

/// The file, and the time of its last sync to disk.
#[derive(Debug)]
struct Kept {
    path: PathBuf,
    file: File,
    synced: Instant,
}

/// The interval of syncs: a machine that fails loses the results of this time. Syncing each result takes longer than
/// many runs.
const SYNC_INTERVAL: Duration = Duration::from_secs(1);

/// A line of the file, without its checksum.
#[derive(Debug, Serialize, Deserialize)]
struct Line<V> {
    /// The key of the run.
    key: String,
    /// The displayed name of the run.
    run: String,
    /// The result.
    summary: V,
}

/// The reasons for which results cannot be stored.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// Another sweep writes to the same file.
    #[error("{} is in use by another sweep", .0.display())]
    Locked(PathBuf),
    /// The file has no result of a store.
    #[error("{} is of something else; name another directory", .0.display())]
    Foreign(PathBuf),
    /// The file cannot be read or written.
    #[error("cannot keep results in {}: {source}", .file.display())]
    File {
        /// The file.
        file: PathBuf,
        /// The system's error.
        source: io::Error,
    },
}

/// The name of the file in a directory of results.
pub const FILE: &str = "runs.jsonl";

impl<T: Serialize + DeserializeOwned> Store<T> {
    /// Opens or creates the file in `directory`, and reads the completed runs line by line. [Damaged](Store::damaged) lines are
    /// ignored. Our own damaged lines are removed from the file: the last line is cut off if it is torn, others are
    /// overwritten with blanks. Lines of others, and results of runs that are no longer in the sweep, stay.
    ///
    /// # Errors
    ///
    /// The file cannot be used, has no result but other lines, or is in use by another sweep.
    pub fn open(directory: &Path) -> Result<Store<T>, StoreError> {
        Store::open_for(directory, |_| true)
    }

    /// Like [`Store::open`], but holds only the results of runs whose keys satisfy `is_wanted`, however many the file has.
    ///
    /// # Errors
    ///
    /// Those of [`Store::open`].
    pub fn open_for(
        directory: &Path,
        is_wanted: impl Fn(&str) -> bool,
    ) -> Result<Store<T>, StoreError> {
        let path = directory.join(FILE);
        let failed = |source| StoreError::File {
            file: path.clone(),
            source,
        };
        let mut file = regular::open_own(&path).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(StoreError::Locked(path)),
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
        let mut store = Store::in_memory();
        store.read(&mut file, &path, is_wanted)?;
        store.kept = Some(Kept {
            path: path.clone(),
            file,
            synced: Instant::now(),
        });
        Ok(store)
    }

    /// A store in memory.
    pub fn in_memory() -> Store<T> {
        Store {
            kept: None,
            done: HashMap::new(),
            damaged: 0,
        }
    }

    /// Reads the file line by line, mends its last line, and stays at its end. Nothing is changed in a file of something else.
    fn read(
        &mut self,
        file: &mut File,
        path: &Path,
        is_wanted: impl Fn(&str) -> bool,
    ) -> Result<(), StoreError> {
        let failed = |source| StoreError::File {
            file: path.to_owned(),
            source,
        };
        let (mut lines, mut line) = (BufReader::new(&*file), Vec::new());
        let (mut at, mut has_results, mut is_blank) = (0, false, true);
        // Our own damaged lines: where they begin, and how long they are.
        let mut damaged: Vec<(u64, u64)> = Vec::new();
        loop {
            let length = read_line(&mut lines, MAX_LINE_BYTES, &mut line).map_err(failed)?;
            if !line.ends_with(b"\n") {
                break;
            }
            let text = line.trim_ascii_end();
            if self.note(text, &is_wanted) {
                has_results = true;
            } else if !text.is_empty() {
                is_blank = false;
                self.damaged += 1;
                if is_ours(text) {
                    damaged.push((at, length - 1));
                }
            }
            at += length;
        }
        // The first result may be torn. Others write JSON that begins as ours, too.
        let is_torn = is_torn(&line);
        let is_new = is_blank && (is_torn || line.trim_ascii().is_empty());
        if !has_results && !is_new {
            return Err(StoreError::Foreign(path.to_owned()));
        }
        let mend = || -> io::Result<()> {
            for (at, length) in damaged {
                // Reported once. The line is blanked in place, so that a kill at this moment costs no other line.
                file.seek(SeekFrom::Start(at))?;
                io::copy(&mut io::repeat(b' ').take(length), file)?;
            }
            if is_torn {
                file.set_len(at)?;
            }
            file.seek(SeekFrom::End(0))?;
            if !line.is_empty() && !is_torn {
                file.write_all(b"\n")?;
            }
            Ok(())
        };
        mend().map_err(failed)?;
        self.damaged += usize::from(!line.is_empty());
        Ok(())
    }

    /// Adds the result in a line. Returns false if the line is damaged.
    fn note(&mut self, line: &[u8], is_wanted: impl Fn(&str) -> bool) -> bool {
        if !is_whole(line) {
            return false;
        }
        // A line of another kind has another key.
        if let Ok(line) = serde_json::from_slice::<Line<T>>(line)
            && is_wanted(&line.key)
        {
            self.done.insert(line.key, line.summary);
        }
        true
    }

    /// The number of lines that were damaged when the file was opened: torn by a kill, changed, or foreign.
    pub fn damaged(&self) -> usize {
        self.damaged
    }

    /// The result of the run with this key, if it is done.
    pub fn get(&self, key: &str) -> Option<&T> {
        self.done.get(key)
    }

    /// Adds the result of a run from elsewhere, without writing it.
    pub fn recall(&mut self, key: String, kept: T) {
        self.done.insert(key, kept);
    }

    /// Stores the result of a run, whose displayed name is `run`. It is in the file on return, and on disk a second
    /// later or when the store is closed.
    ///
    /// # Errors
    ///
    /// Writing failed, or the result is longer than [`MAX_RESULT_BYTES`].
    pub fn put(&mut self, key: &str, run: &str, summary: &T) -> Result<(), StoreError> {
        self.put_up_to(MAX_RESULT_BYTES, key, run, summary)
    }

    fn put_up_to(
        &mut self,
        most: usize,
        key: &str,
        run: &str,
        summary: &T,
    ) -> Result<(), StoreError> {
        let kept = (|| {
            let mut text = serde_json::to_string(&Line {
                key: key.to_string(),
                run: run.to_string(),
                summary,
            })?;
            // The value in memory equals the one read back later, to the last bit.
            let line: Line<T> = serde_json::from_str(&text)?;
            if let Some(kept) = &mut self.kept {
                if text.len() > most {
                    let why = format!("the result of {run} is longer than {most} bytes");
                    return Err(io::Error::other(why));
                }
                seal(&mut text);
                text.push('\n');
                kept.file.write_all(text.as_bytes())?;
                if kept.synced.elapsed() >= SYNC_INTERVAL {
                    kept.file.sync_data()?;
                    kept.synced = Instant::now();
                }
            }
            self.done.insert(line.key, line.summary);
            Ok(())
        })();
        kept.map_err(|source: io::Error| StoreError::File {
            file: self
                .kept
                .as_ref()
                .map_or_else(PathBuf::new, |kept| kept.path.clone()),
            source,
        })
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        // There is no one to report an error to.
        let _ = self.file.sync_data();
    }
}

/// The longest result of a run. A flow takes up to 2 kB of it, and a scenario has at most 100,000 flows.
pub const MAX_RESULT_BYTES: usize = 256 << 20;

/// The most bytes of a line that are held: the longest, with its checksum and its end.
const MAX_LINE_BYTES: usize = MAX_RESULT_BYTES + 64;

/// Reads a line with its end, and returns its length. Of a line that is no result, only the first bytes are held, and the
/// end if it has one; of a longer one than `most`, as many, and the end.
fn read_line(from: &mut BufReader<&File>, most: usize, line: &mut Vec<u8>) -> io::Result<u64> {
    line.clear();
    let mut length = 0;
    loop {
        let held = from.fill_buf()?;
        let end = held.iter().position(|byte| *byte == b'\n');
        let part = &held[..end.map_or(held.len(), |end| end + 1)];
        let is_short = length + part.len() as u64 <= most as u64;
        if line.is_empty() || (line.starts_with(LINE_BEGIN) && is_short) {
            line.extend_from_slice(part);
        } else if end.is_some() {
            line.push(b'\n');
        }
        let read = part.len();
        from.consume(read);
        length += read as u64;
        if end.is_some() || read == 0 {
            return Ok(length);
        }
    }
}

/// The beginning of every line of a store, before its key, and what follows the key.
const LINE_BEGIN: &[u8] = b"{\"key\":\"";
const KEY_END: &[u8] = b"\",\"run\":\"";

/// Whether the line, or its torn part, begins as those of a store.
fn is_ours(line: &[u8]) -> bool {
    let goes_on = |text: &[u8], with: &[u8]| text.starts_with(with) || with.starts_with(text);
    let key = line.get(LINE_BEGIN.len()..).unwrap_or_default();
    let end = key.iter().position(|byte| *byte == b'"');
    !line.is_empty()
        && goes_on(line, LINE_BEGIN)
        && end.is_none_or(|end| goes_on(&key[end..], KEY_END))
}

/// Whether the last line of a file, without its end, is a result of a store, or a part of one.
fn is_torn(line: &[u8]) -> bool {
    is_whole(line) || (is_ours(line) && serde_json::from_slice::<IgnoredAny>(line).is_err())
}

/// The text between a line and its checksum.
const CHECKSUM_KEY: &str = ",\"check\":\"";

/// Appends the checksum of an object as its last field.
fn seal(object: &mut String) {
    object.pop();
    let check = checksum(object.as_bytes());
    object.push_str(CHECKSUM_KEY);
    object.push_str(&check);
    object.push_str("\"}");
}

/// Whether the object has its checksum, and the checksum is right.
fn is_whole(line: &[u8]) -> bool {
    let parts = line.strip_suffix(b"\"}").and_then(|body| {
        let (object, check) = body.split_at_checked(body.len().checked_sub(CHECKSUM_DIGITS)?)?;
        Some((object.strip_suffix(CHECKSUM_KEY.as_bytes())?, check))
    });
    parts.is_some_and(|(object, check)| checksum(object).as_bytes() == check)
}

/// The hexadecimal digits of a checksum: 64 bits, too many to match by chance.
const CHECKSUM_DIGITS: usize = 16;

fn checksum(bytes: &[u8]) -> String {
    blake3::hash(bytes)
        .to_hex()
        .chars()
        .take(CHECKSUM_DIGITS)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};
    use std::fs;

    #[test]
    fn what_is_put_is_there_again() {
        let directory = tempfile::tempdir().unwrap();
        let summary = json!({ "jain": 0.1 + 0.2, "flows": [] });
        let mut store = Store::<Value>::open(directory.path()).unwrap();
        assert_eq!(store.get("a"), None);
        store.put("a", "path.loss=1% repeat 0", &summary).unwrap();
        assert_eq!(store.get("a"), Some(&summary));
        assert!(matches!(
            Store::<Value>::open(directory.path()),
            Err(StoreError::Locked(_))
        ));
        drop(store);
        let store = Store::<Value>::open(directory.path()).unwrap();
        assert_eq!(store.get("a"), Some(&summary));
    }

    #[test]
    fn a_torn_line_is_dropped_wherever_it_was_torn() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join(FILE);
        let mut store = Store::<Value>::open(directory.path()).unwrap();
        store.put("a", "one", &json!({ "n": 1 })).unwrap();
        let first = fs::read(&file).unwrap().len();
        store.put("b", "two", &json!({ "n": 2 })).unwrap();
        drop(store);
        let whole = fs::read(&file).unwrap();
        for length in 0..whole.len() {
            fs::write(&file, &whole[..length]).unwrap();
            let mut store = Store::<Value>::open(directory.path()).unwrap();
            assert_eq!(store.get("a").is_some(), length >= first, "{length}");
            assert_eq!(store.get("b"), None);
            store.put("b", "two", &json!({ "n": 2 })).unwrap();
            drop(store);
            let store = Store::<Value>::open(directory.path()).unwrap();
            assert_eq!(store.get("a").is_some(), length >= first, "{length}");
            assert!(store.get("b").is_some());
        }
    }

    #[test]
    fn a_changed_line_is_no_result_whatever_was_changed() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join(FILE);
        let mut store = Store::<Value>::open(directory.path()).unwrap();
        store.put("a", "one", &json!({ "n": 15 })).unwrap();
        let first = fs::read(&file).unwrap().len();
        store.put("b", "two", &json!({ "n": 2 })).unwrap();
        drop(store);
        let whole = fs::read(&file).unwrap();
        let mut changes: Vec<Vec<u8>> = (0..first - 1)
            .map(|place| {
                let mut changed = whole.clone();
                // Another digit is valid JSON, too.
                changed[place] ^= 1;
                changed
            })
            .collect();
        // Another value under a valid key.
        let text = String::from_utf8(whole.clone()).unwrap();
        changes.push(text.replacen("{\"n\":15}", "null", 1).into_bytes());
        for changed in changes {
            fs::write(&file, &changed).unwrap();
            let mut store = Store::<Value>::open(directory.path()).unwrap();
            assert_eq!((store.get("a"), store.damaged()), (None, 1));
            assert!(store.get("b").is_some());
            store.put("a", "one", &json!({ "n": 15 })).unwrap();
            drop(store);
            let store = Store::<Value>::open(directory.path()).unwrap();
            assert_eq!(store.get("a"), Some(&json!({ "n": 15 })));
            // A damaged line of ours is reported once. One with a changed beginning may be foreign, and stays.
            assert_eq!(
                store.damaged(),
                usize::from(!is_ours(&changed[..first - 1]))
            );
        }
    }

    #[test]
    fn only_wanted_results_and_none_of_what_is_no_result_is_held() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join(FILE);
        let mut store = Store::<Value>::open(directory.path()).unwrap();
        for key in ["a", "b"] {
            store.put(key, key, &json!(key)).unwrap();
        }
        drop(store);
        let store = Store::<Value>::open_for(directory.path(), |key| key == "b").unwrap();
        assert_eq!((store.get("a"), store.get("b")), (None, Some(&json!("b"))));
        drop(store);
        // Notes of a megabyte, an empty line, and a result that was cut within a megabyte.
        let ours = fs::read_to_string(&file).unwrap();
        let long = "x".repeat(1 << 20);
        let text = format!("{long}\n\n{ours}{{\"key\":\"{long}\n{ours}");
        fs::write(&file, &text).unwrap();
        let opened = File::open(&file).unwrap();
        let mut from = BufReader::new(&opened);
        let mut lengths = Vec::new();
        let mut line = Vec::new();
        while read_line(&mut from, MAX_LINE_BYTES, &mut line).unwrap() > 0 {
            lengths.push(line.len());
        }
        assert!(lengths[0] < 1 << 14, "{lengths:?}");
        for damaged in [2, 1] {
            let store = Store::<Value>::open(directory.path()).unwrap();
            assert_eq!(
                (store.damaged(), store.get("b")),
                (damaged, Some(&json!("b")))
            );
        }
        assert_eq!(fs::metadata(&file).unwrap().len(), text.len() as u64);
    }

    #[test]
    fn a_result_is_written_only_if_its_line_is_held_when_it_is_read() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join(FILE);
        let mut store = Store::<String>::open(directory.path()).unwrap();
        let begin = "{\"key\":\"a\",\"run\":\"one\",\"summary\":\"";
        let long = "x".repeat(5000);
        let most = begin.len() + long.len() + "\"}".len();
        let error = store
            .put_up_to(most - 1, "a", "one", &long)
            .unwrap_err()
            .to_string();
        let said = format!("the result of one is longer than {} bytes", most - 1);
        assert!(error.ends_with(&said), "{error}");
        assert_eq!((store.get("a"), fs::read(&file).unwrap().len()), (None, 0));
        store.put_up_to(most, "a", "one", &long).unwrap();
        let whole = fs::read(&file).unwrap();
        assert!(whole.starts_with(begin.as_bytes()));
        assert!(whole.len() <= most + (MAX_LINE_BYTES - MAX_RESULT_BYTES));
        let read = |most| {
            let opened = File::open(&file).unwrap();
            let mut from = BufReader::with_capacity(100, &opened);
            let mut held = Vec::new();
            let length = read_line(&mut from, most, &mut held).unwrap();
            assert_eq!(length, whole.len() as u64);
            held.len()
        };
        assert_eq!(read(whole.len()), whole.len());
        assert!(read(1000) <= 1001);
    }

    #[test]
    fn a_link_is_not_followed_and_what_it_names_stays() {
        let directory = tempfile::tempdir().unwrap();
        let victim = directory.path().join("victim");
        fs::write(&victim, "{\"key\"").unwrap();
        std::os::unix::fs::symlink(&victim, directory.path().join(FILE)).unwrap();
        let error = Store::<Value>::open(directory.path())
            .unwrap_err()
            .to_string();
        assert!(error.contains("runs.jsonl: is a symbolic link"), "{error}");
        assert_eq!(fs::read(&victim).unwrap(), b"{\"key\"");
    }

    #[test]
    fn foreign_lines_are_no_results_and_stay() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join(FILE);
        let mut store = Store::<Value>::open(directory.path()).unwrap();
        store.put("a", "one", &json!(1)).unwrap();
        drop(store);
        let ours = fs::read(&file).unwrap();
        let foreign = b"\xff\xfe\n{}\n{\"key\":\"a\",\"value\":1}\nnull\n[1]\n";
        let before = [foreign, &ours[..], b"my notes\nmore"].concat();
        fs::write(&file, &before).unwrap();
        let mut store = Store::<Value>::open(directory.path()).unwrap();
        assert_eq!((store.get("a"), store.damaged()), (Some(&json!(1)), 7));
        store.put("b", "two", &json!(2)).unwrap();
        drop(store);
        let after = fs::read(&file).unwrap();
        assert!(after.starts_with(&[&before[..], b"\n"].concat()));
        let store = Store::<Value>::open(directory.path()).unwrap();
        assert!(store.get("a").is_some() && store.get("b").is_some());
    }

    #[test]
    fn a_file_without_a_line_of_ours_is_refused_and_stays() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join(FILE);
        for foreign in [
            "my notes\nmore",
            "{}\n",
            "[\n{\"run\": 1}\n]",
            "null",
            // Results of other programs, and their notes before a torn line.
            "{\"key\":\"a\",\"value\":1}\n{\"key\":\"b\",\"value\":2}\n",
            "{\"key\":\"a\",\"value\":1}",
            "{\"key\":\"a\",\"run\":\"b\"}",
            "{\"key\":\"a\",\"run\":\"b\",\"summary\":1}\n",
            "{\"key\":7}\n{\"key\":8",
            "my notes\n{\"key\":\"a\",\"run\":\"",
        ] {
            fs::write(&file, foreign).unwrap();
            let error = Store::<Value>::open(directory.path()).unwrap_err();
            assert!(matches!(error, StoreError::Foreign(_)), "{error}");
            assert_eq!(fs::read_to_string(&file).unwrap(), foreign);
        }
        fs::write(&file, "   \n\n").unwrap();
        Store::<Value>::open(directory.path()).unwrap();
    }
}
