//! Tests of reading rows back, from files of other programs, too.

use std::sync::Arc;

use ::parquet::data_type::{DataType, DoubleType, Int32Type, Int64Type};
use ::parquet::file::writer::SerializedFileWriter;
use ::parquet::schema::parser::parse_message_type;

use super::*;

const MAX_NAME_BYTES: usize = 8;

crate::stored! {
    /// A row.
    struct Sample, texts up to MAX_NAME_BYTES {
        /// a number
        count: u64 = "count", needed;
        /// a port
        port: u16 = "port";
        /// an autonomous system
        system: Option<u32> = "as_number";
        /// 1 or 0
        is_whole: bool = "whole";
        /// a time
        at: f64 = "at_s" as Named;
        /// a round-trip time
        rtt: Option<Duration> = "rtt_ms";
        /// a rate
        rate: Rate = "rate_bps";
        /// a name
        name: String = "name";
    }
}

/// Reads a file with the count 7 in a row, and this cell.
fn read_with<T: DataType>(physical: &str, name: &str, value: T::T) -> Result<Sample, String> {
    let mut file = tempfile::tempfile().expect("a file");
    let is_other = name != "count";
    let other = if is_other {
        "optional int64 count;"
    } else {
        ""
    };
    let schema = format!("message row {{ {other} optional {physical} {name}; }}");
    let schema = Arc::new(parse_message_type(&schema).expect("a schema"));
    let mut writer =
        SerializedFileWriter::new(&mut file, schema, Default::default()).expect("a file");
    let mut group = writer.next_row_group().expect("a group");
    if is_other {
        let mut column = group.next_column().expect("room").expect("a column");
        let written = column.typed::<Int64Type>();
        written
            .write_batch(&[7], Some(&[1]), None)
            .expect("written");
        column.close().expect("closed");
    }
    let mut column = group.next_column().expect("room").expect("a column");
    let written = column.typed::<T>();
    written
        .write_batch(&[value], Some(&[1]), None)
        .expect("written");
    column.close().expect("closed");
    group.close().expect("closed");
    writer.close().expect("closed");
    let again = rows::<Sample>(file.try_clone().expect("a file"));
    let mut one_by_one = Vec::new();
    let each = each_row(file, |row: Sample| one_by_one.push(row));
    assert_eq!(each.is_ok(), again.is_ok());
    let rows = again.map_err(|error| error.to_string())?;
    assert_eq!(rows, one_by_one);
    Ok(rows.into_iter().next().expect("a row"))
}

#[test]
fn numbers_of_other_types_are_read_if_they_fit() {
    let row = Sample {
        count: 7,
        ..Sample::default()
    };
    let system = Sample {
        system: Some(64_500),
        ..row.clone()
    };
    let read = [
        read_with::<DoubleType>("double", "as_number", 64_500.0),
        read_with::<Int32Type>("int32", "as_number", 64_500),
        read_with::<Int64Type>("int64", "as_number", 64_500),
    ];
    assert_eq!(read, [(); 3].map(|()| Ok(system.clone())));
    let whole = Sample {
        is_whole: true,
        ..row.clone()
    };
    assert_eq!(read_with::<Int64Type>("int64", "whole", 1), Ok(whole));
    let at = Sample {
        at: -2.0,
        ..row.clone()
    };
    assert_eq!(read_with::<Int64Type>("int64", "at_s", -2), Ok(at));
    let rate = Sample {
        rate: Rate::from_bytes_per_sec(125_000),
        ..row.clone()
    };
    let read = read_with::<DoubleType>("double", "rate_bps", 1e6);
    assert_eq!(read, Ok(rate));
    assert_eq!(read_with::<DoubleType>("double", "count", 7.0), Ok(row));
}

#[test]
fn a_value_that_does_not_fit_is_refused_by_the_name_of_its_column() {
    let whole = |name, value| (name, read_with::<Int64Type>("int64", name, value));
    let real = |name, value| (name, read_with::<DoubleType>("double", name, value));
    for (name, read) in [
        whole("count", -1),
        whole("port", -1),
        whole("port", 70_000),
        whole("as_number", 1 << 32),
        whole("whole", 2),
        whole("name", 1),
        real("count", 0.5),
        real("count", f64::NAN),
        real("count", -1.0),
        // 2⁵³ + 1 would be read as the same number.
        real("count", 9_007_199_254_740_992.0),
        real("as_number", f64::NAN),
        real("at_s", f64::INFINITY),
        real("rtt_ms", f64::NAN),
        real("rtt_ms", -1.0),
        real("rtt_ms", 1e300),
    ] {
        let error = read.expect_err(name);
        let said = format!("row 1 has a value of the wrong type or range in the column {name}");
        assert_eq!(error, said);
    }
    let error = read_with::<DoubleType>("double", "other", 1.0).map(|row| row.count);
    assert_eq!(error, Ok(7));
}

#[test]
fn what_could_not_be_read_back_is_not_written() {
    let write = |rows: &[Sample]| {
        let mut file = Vec::new();
        let written = write(&mut file, rows, &[]).map_err(|error| error.to_string());
        assert_eq!(written.is_err(), file.is_empty());
        written
    };
    let of = |count: u64, name: &str| Sample {
        count,
        name: name.to_owned(),
        ..Sample::default()
    };
    let largest = of(i64::MAX.cast_unsigned(), "12345678");
    assert_eq!(write(std::slice::from_ref(&largest)), Ok(()));
    let refused = |row| write(&[largest.clone(), row]).expect_err("refused");
    let large = "row 2 has a value of the wrong type or range in the column count";
    assert_eq!(refused(of(1 << 63, "")), large);
    let endless = Sample {
        at: f64::NAN,
        ..Sample::default()
    };
    let nan = "row 2 has a value of the wrong type or range in the column at_s";
    assert_eq!(refused(endless), nan);
    let long = "row 2 has too long a text in the column name";
    assert_eq!(refused(of(1, "123456789")), long);
}
