//! A record as a directory: its files, and the treatment of existing files.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::Path;
use std::time::{Duration, SystemTime};

use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Field, Row};
use record::columns;
use report::{Also, FILES, Origin, check_dir, tidy, write_dir};
use serde_json::Value;
use tables::Column;
use tables::page::{assert_has, table};

use crate::records::{crowd, record};

fn origin() -> Origin {
    Origin {
        command: "fullpipe run".to_string(),
        generated: SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000),
    }
}

fn names(directory: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(directory).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.collect()
}

/// Returns the rows of a table, and its metadata.
fn read(file: &Path) -> (Vec<Row>, Vec<(String, Option<String>)>) {
    let reader = SerializedFileReader::new(File::open(file).unwrap()).unwrap();
    let about = reader
        .metadata()
        .file_metadata()
        .key_value_metadata()
        .unwrap();
    let about = about
        .iter()
        .map(|entry| (entry.key.clone(), entry.value.clone()));
    let about = about.collect();
    let rows = reader.get_row_iter(None).unwrap();
    (rows.map(Result::unwrap).collect(), about)
}

fn cell<'r>(row: &'r Row, name: &str) -> &'r Field {
    let mut columns = row.get_column_iter();
    let found = columns.find(|(known, _)| known.as_str() == name);
    found.unwrap_or_else(|| panic!("no column {name}")).1
}

#[test]
fn every_file_is_there_and_says_what_the_record_says() {
    let home = tempfile::tempdir().unwrap();
    let directory = home.path().join("out");
    let record = record("race", "bbr1", false);
    write_dir(&directory, &record, &Also::default(), &origin()).unwrap();
    assert_eq!(names(home.path()), BTreeSet::from(["out".to_string()]));
    assert_eq!(names(&directory), FILES.map(String::from).into());

    let (rows, about) = read(&directory.join("samples.parquet"));
    let samples = &record.flows[0].samples;
    assert_eq!(rows.len(), samples.len());
    for (row, sample) in rows.iter().zip(samples) {
        assert_eq!(cell(row, "flow"), &Field::Long(0));
        assert_eq!(cell(row, "controller"), &Field::Str("bbr1".into()));
        assert_eq!(cell(row, "at_s"), &Field::Double(sample.at.as_secs_f64()));
        assert_eq!(
            cell(row, "state"),
            &Field::Str(sample.state.unwrap().name.into())
        );
        let bps = sample.delivery_rate.unwrap().bits_per_sec();
        assert_eq!(cell(row, "delivery_rate_bps"), &Field::Long(bps as i64));
        assert_eq!(
            cell(row, "rtt_ms"),
            &Field::Double(sample.rtt.unwrap().as_millis_f64())
        );
        assert_eq!(
            cell(row, "inflight_bytes"),
            &Field::Long(sample.inflight.get() as i64)
        );
        assert_eq!(cell(row, "ssthresh_bytes"), &Field::Null);
    }
    let about = |key: &str| {
        let found = about.iter().find(|(known, _)| known == key);
        found.and_then(|(_, value)| value.clone()).unwrap()
    };
    assert_eq!(about("fullpipe.engine"), "quic");
    assert_eq!(about("fullpipe.seed"), "3");
    assert_eq!(about("fullpipe.version"), env!("CARGO_PKG_VERSION"));
    assert_eq!(about("fullpipe.scenario"), record.scenario.to_string());
    let validity: Value = serde_json::from_str(&about("fullpipe.validity")).unwrap();
    assert_eq!(
        validity,
        serde_json::to_value(&record.summary.validity).unwrap()
    );

    let text = |name: &str| fs::read_to_string(directory.join(name)).unwrap();
    let summary: Value = serde_json::from_str(&text("summary.json")).unwrap();
    assert_eq!(summary, serde_json::to_value(&record.summary).unwrap());
    assert_eq!(text("scenario.toml").parse(), Ok(record.scenario.clone()));
    assert!(text("report.html").starts_with("<!doctype html>"));
}

#[test]
fn many_flows_several_bottlenecks_transfers() {
    let home = tempfile::tempdir().unwrap();
    let directory = home.path().join("out");
    let record = crowd(60);
    write_dir(&directory, &record, &Also::default(), &origin()).unwrap();

    // The table has more than one row group.
    let (rows, _) = read(&directory.join("samples.parquet"));
    let count: usize = record.flows.iter().map(|flow| flow.samples.len()).sum();
    assert!(count > 1 << 17, "{count}");
    assert_eq!(rows.len(), count);
    assert_eq!(cell(&rows[count - 1], "flow"), &Field::Long(119));

    let (rows, _) = read(&directory.join("queue.parquet"));
    let of_hop = |hop| {
        rows.iter()
            .filter(|row| cell(row, "hop") == &Field::Long(hop))
            .count()
    };
    assert_eq!((of_hop(0), of_hop(1)), (2_001, 2_001));
    assert!(rows.iter().all(|row| cell(row, "link") == &Field::Null));
    let mut network = record.clone();
    network.summary.path.name = Some("core".to_string());
    network.summary.next[0].name = Some("core.uplink".to_string());
    let of_network = home.path().join("network");
    write_dir(&of_network, &network, &Also::default(), &origin()).unwrap();
    let (rows, _) = read(&of_network.join("queue.parquet"));
    let link = |row: usize| cell(&rows[row], "link").clone();
    assert_eq!(link(2_000), Field::Str("core".to_string()));
    assert_eq!(link(2_001), Field::Str("core.uplink".to_string()));

    let (rows, _) = read(&directory.join("transfers.parquet"));
    assert_eq!(rows.len(), 600);
    assert_eq!(cell(&rows[0], "took_ms"), &Field::Double(60.0));
    assert_eq!(cell(&rows[0], "start_s"), &Field::Double(2.0));
    assert_eq!(cell(&rows[9], "completed_s"), &Field::Null);

    let (rows, _) = read(&directory.join("throughput.parquet"));
    let delivered: i64 = rows
        .iter()
        .map(|row| match cell(row, "delivered_bytes") {
            Field::Long(bytes) => *bytes,
            other => panic!("{other:?}"),
        })
        .sum();
    let all: u64 = record
        .summary
        .flows
        .iter()
        .map(|flow| flow.delivered_bytes)
        .sum();
    assert_eq!(delivered as u64, all);
}

#[test]
fn tables_of_nothing_can_be_read() {
    let home = tempfile::tempdir().unwrap();
    let mut record = record("race", "bbr1", false);
    record.paths.clear();
    write_dir(
        &home.path().join("out"),
        &record,
        &Also::default(),
        &origin(),
    )
    .unwrap();
    for table in ["queue.parquet", "transfers.parquet"] {
        assert!(read(&home.path().join("out").join(table)).0.is_empty());
    }
}

#[test]
fn the_same_record_gives_the_same_files() {
    let home = tempfile::tempdir().unwrap();
    for name in ["one", "two"] {
        write_dir(
            &home.path().join(name),
            &crowd(3),
            &Also::default(),
            &origin(),
        )
        .unwrap();
    }
    for file in FILES {
        let read = |name: &str| fs::read(home.path().join(name).join(file)).unwrap();
        assert!(read("one") == read("two"), "{file} differs");
    }
}

#[test]
fn an_older_record_is_replaced_and_nothing_else_ever_is() {
    let home = tempfile::tempdir().unwrap();
    let directory = home.path().join("out");
    fs::create_dir(&directory).unwrap();
    write_dir(
        &directory,
        &record("first", "bbr1", false),
        &Also::default(),
        &origin(),
    )
    .unwrap();
    write_dir(
        &directory,
        &record("second", "bbr1", false),
        &Also::default(),
        &origin(),
    )
    .unwrap();
    let summary = || fs::read_to_string(directory.join("summary.json")).unwrap();
    assert!(summary().contains("\"second\""));
    assert_eq!(names(home.path()), BTreeSet::from(["out".to_string()]));

    // There are other notes beside the record.
    fs::write(directory.join("notes.txt"), "mine").unwrap();
    let refused = write_dir(
        &directory,
        &record("third", "bbr1", false),
        &Also::default(),
        &origin(),
    );
    let error = refused.unwrap_err().to_string();
    assert!(
        error.contains("holds notes.txt; give another name"),
        "{error}"
    );
    assert!(summary().contains("\"second\""));

    // The directory has a user's scenario, and no record.
    let own = home.path().join("own");
    fs::create_dir(&own).unwrap();
    fs::write(own.join("scenario.toml"), "# mine").unwrap();
    check_dir(&own).unwrap_err();
    let file = home.path().join("file");
    fs::write(&file, "mine").unwrap();
    check_dir(&file).unwrap_err();
    check_dir(&home.path().join("no/out")).unwrap_err();
    // An error that would come after the run comes before it.
    check_dir(Path::new("/proc/out")).unwrap_err();
    for no_name in [".", "..", "/"] {
        check_dir(Path::new(no_name)).unwrap_err();
    }
    write_dir(
        &home.path().join("no/out"),
        &crowd(1),
        &Also::default(),
        &origin(),
    )
    .unwrap_err();
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
    let left: BTreeSet<String> = ["file", "out", "own"].map(String::from).into();
    assert_eq!(names(home.path()), left);
}

/// Returns the names of a summary's fields, including those of its objects.
fn fields(value: &Value, names: &mut BTreeSet<String>) {
    match value {
        Value::Object(object) => {
            for (name, value) in object {
                names.insert(name.clone());
                fields(value, names);
            }
        }
        Value::Array(values) => values.iter().for_each(|value| fields(value, names)),
        _ => {}
    }
}

#[test]
fn the_documentation_names_every_file_column_and_field() {
    let docs = include_str!("../../../../docs/records.md");
    let record = crowd(1);
    let mut wanted: BTreeSet<String> = FILES.map(String::from).into();
    fields(&serde_json::to_value(&record.summary).unwrap(), &mut wanted);
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/records.md");
    let has = |name, table: String| assert_has(&page, name, &table);
    has("samples", table(&columns::samples(&record).0));
    has("throughput", table(&columns::throughput(&record).0));
    has("queue", table(&columns::queue(&record).0));
    has("transfers", table(&columns::transfers(&record).0));
    let missing: Vec<&String> = wanted
        .iter()
        .filter(|name| !docs.contains(&format!("`{name}`")))
        .collect();
    assert!(
        missing.is_empty(),
        "docs/records.md does not explain {missing:?}"
    );
}

#[test]
fn what_a_killed_writer_left_is_cleaned_up() {
    // No process has such a large number.
    let dead = i32::MAX;
    let own = std::process::id();
    let home = tempfile::tempdir().unwrap();
    let at = |name: String| home.path().join(name);
    let record = record("race", "bbr1", false);
    let left = |name: String, file: &str| {
        fs::create_dir(at(name.clone())).unwrap();
        fs::write(at(name).join(file), "half").unwrap();
    };
    left(format!("out.{dead}.part"), "samples.parquet");
    left(format!("other.{dead}.part"), "summary.json");
    left(format!("again.{own}.part"), "report.html");
    // These are a living writer, one with another process's number, a user's files, and a name without a number.
    left("busy.1.part".into(), "samples.parquet");
    left(format!("held.{dead}.part"), "samples.parquet");
    let held = File::open(at(format!("held.{dead}.part"))).unwrap();
    held.try_lock().unwrap();
    left(format!("mine.{dead}.part"), "notes.txt");
    left("mine.x.part".into(), "samples.parquet");
    // The writer was killed after it moved the older record and before it named the newer one.
    write_dir(&at("moved".into()), &record, &Also::default(), &origin()).unwrap();
    fs::rename(at("moved".into()), at(format!("moved.{dead}.old"))).unwrap();

    check_dir(&at("out".into())).unwrap();
    assert!(!at(format!("out.{dead}.part")).exists());
    assert!(at(format!("other.{dead}.part")).exists());
    tidy(home.path());
    let expected = [
        "busy.1.part".to_string(),
        format!("held.{dead}.part"),
        format!("mine.{dead}.part"),
        "mine.x.part".to_string(),
        "moved".to_string(),
    ];
    assert_eq!(names(home.path()), expected.into());
    assert!(at("moved/summary.json".into()).exists());
}

#[test]
fn a_grid_has_every_flow_at_the_same_times() {
    let home = tempfile::tempdir().unwrap();
    let directory = home.path().join("out");
    let record = crowd(3);
    let step = units::Duration::from_millis(50);
    let also = Also {
        grid: Some(step),
        ..Also::default()
    };
    write_dir(&directory, &record, &also, &origin()).unwrap();
    let (rows, _) = read(&directory.join("grid.parquet"));
    let (samples, _) = read(&directory.join("samples.parquet"));
    let columns = |row: &Row| -> Vec<String> {
        let columns = row.get_column_iter();
        columns.map(|(name, _)| name.clone()).collect()
    };
    assert_eq!(columns(&rows[0]), columns(&samples[0]));
    let end = record.summary.duration_s;
    let times = (end / 0.05).floor() as usize + 1;
    assert_eq!(rows.len(), record.flows.len() * times);
    let mut known = 0;
    for (place, row) in rows.iter().enumerate() {
        let (flow, index) = (&record.flows[place / times], place % times);
        let at = step * index as u64;
        assert_eq!(cell(row, "flow"), &Field::Long(flow.id as i64));
        assert_eq!(cell(row, "at_s"), &Field::Double(at.as_secs_f64()));
        let lives = flow.completed.is_none_or(|completed| at <= completed);
        let latest = flow.samples.iter().rfind(|sample| sample.at <= at);
        let cwnd = match latest.filter(|_| lives) {
            Some(sample) => Field::Long(sample.cwnd.get() as i64),
            None => Field::Null,
        };
        known += usize::from(cwnd != Field::Null);
        assert_eq!(cell(row, "cwnd_bytes"), &cwnd, "{at}");
    }
    assert!(known > 0);
    // An older record with a grid is replaced like any other.
    write_dir(&directory, &record, &Also::default(), &origin()).unwrap();
    assert!(!directory.join("grid.parquet").exists());
}

#[test]
fn lists_of_structs_are_read_back() {
    type Item = (u64, Option<&'static str>);
    let items: [Option<&[Item]>; 4] = [
        None,
        Some(&[]),
        Some(&[(7, Some("a")), (8, None)]),
        Some(&[(9, Some("b"))]),
    ];
    let fields = vec![
        Column::new("number", "", |item: &Item| item.0),
        Column::new("name", "", |item: &Item| item.1),
    ];
    let columns = [
        Column::new("row", "", |row: &usize| *row),
        Column::list("items", |row: &usize| Some(items[*row]?.to_vec()), fields),
    ];
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("lists.parquet");
    tables::parquet::write(File::create(&path).unwrap(), &columns, 0..4, &[]).unwrap();
    let (rows, _) = read(&path);
    let said: Vec<String> = rows
        .iter()
        .map(|row| cell(row, "items").to_string())
        .collect();
    assert_eq!(
        said,
        [
            "null",
            "[]",
            "[{number: 7, name: \"a\"}, {number: 8, name: null}]",
            "[{number: 9, name: \"b\"}]",
        ]
    );
}
