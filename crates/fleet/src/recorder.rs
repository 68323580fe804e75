//! Connections over time, in [`Files`].

use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

use tables::parquet::{WriteError, write};
use units::Bytes;

use crate::connection::{Connection, ConnectionState, Moment};
use crate::fields::fields;
use crate::files::{Files, RecordError};

/// Records connections.
#[derive(Debug)]
pub struct Recorder(Files<ConnectionState>);

fn write_seen(to: &mut BufWriter<&File>, rows: &[ConnectionState]) -> Result<(), WriteError> {
    let about = [("fullpipe.version", env!("CARGO_PKG_VERSION").to_owned())];
    write(to, &fields(), rows, &about)
}

impl Recorder {
    /// Records into the directory, which is created if necessary. It deletes the oldest files above a total of `keep`,
    /// and touches no other files.
    ///
    /// # Errors
    ///
    /// The directory cannot be created or written to, is a file, or `keep` is too small.
    pub fn new(directory: &Path, keep: Bytes) -> Result<Recorder, RecordError> {
        Files::new(directory, "watch-", keep, write_seen).map(Recorder)
    }

    /// Adds a sample: a row for each connection that is new or was active since the previous sample.
    ///
    /// # Errors
    ///
    /// A file cannot be written. Rows stay in memory as far as there is room, and the next call tries again.
    pub fn look<'c>(
        &mut self,
        when: Moment,
        connections: impl IntoIterator<Item = &'c Connection>,
    ) -> Result<(), RecordError> {
        let is_active = |since: &crate::Since| since.is_active();
        let news = connections
            .into_iter()
            .filter(|one| one.first == when.at || one.seen.since.as_ref().is_none_or(is_active));
        self.0
            .add(when, news.map(|connection| connection.seen.clone()))
    }

    /// Writes the rows in memory.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn finish(mut self) -> Result<(), RecordError> {
        self.0.save()
    }

    /// The number of rows lost because files could not be written.
    pub fn lost(&self) -> u64 {
        self.0.lost()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::files::MAX_ROWS;
    use crate::tests::connection;
    use units::Duration;

    const KEEP: Bytes = Bytes::new(100_000_000);

    fn names(directory: &Path) -> Vec<String> {
        let entries = fs::read_dir(directory).unwrap();
        let mut names: Vec<_> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    fn at(seconds: u32) -> Moment {
        Moment {
            at: Duration::from_secs(seconds.into()),
            unix_s: 1_700_000_000.0 + f64::from(seconds),
        }
    }

    #[test]
    fn a_file_is_whole_every_few_seconds() {
        let directory = tempfile::tempdir().unwrap();
        let mut recorder = Recorder::new(directory.path(), KEEP).unwrap();
        let all = [connection(1), connection(2)];
        let mut sizes = Vec::new();
        for second in 0..20 {
            recorder.look(at(second), &all).unwrap();
            if let [name] = names(directory.path()).as_slice() {
                let bytes = fs::read(directory.path().join(name)).unwrap();
                assert!(bytes.ends_with(b"PAR1"), "{second}");
                sizes.push(bytes.len());
            } else {
                assert!(second < 5, "{second}");
            }
        }
        assert!(
            sizes.len() >= 15 && sizes.is_sorted() && sizes.first() < sizes.last(),
            "{sizes:?}"
        );
        // This is the state after a crash.
        drop(recorder);
        assert_eq!(names(directory.path()), ["watch-1700000000000.parquet"]);
    }

    #[test]
    fn files_follow_each_other_and_the_oldest_go() {
        let directory = tempfile::tempdir().unwrap();
        let mine = directory.path().join("watch-notes.parquet");
        fs::write(&mine, "mine").unwrap();
        let old = directory.path().join("watch-1600000000000.parquet");
        File::create(&old).unwrap().set_len(KEEP.get()).unwrap();
        let dead = directory.path().join(format!(
            "watch-1600000000001.parquet.{}.part",
            std::process::id()
        ));
        fs::write(&dead, "half").unwrap();
        let mut recorder = Recorder::new(directory.path(), KEEP).unwrap();
        assert!(!dead.exists());
        let all: Vec<_> = (0..MAX_ROWS as u64 / 2 + 1).map(connection).collect();
        for second in 0..2 {
            recorder.look(at(second), &all).unwrap();
        }
        assert_eq!(recorder.lost(), 0);
        recorder.finish().unwrap();
        let left = names(directory.path());
        assert_eq!(left.len(), 3, "{left:?}");
        assert!(mine.exists() && !old.exists());
    }

    #[test]
    fn files_are_in_order_whatever_becomes_of_the_clock() {
        let directory = tempfile::tempdir().unwrap();
        let mut before: Option<String> = None;
        // The clock goes forward by 400 years, to 1970, and back again. Each step is another process.
        for unix_s in [1.7e9, 1.4e10, 0.0, 1.7e9] {
            let mut recorder = Recorder::new(directory.path(), KEEP).unwrap();
            let when = Moment { unix_s, ..at(1) };
            recorder.look(when, &[connection(1)]).unwrap();
            recorder.finish().unwrap();
            let newest = names(directory.path()).pop();
            assert!(newest > before, "{newest:?}, {before:?}");
            before = newest;
        }
        assert_eq!(names(directory.path()).len(), 4);
    }

    #[test]
    fn what_did_nothing_has_no_row() {
        let directory = tempfile::tempdir().unwrap();
        let mut recorder = Recorder::new(directory.path(), KEEP).unwrap();
        let mut idle = [connection(1)];
        idle[0].seen.since = Some(crate::Since::default());
        recorder.look(at(9), &idle).unwrap();
        assert_eq!(recorder.0.held(), 0);
        // A new connection has a row even if it is idle.
        recorder.look(at(0), &idle).unwrap();
        assert_eq!(recorder.0.held(), 1);
    }

    #[test]
    fn a_directory_that_is_gone_costs_no_more_memory_than_a_file() {
        let directory = tempfile::tempdir().unwrap();
        let mut recorder = Recorder::new(&directory.path().join("a/b"), KEEP).unwrap();
        fs::remove_dir_all(directory.path().join("a")).unwrap();
        let all: Vec<_> = (0..1000).map(connection).collect();
        let looks = (0..40).map(|second| recorder.look(at(second), &all).is_ok());
        let failed = looks.filter(|is_fine| !is_fine).count();
        assert!(failed >= 7, "{failed}");
        assert!(recorder.0.held() <= MAX_ROWS && recorder.lost() > 0);
        fs::create_dir_all(directory.path().join("a/b")).unwrap();
        recorder.finish().unwrap();
        assert_eq!(names(&directory.path().join("a/b")).len(), 1);
    }

    #[test]
    fn a_place_that_will_not_do_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("file");
        fs::write(&file, "").unwrap();
        let error = Recorder::new(&file, KEEP).unwrap_err().to_string();
        assert!(
            error.ends_with("file is not a directory; give another name"),
            "{error}"
        );
        let error = Recorder::new(directory.path(), Bytes::new(1)).unwrap_err();
        assert_eq!(error.to_string(), "expected at least 32 MB");
    }
}
