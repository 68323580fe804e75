//! The files of recorded rows.

use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

use files::regular;
use tables::parquet::{ReadError, WriteError};
use tables::stored::{self, Stored};

/// The longest text of a cell. A study records names, networks and addresses.
pub(super) const MAX_TEXT_BYTES: usize = 1 << 16;

/// The rows of a kind that a study records.
pub(super) trait Recorded: Stored {
    /// The beginning of the names of their files.
    const START: &'static str;
}

/// Gives `take` the rows of a file, all or none, one after the other.
pub(super) fn read_file<R: Recorded>(path: &Path, take: impl FnMut(R)) -> Result<(), ReadError> {
    stored::each_row(regular::open(path)?, take)
}

/// Writes rows as a Parquet file.
pub(super) fn write<R: Recorded>(to: &mut BufWriter<&File>, rows: &[R]) -> Result<(), WriteError> {
    let about = [("fullpipe.version", env!("CARGO_PKG_VERSION").to_owned())];
    stored::write(to, rows, &about)
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::process::Command;
    use std::sync::Arc;

    use tables::page::{assert_has, table};
    use units::{Bytes, Duration, Rate};

    use super::*;
    use crate::study::{ObjectRow, Row};

    fn write_to<R: Recorded>(path: &Path, rows: &[R]) {
        let file = File::create(path).expect("a file");
        write(&mut BufWriter::new(&file), rows).expect("room");
    }

    #[test]
    fn the_documentation_has_the_columns() {
        let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/study.md");
        assert_has(&page, "connections", &table(&stored::columns::<Row>()));
        assert_has(&page, "objects", &table(&stored::columns::<ObjectRow>()));
    }

    #[test]
    fn a_row_is_read_back_as_it_was_written() {
        let millis = |count| Some(Duration::from_millis(count));
        let written = [
            Row::default(),
            Row {
                sitting: 1,
                connection: 2,
                unit: u64::MAX,
                arm: 1,
                assigned: "bbr".into(),
                is_evaluated: true,
                has_ended: true,
                set_up_unix_s: 1.25,
                unix_s: 2.5,
                port: 443,
                client: Some("192.0.2.0/24".into()),
                end: Some(3),
                system: Some(64500),
                region: Some("north".into()),
                controller: Some("cubic".into()),
                acknowledged: Bytes::new(4),
                packets: 5,
                resent: 6,
                lost: Some(7),
                handshake_rtt: millis(8),
                rtt: millis(9),
                min_rtt: millis(10),
                median_rtt: millis(11),
                objects: Some(12),
                delivery_rate: Some(Rate::from_bytes_per_sec(13)),
                busy: Duration::from_secs(14),
                rwnd_limited: Duration::from_secs(15),
                sndbuf_limited: Duration::from_secs(16),
            },
        ];
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("study-1.parquet");
        write_to(&path, &written);
        let mut read = Vec::new();
        read_file(&path, |row: Row| read.push(row)).expect("a file of rows");
        assert_eq!(read, written);
        // Objects need columns that a connection does not have.
        let error = read_file(&path, |_: ObjectRow| ()).expect_err("no objects");
        let said = "row 1 has no value in the column begun_unix_s";
        assert_eq!(error.to_string(), said);
    }

    #[test]
    fn a_text_that_no_study_records_is_refused() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("study-1.parquet");
        let read = |length| {
            let client: Arc<str> = "9".repeat(length).into();
            let long = Row {
                client: Some(client),
                ..Row::default()
            };
            let rows = [Row::default(), long];
            let columns = stored::columns();
            let is_written = stored::write(io::sink(), &rows, &[]).is_ok();
            assert_eq!(is_written, length <= MAX_TEXT_BYTES);
            let file = File::create(&path).expect("a file");
            tables::parquet::write(file, &columns, &rows, &[]).expect("room");
            let mut count = 0;
            let result = read_file(&path, |_: Row| count += 1);
            (count, result.map_err(|error| error.to_string()))
        };
        assert_eq!(read(MAX_TEXT_BYTES), (2, Ok(())));
        let (count, result) = read(MAX_TEXT_BYTES + 1);
        assert_eq!(count, 0);
        let error = result.expect_err("a long text");
        assert_eq!(error, "row 2 has too long a text in the column client");
    }

    #[test]
    fn more_texts_than_are_read_again_are_not_written() {
        let long = Row {
            client: Some("9".repeat(MAX_TEXT_BYTES).into()),
            ..Row::default()
        };
        let rows = vec![long; (1 << 30) / MAX_TEXT_BYTES + 1];
        let mut file = Vec::new();
        let error = stored::write(&mut file, &rows, &[]).expect_err("many texts");
        let said = "has rows with more than 1024 MiB of texts; make several files of it";
        assert_eq!((error.to_string().as_str(), file.len()), (said, 0));
    }

    #[test]
    fn a_pipe_in_a_files_place_is_not_waited_for() {
        let directory = tempfile::tempdir().expect("a directory");
        let pipe = directory.path().join("study-1.parquet");
        let made = Command::new("mkfifo").arg(&pipe).status().expect("runs");
        assert!(made.success());
        let error = read_file(&pipe, |_: Row| ()).expect_err("no file");
        assert!(error.to_string().contains("not a regular file"), "{error}");
    }
}
