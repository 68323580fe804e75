//! Reads rows of Parquet files.

use std::cell::Cell;
use std::collections::HashSet;
use std::fs::File;
use std::panic::{self, AssertUnwindSafe};
use std::path::Path;
use std::sync::Once;

use files::regular;
use parquet::errors::ParquetError;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::reader::{FileReader, SerializedFileReader};

use super::columns::Recorded;

/// The most rows of a file. A study writes far fewer into one, but files may be put together. A few bytes can claim any number of
/// rows.
const MOST_ROWS: i64 = 1 << 24;

/// The rows of a file, all or none.
pub(super) fn rows<R: Recorded>(path: &Path) -> Result<Vec<R>, ParquetError> {
    let reader = SerializedFileReader::new(regular::open(path)?)?;
    if reader.metadata().file_metadata().num_rows() > MOST_ROWS {
        let many = format!("has more than {MOST_ROWS} rows");
        return Err(ParquetError::General(many));
    }
    let mut groups = reader.metadata().row_groups().iter();
    let is_somewhere = |column: &ColumnChunkMetaData| {
        let dictionary = column.dictionary_page_offset().unwrap_or(0);
        column
            .data_page_offset()
            .min(dictionary)
            .min(column.compressed_size())
            >= 0
    };
    if !groups.all(|group| group.columns().iter().all(is_somewhere)) {
        return Err(ParquetError::General("is damaged".to_owned()));
    }
    // The library panics on some damaged files.
    let read = quietly(|| read(&reader));
    read.unwrap_or_else(|| Err(ParquetError::General("is damaged".to_owned())))
}

/// The rows of an open file.
fn read<R: Recorded>(reader: &SerializedFileReader<File>) -> Result<Vec<R>, ParquetError> {
    let schema = reader.metadata().file_metadata().schema();
    let place = |name: &str| R::COLUMNS.iter().position(|column| column.name == name);
    // For each column of the file: which one of ours it is.
    let places: Vec<Option<usize>> = schema
        .get_fields()
        .iter()
        .map(|field| place(field.name()))
        .collect();
    let bit = |place: usize| 1_u64 << place;
    let needed = (0..R::COLUMNS.len())
        .filter(|&place| R::COLUMNS[place].is_needed)
        .fold(0, |all, place| all | bit(place));
    let mut texts = HashSet::new();
    let mut rows = Vec::new();
    for cells in reader.get_row_iter(None)? {
        let cells = cells?;
        let (mut row, mut found) = (R::default(), 0);
        for (place, (_, cell)) in places.iter().zip(cells.get_column_iter()) {
            if let Some(place) = *place
                && R::COLUMNS[place].read(&mut row, cell, &mut texts)
            {
                found |= bit(place);
            }
        }
        if found & needed != needed {
            let other = "has other columns than a study's";
            return Err(ParquetError::General(other.to_owned()));
        }
        rows.push(row);
    }
    Ok(rows)
}

thread_local! {
    /// Whether a panic of this thread is expected, and caught.
    static IS_CAUGHT: Cell<bool> = const { Cell::new(false) };
}

/// The result, or nothing if it panics. Only such a panic is not printed: those of other threads are.
fn quietly<R>(act: impl FnOnce() -> R) -> Option<R> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let print = panic::take_hook();
        panic::set_hook(Box::new(move |about| {
            if !IS_CAUGHT.get() {
                print(about);
            }
        }));
    });
    let before = IS_CAUGHT.replace(true);
    let result = panic::catch_unwind(AssertUnwindSafe(act));
    IS_CAUGHT.set(before);
    result.ok()
}

#[cfg(test)]
mod tests {
    use std::io::BufWriter;
    use std::process::Command;

    use units::Duration;

    use super::*;
    use crate::study::columns::write;
    use crate::study::{ObjectRow, Row};

    fn write_to<R: Recorded>(path: &Path, rows: &[R]) {
        let file = File::create(path).expect("a file");
        write(&mut BufWriter::new(&file), rows).expect("room");
    }

    #[test]
    fn all_row_groups_are_read_however_many_rows_there_are() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("objects-1.parquet");
        let numbered = (0..100_000).map(|object| ObjectRow {
            object,
            ..ObjectRow::default()
        });
        let written: Vec<ObjectRow> = numbered.collect();
        write_to(&path, &written);
        assert!(rows::<ObjectRow>(&path).expect("a file of rows") == written);
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
                acknowledged: 4,
                packets: 5,
                resent: 6,
                lost: Some(7),
                handshake_rtt: millis(8),
                rtt: millis(9),
                min_rtt: millis(10),
                median_rtt: millis(11),
                objects: Some(12),
                delivery_rate_bps: Some(13),
                busy: Duration::from_secs(14),
                rwnd_limited: Duration::from_secs(15),
                sndbuf_limited: Duration::from_secs(16),
            },
        ];
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("study-1.parquet");
        write_to(&path, &written);
        assert_eq!(rows::<Row>(&path).expect("a file of rows"), written);
        // Objects need columns that a connection does not have.
        let error = rows::<ObjectRow>(&path).expect_err("no objects");
        assert!(error.to_string().contains("other columns"), "{error}");
    }

    #[test]
    fn a_pipe_in_a_files_place_is_not_waited_for() {
        let directory = tempfile::tempdir().expect("a directory");
        let pipe = directory.path().join("study-1.parquet");
        let made = Command::new("mkfifo").arg(&pipe).status().expect("runs");
        assert!(made.success());
        let error = rows::<Row>(&pipe).expect_err("no file");
        assert!(error.to_string().contains("not a regular file"), "{error}");
    }
}
