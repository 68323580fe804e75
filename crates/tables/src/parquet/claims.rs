//! What a file claims about itself, checked before its pages are read. Files may be of strangers, and the library allocates
//! what they claim: a page's size without compression (`decode_page`), and a dictionary's number of values (`set_dict`). A
//! small file can claim gigabytes.

use std::fs::File;
use std::os::unix::fs::FileExt;

use parquet::basic::Compression;
use parquet::data_type::ByteArray;
use parquet::file::metadata::{ColumnChunkMetaData, RowGroupMetaData};

use super::error::ReadError;
use super::footer::footer;
use super::page_header::{PageHeader, page_header};

/// The largest footer. One with 500 groups of rows and 30 columns has a megabyte, and takes thirty times as much memory.
const MAX_FOOTER_BYTES: u32 = 4 << 20;

/// The most columns and groups of columns. Each takes some 400 bytes, and can have three in the footer.
const MAX_COLUMNS: u64 = 1 << 14;

/// The most columns within each other: the library is on the stack once for each. A list of structures has five.
const MAX_DEPTH: u64 = 32;

/// The most bytes of names on the way to all columns together. A thousand columns within three groups have some 100,000.
const MAX_NAME_BYTES: u64 = 16 << 20;

/// The most groups of rows: those of the largest footer have some sixty bytes each.
const MAX_GROUPS: u64 = 1 << 16;

/// The most memory for the pages of a group of rows: a page and a dictionary of each column at a time. Writers make pages of
/// a megabyte, and DuckDB some of several.
const MAX_HELD_BYTES: u64 = 256 << 20;

/// The bytes that are read for a header. Most have some 30. A header with statistics has the smallest and the largest value.
const HEADER_BYTES: [usize; 2] = [1 << 10, 1 << 18];

/// The encodings whose decoders allocate what the page itself claims (`DeltaLengthByteArrayDecoder`), by their numbers.
const UNBOUNDED: [(u64, &str); 2] = [(6, "DELTA_LENGTH_BYTE_ARRAY"), (7, "DELTA_BYTE_ARRAY")];

/// Checks the footer, which is before its length and the magic number at the end. The library refuses a file without one.
pub(super) fn check_footer(file: &File) -> Result<(), ReadError> {
    let mut end = [0; 8];
    let Some(at) = file.metadata()?.len().checked_sub(8) else {
        return Ok(());
    };
    file.read_exact_at(&mut end, at)?;
    let [length @ .., b'P', b'A', b'R', b'1'] = end else {
        return Ok(());
    };
    let length = u32::from_le_bytes(length);
    if length > MAX_FOOTER_BYTES {
        return Err(ReadError::Footer);
    }
    let start = at.checked_sub(length.into()).ok_or(ReadError::Damaged)?;
    let mut bytes = vec![0; length as usize];
    file.read_exact_at(&mut bytes, start)?;
    let claims = footer(&bytes).ok_or(ReadError::Damaged)?;
    let is_small = claims.columns <= MAX_COLUMNS
        && claims.depth <= MAX_DEPTH
        && claims.groups <= MAX_GROUPS
        && claims.names <= MAX_NAME_BYTES;
    is_small.then_some(()).ok_or(ReadError::Footer)
}

/// Checks that no two of these column chunks are the same bytes, so that reading them takes no longer than the file is long.
pub(super) fn check_apart<'c>(
    chunks: impl Iterator<Item = &'c ColumnChunkMetaData>,
) -> Result<(), ReadError> {
    let mut ranges: Vec<(u64, u64)> = chunks.map(ColumnChunkMetaData::byte_range).collect();
    ranges.retain(|(_, length)| *length > 0);
    ranges.sort_unstable();
    let is_apart = |pair: &[(u64, u64)]| pair[0].0.saturating_add(pair[0].1) <= pair[1].0;
    let all = ranges.windows(2).all(is_apart);
    all.then_some(()).ok_or(ReadError::Damaged)
}

/// Checks that the pages of these columns can be read in bounded memory.
pub(super) fn check_pages(
    file: &File,
    group: &RowGroupMetaData,
    is_wanted: impl Fn(&ColumnChunkMetaData) -> bool,
) -> Result<(), ReadError> {
    let mut held = 0_u64;
    for column in group.columns().iter().filter(|column| is_wanted(column)) {
        check_compression(column.compression())?;
        held = held.saturating_add(held_by(file, column)?);
        if held > MAX_HELD_BYTES {
            return Err(ReadError::Memory(MAX_HELD_BYTES));
        }
    }
    Ok(())
}

fn check_compression(compression: Compression) -> Result<(), ReadError> {
    let name = match compression {
        Compression::UNCOMPRESSED | Compression::SNAPPY => return Ok(()),
        // The library decompresses it without a bound.
        Compression::GZIP(_) => "gzip",
        Compression::ZSTD(_) => "zstd",
        Compression::BROTLI(_) => "Brotli",
        Compression::LZ4 | Compression::LZ4_RAW => "LZ4",
        Compression::LZO => "LZO",
    };
    Err(ReadError::Compression(name))
}

/// The most memory that a page and a dictionary of a column take together.
fn held_by(file: &File, column: &ColumnChunkMetaData) -> Result<u64, ReadError> {
    let (mut at, length) = column.byte_range();
    let end = at.checked_add(length).ok_or(ReadError::Damaged)?;
    let (mut dictionary, mut page) = (0, 0);
    while at < end {
        let header = header_at(file, at)?;
        let unbounded = UNBOUNDED.iter().find(|of| header.encoding == Some(of.0));
        if let Some((_, name)) = unbounded {
            return Err(ReadError::Encoding(name));
        }
        let bytes = header.uncompressed.saturating_add(header.compressed);
        let values = (header.dictionary_values).saturating_mul(size_of::<ByteArray>() as u64);
        match values {
            0 => page = bytes.max(page),
            _ => dictionary = bytes.saturating_add(values).max(dictionary),
        }
        let whole = header.length.saturating_add(header.compressed);
        at = at.saturating_add(whole);
    }
    Ok(page.saturating_add(dictionary))
}

fn header_at(file: &File, at: u64) -> Result<PageHeader, ReadError> {
    for most in HEADER_BYTES {
        let mut bytes = vec![0; most];
        let mut read = 0;
        loop {
            match file.read_at(&mut bytes[read..], at + read as u64)? {
                0 => break,
                count => read += count,
            }
        }
        if let Some(header) = page_header(&bytes[..read]) {
            return Ok(header);
        }
    }
    Err(ReadError::Damaged)
}

#[cfg(test)]
mod tests {
    use std::io::{Seek, SeekFrom, Write};

    use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataWriter};
    use parquet::file::reader::{FileReader, SerializedFileReader};

    use super::*;
    use crate::Column;
    use crate::parquet::{each_row, row_count, write};

    /// A file of a row whose only column chunk is these bytes.
    fn claiming(chunk: &[u8], compression: Compression) -> File {
        let mut file = tempfile::tempfile().expect("a file");
        let columns = [Column::new("text", "", |row: &&str| *row)];
        write(&mut file, &columns, ["a"], &[]).expect("room");
        let again = file.try_clone().expect("a file");
        let reader = SerializedFileReader::new(again).expect("a file of rows");
        let at = file.seek(SeekFrom::End(0)).expect("a file");
        file.write_all(chunk).expect("room");
        let group = reader.metadata().row_group(0).clone();
        let column = group.column(0).clone().into_builder();
        let column = column
            .set_dictionary_page_offset(None)
            .set_data_page_offset(at as i64)
            .set_total_compressed_size(chunk.len() as i64)
            .set_compression(compression)
            .build();
        let group = group.into_builder();
        let group = group
            .set_column_metadata(vec![column.expect("a column")])
            .build();
        let about = reader.metadata().file_metadata().clone();
        let claims = ParquetMetaData::new(about, vec![group.expect("a group")]);
        let written = ParquetMetaDataWriter::new(&mut file, &claims).finish();
        written.expect("room");
        file
    }

    fn refusal(file: File) -> String {
        let refused = each_row(file, &["text"], |_| Ok(()), |()| panic!("a row is taken"));
        refused.expect_err("refused").to_string()
    }

    /// A number as a header has it.
    fn number(value: u64) -> Vec<u8> {
        let mut left = value << 1;
        let mut bytes = Vec::new();
        while left > 0x7f {
            bytes.push(left as u8 | 0x80);
            left >>= 7;
        }
        bytes.push(left as u8);
        bytes
    }

    /// A page of four bytes that claims this size without compression, and what follows in its header.
    fn page(kind: u64, uncompressed: u64, rest: &[u8]) -> Vec<u8> {
        let numbers = [kind, uncompressed, 4].map(number);
        let fields = numbers.map(|number| [&[0x15][..], &number].concat());
        [&fields.concat(), rest, &[0; 4]].concat()
    }

    #[test]
    fn pages_and_dictionaries_that_claim_gigabytes_are_refused() {
        let most = MAX_HELD_BYTES;
        let data = [0x2c, 0x15, 2, 0x15, 0, 0x15, 6, 0x15, 6, 0, 0];
        let values = number(most / size_of::<ByteArray>() as u64 + 1);
        let dictionary = [&[0x4c, 0x15], &values[..], &[0x15, 0, 0, 0]].concat();
        for chunk in [page(0, most, &data), page(2, 4, &dictionary)] {
            let refusal = refusal(claiming(&chunk, Compression::SNAPPY));
            assert!(
                refusal.starts_with("has pages that take more than 256 MiB"),
                "{refusal}"
            );
        }
        // The same claims within the bound are looked into, and found to be wrong.
        let small = page(0, 1 << 20, &data);
        let refusal = refusal(claiming(&small, Compression::SNAPPY));
        assert!(!refusal.contains("MiB"), "{refusal}");
    }

    #[test]
    fn a_header_that_the_library_reads_differently_is_refused() {
        // The library takes the number of values, of another type, for that of a dictionary.
        let values = number(MAX_HELD_BYTES);
        let dictionary = [&[0x4c, 0x16], &values[..], &[0x15, 0, 0, 0]].concat();
        let refusal = refusal(claiming(&page(2, 4, &dictionary), Compression::SNAPPY));
        assert_eq!(refusal, "is damaged");
    }

    #[test]
    fn what_cannot_be_bounded_is_named_with_a_way_out() {
        for (compression, name) in [
            (Compression::ZSTD(Default::default()), "zstd"),
            (Compression::GZIP(Default::default()), "gzip"),
            (Compression::LZ4_RAW, "LZ4"),
        ] {
            let refusal = refusal(claiming(&[0], compression));
            let start = format!("is compressed with {name}; write it again with Snappy");
            assert!(refusal.starts_with(&start), "{refusal}");
        }
        let lengths = page(0, 4, &[0x2c, 0x15, 2, 0x15, 12, 0x15, 6, 0x15, 6, 0, 0]);
        let refusal = refusal(claiming(&lengths, Compression::UNCOMPRESSED));
        assert!(refusal.contains("DELTA_LENGTH_BYTE_ARRAY"), "{refusal}");
    }

    /// A file with these elements of a schema and no rows.
    fn with_schema(elements: &[&[u8]]) -> File {
        let mut footer = vec![0x15, 2, 0x19, 0xfc];
        let mut count = elements.len();
        while count > 0x7f {
            footer.push(count as u8 | 0x80);
            count >>= 7;
        }
        footer.push(count as u8);
        footer.extend(elements.concat());
        footer.extend([0x16, 0, 0x19, 0x0c, 0]);
        let length = (footer.len() as u32).to_le_bytes();
        let mut file = tempfile::tempfile().expect("a file");
        let parts = [b"PAR1", &footer[..], &length, b"PAR1"];
        file.write_all(&parts.concat()).expect("room");
        file
    }

    /// A group of columns with this number of children, and a column.
    fn group(children: u64) -> Vec<u8> {
        [&[0x35, 0, 0x18, 1, b'a', 0x15], &number(children)[..], &[0]].concat()
    }
    const COLUMN: &[u8] = &[0x15, 12, 0x25, 2, 0x18, 4, b't', b'e', b'x', b't', 0];

    #[test]
    fn columns_too_deep_too_many_or_not_there_are_refused() {
        let most = MAX_DEPTH as usize - 1;
        let one = group(1);
        let nested = |depth| with_schema(&[&vec![&one[..]; depth][..], &[COLUMN]].concat());
        let flat = |count| {
            let root = group(count as u64);
            with_schema(&[&[&root[..]], &vec![COLUMN; count][..]].concat())
        };
        let columns = MAX_COLUMNS as usize - 1;
        for good in [nested(1), nested(most), flat(2), flat(columns)] {
            each_row(good, &["text"], |_| Ok(()), drop).expect("no rows");
        }
        // The library would be on the stack a hundred thousand times.
        for bad in [nested(most + 1), nested(100_000), flat(columns + 1)] {
            let refusal = refusal(bad);
            assert!(refusal.starts_with("has a footer of too many"), "{refusal}");
        }
        // It would have room for sixteen gigabytes.
        let claimed = group(i32::MAX as u64);
        let refusal = refusal(with_schema(&[&claimed, COLUMN]));
        assert_eq!(refusal, "is damaged");
    }

    #[test]
    fn a_long_name_of_a_group_of_many_columns_is_refused() {
        let within = |length: u64, columns: u64| {
            let root = group(1);
            // The length of a text is a number without a sign.
            let name = [&number(length)[..], &vec![b'a'; 2 * length as usize]].concat();
            let around = [&[0x35, 0, 0x18], &name[..], &[0x15], &number(columns), &[0]].concat();
            let columns = vec![COLUMN; columns as usize];
            with_schema(&[&[&root[..], &around], &columns[..]].concat())
        };
        for good in [within(1 << 19, 1), within(100, 10_000)] {
            each_row(good, &["text"], |_| Ok(()), drop).expect("no rows");
        }
        // The library would have sixteen gigabytes of names, and two.
        for bad in [within(1 << 19, 16_000), within(1 << 16, 16_000)] {
            let refusal = refusal(bad);
            assert!(refusal.starts_with("has a footer of too many"), "{refusal}");
        }
    }

    #[test]
    fn a_large_footer_and_no_footer_are_refused() {
        let mut file = tempfile::tempfile().expect("a file");
        file.set_len(u64::from(MAX_FOOTER_BYTES) + 100)
            .expect("room");
        file.seek(SeekFrom::End(0)).expect("a file");
        file.write_all(&(MAX_FOOTER_BYTES + 1).to_le_bytes())
            .expect("room");
        file.write_all(b"PAR1").expect("room");
        assert_eq!(row_count(file.try_clone().expect("a file")), None);
        let refusal = refusal(file);
        assert!(refusal.starts_with("has a footer"), "{refusal}");
        assert_eq!(row_count(tempfile::tempfile().expect("a file")), None);
    }
}
