//! Tests of reading a study, and of joining logs to it.

use std::io::{Seek, SeekFrom, Write};
use std::sync::Arc;

use experiment::simulated::{Model, Units};
use experiment::{Measure, guard};
use kernel::{EndedConnection, ReportedObject};
use units::{Bytes, Duration};

use super::super::carried::{CarriedConnection, Recording};
use super::super::row::Row as Written;
use super::super::running::rows_in;
use super::*;
use fleet::Moment;
use fleet::systems::Regions;

const PLAN: &str = "name = \"a\"\ncgroup = \"a\"\nunit = \"prefix\"\nduration = \"1h\"\nconnections = { listen = [80] }\n\
    arm = [{ controller = \"cubic\", share = \"50%\" }, { controller = \"reno\", share = \"50%\" }]\n";

fn row(connection: u64, of: &Observation) -> Written {
    Written {
        sitting: 1,
        connection,
        unit: of.unit,
        arm: of.arm,
        assigned: Arc::from("cubic"),
        is_evaluated: true,
        has_ended: true,
        set_up_unix_s: 1.0,
        unix_s: 2.0,
        port: 80,
        client: Some("192.0.2.7".into()),
        acknowledged: Bytes::new(of.acknowledged),
        packets: of.packets,
        resent: of.resent,
        rtt: of.rtt,
        busy: of.busy,
        ..Written::default()
    }
}

/// Adds rows to a study's files.
fn add<R: Recorded>(directory: &Path, rows: Vec<R>) {
    let mut files = rows_in(directory, Bytes::new(100_000_000)).unwrap();
    files.add(Moment::default(), rows).unwrap();
    files.save().unwrap();
}

fn write(directory: &Path, rows: Vec<Written>) {
    let plan = experiment::Plan::parse(PLAN).unwrap();
    StudyDirectory::make(directory, PLAN, &plan, 0.0).unwrap();
    add(directory, rows);
}

fn object(connection: u64, number: u64, of: &Observation) -> ObjectRow {
    ObjectRow {
        sitting: 1,
        connection,
        object: number,
        unit: of.unit,
        arm: of.arm,
        assigned: Arc::from("cubic"),
        is_evaluated: true,
        port: 80,
        begun_unix_s: 1.0,
        busy: of.busy,
        bytes: of.acknowledged,
        packets: of.packets,
        resent: of.resent,
        is_whole: true,
        ..ObjectRow::default()
    }
}

#[test]
fn where_objects_are_known_they_have_the_sizes_and_times() {
    let directory = tempfile::tempdir().unwrap();
    let study = model();
    // Each connection carried two of the model's objects, so the connection as a whole is no object of the model.
    let pairs: Vec<&[Observation]> = study.chunks_exact(2).collect();
    let (mut rows, mut objects) = (Vec::new(), Vec::new());
    let mut expected = Gathered::new(&["cubic", "reno"], &[0.5, 0.5]);
    for (number, pair) in (0..).zip(&pairs) {
        let (one, other) = (&pair[0], &pair[1]);
        let both = Observation {
            acknowledged: one.acknowledged + other.acknowledged,
            busy: one.busy + other.busy,
            ..one.clone()
        };
        let ended = Written {
            objects: Some(2),
            client: None,
            ..row(number, &both)
        };
        // An open connection does not have the number of its objects.
        let open = Written {
            has_ended: false,
            objects: None,
            ..ended.clone()
        };
        rows.push(if number % 2 == 0 { ended } else { open });
        for (place, of) in (1..).zip(*pair) {
            let of = Observation {
                unit: one.unit,
                arm: one.arm,
                scope: Scope::Object,
                ..of.clone()
            };
            objects.push(object(number, place, &of));
            expected.add(&of);
        }
    }
    let (whole, washout) = (objects.len() as u64, objects[0].clone());
    objects.push(ObjectRow {
        is_evaluated: false,
        ..washout.clone()
    });
    write(directory.path(), rows);
    add(directory.path(), objects);
    let gathered = read_in(directory.path()).gathered;
    let findings = gathered.findings();
    assert_eq!(
        (findings.observed.objects, findings.observed.connections),
        (whole, 0)
    );
    assert_eq!(connections_in(&gathered), pairs.len() as u64);
    let mut compared = 0;
    let of_connections = [Measure::Resent, Measure::Rtt];
    let of_sizes = Measure::ALL
        .iter()
        .filter(|one| !of_connections.contains(one));
    for &measure in of_sizes {
        let (read, truth) = (gathered.effect(1, measure), expected.effect(1, measure));
        assert_eq!(read.is_some(), truth.is_some(), "{measure}");
        let (Some(read), Some(truth)) = (read, truth) else {
            continue;
        };
        compared += 1;
        assert!((read.change - truth.change).abs() < 1e-6, "{measure}");
        assert_eq!(read.connections, truth.connections, "{measure}");
    }
    assert!(compared >= 3, "{compared}");
    assert!(
        findings.verdict.contains("objects over 3 MB"),
        "{}",
        findings.verdict
    );
}

/// The study in a directory, without logs.
fn read_in(directory: &Path) -> Read {
    read(&[directory], Vec::new(), &mut Lookup::default()).unwrap()
}

/// The number of connections of all arms.
fn connections_in(gathered: &Gathered) -> u64 {
    let arms = gathered.findings().arms.into_iter();
    arms.map(|arm| arm.connections).sum()
}

fn model() -> Vec<Observation> {
    let units = Units::Prefixes(200);
    Model::new(units, 0.08).study(3)
}

#[test]
fn what_was_written_is_evaluated_as_if_it_had_never_been_on_a_disk() {
    let directory = tempfile::tempdir().unwrap();
    let study = model();
    let rows: Vec<Written> = (0..)
        .zip(&study)
        .map(|(number, of)| row(number, of))
        .collect();
    let mut gathered = Gathered::new(&["cubic", "reno"], &[0.5, 0.5]);
    let group = || vec!["192.0.2.0/24".to_owned()];
    rows.iter()
        .for_each(|row| gathered.add(&row.observation(group())));
    write(directory.path(), rows);
    let read = read_in(directory.path());
    assert_eq!((read.place.plan.name.as_str(), read.joined), ("a", None));
    let (read, gathered) = (read.gathered.findings(), gathered.findings());
    assert_eq!(read.arms, gathered.arms);
    let (read, gathered) = (&read.comparisons[0], &gathered.comparisons[0]);
    assert_eq!(read.rival.groups.len(), 1);
    let mut compared = 0;
    for (read, gathered) in read.measures.iter().zip(&gathered.measures) {
        assert_eq!(read.effect.is_some(), gathered.effect.is_some());
        // The model has no connections in some size classes.
        let (Some(read), Some(gathered)) = (read.effect, gathered.effect) else {
            continue;
        };
        compared += 1;
        // Times are written in seconds and milliseconds.
        assert!(
            (read.change - gathered.change).abs() < 1e-6,
            "{read:?}, {gathered:?}"
        );
    }
    assert!(compared >= 3, "{compared}");
}

#[test]
fn guards_have_seen_what_was_recorded_before() {
    let directory = tempfile::tempdir().unwrap();
    let study = Model::new(Units::Prefixes(1000), -0.9).study(3);
    let rows = (0..).zip(&study).map(|(number, of)| row(number, of));
    let rows: Vec<Written> = rows.collect();
    let seen_of = |rows: Vec<Written>| {
        write(directory.path(), rows);
        let mut place = StudyDirectory::find(directory.path()).unwrap();
        let guard = "guard = [{ measure = \"throughput\", worse = \"20%\" }]\n";
        place.plan = experiment::Plan::parse(&(PLAN.to_owned() + guard)).unwrap();
        let mut left_out = Vec::new();
        let measured = seen(&place, &mut left_out);
        assert!(left_out.is_empty(), "{left_out:?}");
        guard::broken(&place.plan, &measured)
    };
    // Open connections and connections of a washout: no guard has seen them.
    let open = rows.iter().map(|row| Written {
        has_ended: false,
        ..row.clone()
    });
    let washout = rows.iter().map(|row| Written {
        is_evaluated: false,
        ..row.clone()
    });
    assert_eq!(seen_of(open.chain(washout).collect()), None);
    let why = seen_of(rows).expect("a tenth of the throughput");
    assert!(why.contains("throughput over 3 MB of reno"), "{why}");
}

/// Puts enough zeros before a file's content that the file has to be removed.
fn enlarge(path: &Path) {
    let bytes = std::fs::read(path).unwrap();
    let mut file = File::create(path).unwrap();
    file.seek(SeekFrom::Start(40_000_000)).unwrap();
    file.write_all(&bytes).unwrap();
}

#[test]
fn what_had_to_go_is_counted_and_the_verdict_says_so() {
    let directory = tempfile::tempdir().unwrap();
    let of = &model()[0];
    let rows = (0..7).map(|number| row(number, of));
    write(directory.path(), rows.collect());
    add(directory.path(), vec![object(1, 1, of), object(1, 2, of)]);
    for start in [Row::START, ObjectRow::START] {
        enlarge(&files(directory.path(), start)[0].0);
    }
    let given = CarriedConnection {
        connection: EndedConnection::parse(&[0; 24 * 8], Duration::ZERO).unwrap(),
        objects: vec![ReportedObject::parse(&[0; 14 * 8]).unwrap()],
    };
    for sitting in 0..2 {
        let place = StudyDirectory::find(directory.path()).unwrap();
        let keep = Bytes::new(64_000_000);
        let mut recording = Recording::begin(place, keep, None).unwrap();
        recording.add(&given).unwrap();
        recording.finish(Duration::from_secs(3600)).unwrap();
        let read = read_in(directory.path());
        // The second sitting removes no file. The rows removed in the first sitting are still reported.
        let missing = read.place.about.missing;
        assert_eq!(
            (missing.dropped_connections, missing.dropped_objects),
            (7, 2),
            "{sitting}"
        );
        let verdict = read.gathered.findings().verdict;
        let told = "the oldest 7 rows of connections and 2 rows of objects were removed";
        assert!(verdict.contains(told), "{verdict}");
    }
}

fn log(directory: &Path, lines: &str) -> Log {
    let path = directory.join("access.log");
    std::fs::write(&path, lines).unwrap();
    Log {
        name: "access.log".to_owned(),
        file: File::open(path).unwrap(),
        format: "nginx".parse().unwrap(),
    }
}

#[test]
fn a_log_gives_connections_their_objects() {
    let directory = tempfile::tempdir().unwrap();
    let of = &model()[0];
    write(directory.path(), Vec::new());
    let key = StudyDirectory::find(directory.path()).unwrap().key();
    let end = |port| Some(key.end("192.0.2.7".parse().unwrap(), port));
    let at = |number, from: f64, to: f64, end| Written {
        set_up_unix_s: from,
        unix_s: to,
        end,
        ..row(number, of)
    };
    // The second connection has no line in the log.
    let rows = vec![at(1, 100.0, 200.0, end(1)), at(2, 100.0, 200.0, end(2))];
    write(directory.path(), rows);
    let seen = |connection, number, begun_unix_s, bytes| ObjectRow {
        begun_unix_s,
        bytes,
        busy: Duration::from_secs(1),
        ..object(connection, number, of)
    };
    add(
        directory.path(),
        vec![
            seen(1, 1, 119.5, 3_010_000),
            seen(1, 2, 150.0, 9_000_000),
            seen(2, 1, 120.0, 50_000),
        ],
    );
    // One request with the kernel's time, two within one object, one of another client, and a damaged line.
    let lines = "192.0.2.7 1 120.0 3000000 0.600\n192.0.2.7 1 151.0 4000000 1.000\n\
        192.0.2.7 1 151.0 4000000 2.000\n192.0.2.8 1 120.0 1 0.1\nnonsense\n";
    let read = read(
        &[directory.path()],
        vec![log(directory.path(), lines)],
        &mut Lookup::default(),
    )
    .unwrap();
    let joined = read.joined.unwrap();
    assert_eq!(
        (joined.joined, joined.timed_by_kernel, joined.of_others),
        (3, 1, 1)
    );
    assert_eq!(joined.logs[0].1.damaged, 1);
    assert_eq!(read.gathered.findings().observed.objects, 4);
    assert_eq!(connections_in(&read.gathered), 2);
}

#[test]
fn what_keeps_no_end_of_clients_cannot_be_joined_and_says_how_it_could() {
    let directory = tempfile::tempdir().unwrap();
    write(directory.path(), vec![row(1, &model()[0])]);
    let error = read(
        &[directory.path()],
        vec![log(directory.path(), "")],
        &mut Lookup::default(),
    )
    .unwrap_err();
    let error = error.to_string();
    assert!(
        error.contains("\"prefix\"") && error.contains("join = true"),
        "{error}"
    );
}

#[test]
fn the_latest_row_of_a_connection_counts_and_washouts_do_not() {
    let directory = tempfile::tempdir().unwrap();
    let of = &model()[0];
    let open = Written {
        has_ended: false,
        unix_s: 1.0,
        acknowledged: Bytes::new(7),
        ..row(1, of)
    };
    let other_sitting = Written {
        sitting: 2,
        ..row(1, of)
    };
    let washout = Written {
        is_evaluated: false,
        ..row(2, of)
    };
    write(
        directory.path(),
        vec![row(1, of), open, other_sitting, washout],
    );
    let gathered = read_in(directory.path()).gathered;
    assert_eq!(connections_in(&gathered), 2);
    // A directory that is given twice counts once, and is named, even if the second path is a link.
    let (both, other) = (directory.path().join("."), tempfile::tempdir().unwrap());
    let link = other.path().join("link");
    std::os::unix::fs::symlink(directory.path(), &link).unwrap();
    let given = [directory.path(), &both, &link];
    let twice = read(&given, Vec::new(), &mut Lookup::default()).unwrap();
    assert_eq!(connections_in(&twice.gathered), 2);
    let left_out: Vec<&Path> = twice.left_out.iter().map(|of| of.path.as_path()).collect();
    assert_eq!(left_out, given[1..]);
    assert_eq!(gathered.effect(1, Measure::Throughput), None);
}

#[test]
fn of_copies_of_a_directory_the_one_that_ran_longest_counts() {
    let directory = tempfile::tempdir().unwrap();
    let [data, copy] = ["data", "copy"].map(|name| directory.path().join(name));
    write(&data, vec![row(1, &model()[0])]);
    std::fs::create_dir(&copy).unwrap();
    for entry in std::fs::read_dir(&data).unwrap() {
        let entry = entry.unwrap();
        std::fs::copy(entry.path(), copy.join(entry.file_name())).unwrap();
    }
    let left_out = |given: [&Path; 3]| {
        let read = read(&given, Vec::new(), &mut Lookup::default()).unwrap();
        let whys = read.left_out.into_iter().map(|of| (of.path, of.why));
        (
            connections_in(&read.gathered),
            whys.unzip::<_, _, Vec<_>, Vec<_>>(),
        )
    };
    let (connections, (paths, whys)) = left_out([&data, &copy, &data]);
    assert_eq!((connections, paths), (1, vec![copy.clone(), data.clone()]));
    assert!(whys[0].ends_with("data, which counts") && whys[1].contains("twice"));
    // The study continues after the copy was made.
    write(&data, vec![row(2, &model()[1])]);
    let mut place = StudyDirectory::find(&data).unwrap();
    place.about.ran_s = 20.0;
    place.save().unwrap();
    for given in [[&*copy, &data, &copy], [&data, &copy, &copy]] {
        let (connections, (paths, whys)) = left_out(given);
        assert_eq!((connections, paths), (2, vec![copy.clone(); 2]));
        assert!(whys.iter().all(|why| why.ends_with("data, which counts")));
    }
}

#[test]
fn what_is_damaged_is_named_and_left_out() {
    let directory = tempfile::tempdir().unwrap();
    let of = &model()[0];
    write(directory.path(), vec![row(1, of)]);
    let whole = files(directory.path(), Row::START).remove(0).0;
    let bytes = std::fs::read(&whole).unwrap();
    let damaged = [
        ("study-1700000000000.parquet", b"PAR1".to_vec()),
        (
            "study-1700000000001.parquet",
            bytes[..bytes.len() / 2].to_vec(),
        ),
        ("objects-1700000000000.parquet", bytes),
    ];
    for (name, bytes) in &damaged {
        std::fs::write(directory.path().join(name), bytes).unwrap();
    }
    let read = read_in(directory.path());
    let named: Vec<String> = read.left_out.iter().map(ToString::to_string).collect();
    assert_eq!(named.len(), damaged.len(), "{named:?}");
    for ((name, _), told) in damaged.iter().zip(&named) {
        assert!(told.contains(name) && told.contains("damaged"), "{told}");
    }
    assert_eq!(connections_in(&read.gathered), 1);
}

#[test]
fn without_its_seed_a_study_can_be_read_and_not_joined() {
    let directory = tempfile::tempdir().unwrap();
    let ended = Written {
        end: Some(7),
        ..row(1, &model()[0])
    };
    write(directory.path(), vec![ended]);
    let mut place = StudyDirectory::find(directory.path()).unwrap();
    place.about.seed.clear();
    place.save().unwrap();
    read_in(directory.path());
    let error = read(
        &[directory.path()],
        vec![log(directory.path(), "")],
        &mut Lookup::default(),
    )
    .unwrap_err();
    assert!(matches!(error, DataError::NoSeed { .. }), "{error}");
    let plan = experiment::Plan::parse(PLAN).unwrap();
    let again = StudyDirectory::make(directory.path(), PLAN, &plan, 0.0).unwrap_err();
    assert!(again.to_string().contains("seed"), "{again}");
}

#[test]
fn a_study_is_running_until_it_has_ended_on_each_machine() {
    let directories = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let paths = directories.each_ref().map(tempfile::TempDir::path);
    for path in paths {
        write(path, vec![row(1, &model()[0])]);
    }
    let reach = || {
        read(&paths, Vec::new(), &mut Lookup::default())
            .unwrap()
            .gathered
            .findings()
            .reach
    };
    let end = |path: &Path, ran_s| {
        let mut place = StudyDirectory::find(path).unwrap();
        place.about.ran_s = ran_s;
        place.about.ended = Some("guard".to_owned());
        place.save().unwrap();
        reach()
    };
    // No process runs it.
    assert_eq!(reach(), Reach::Interrupted);
    let held = StudyDirectory::find(paths[1]).unwrap().hold().unwrap();
    assert_eq!(reach(), Reach::Running);
    assert_eq!(end(paths[0], 20.0), Reach::Running);
    drop(held);
    assert_eq!(reach(), Reach::Interrupted);
    assert_eq!(end(paths[1], 3600.0), Reach::EndedEarly);
    assert_eq!(end(paths[0], 3600.0), Reach::Over);
}

#[test]
fn clients_are_grouped_by_the_region_that_was_recorded_or_is_given() {
    let directory = tempfile::tempdir().unwrap();
    let study = Model::new(Units::Prefixes(600), 0.0).study(3);
    let rows = (0..).zip(&study).map(|(number, of)| Written {
        client: Some(format!("10.{}.0.0/24", of.unit % 3).into()),
        region: Some(Arc::from(["north", "south"][of.unit as usize % 2])),
        ..row(number, of)
    });
    write(directory.path(), rows.collect());
    let groups = |regions: Option<Regions>| {
        let mut lookup = Lookup {
            regions,
            systems: None,
        };
        let read = read(&[directory.path()], Vec::new(), &mut lookup).unwrap();
        let findings = read.gathered.findings();
        let rows = findings.comparisons[0].rival.groups.iter();
        let mut names: Vec<String> = rows.map(|row| row.group.clone()).collect();
        names.retain(|name| name.starts_with("region"));
        names.sort();
        (names, read.in_regions)
    };
    let both = ["region north", "region south"].map(str::to_owned);
    assert_eq!(groups(None), (both.to_vec(), None));
    // A part of a client network does not name its region.
    let text = "10.0.0.0/16 far away\n10.1.0.0/25 half\n10.2.0.0/16 far away\n";
    let regions = || Regions::of(text.as_bytes()).unwrap();
    let (names, some) = groups(Some(regions()));
    assert_eq!(names, ["region far away"]);
    let all = study.len() as u64;
    assert!(
        some.is_some_and(|some| (all / 3..all).contains(&some)),
        "{some:?}"
    );
    for address in ["none", "hashed"] {
        let other = tempfile::tempdir().unwrap();
        let text = format!("address = \"{address}\"\n{PLAN}");
        let plan = experiment::Plan::parse(&text).unwrap();
        StudyDirectory::make(other.path(), &text, &plan, 0.0).unwrap();
        let mut lookup = Lookup {
            regions: Some(regions()),
            systems: None,
        };
        let error = read(&[other.path()], Vec::new(), &mut lookup).unwrap_err();
        assert!(
            error.to_string().contains("--region to `fullpipe study`"),
            "{error}"
        );
    }
}

#[test]
fn clients_are_grouped_by_system_network_and_rtt_from_what_is_stored() {
    let directory = tempfile::tempdir().unwrap();
    let study = Model::new(Units::Prefixes(900), 0.0).study(3);
    let rows = (0..).zip(&study).map(|(number, of)| Written {
        client: Some(format!("10.{}.{}.0/24", of.unit % 2, of.unit % 250).into()),
        // The first connection of each unit comes first.
        set_up_unix_s: number as f64,
        handshake_rtt: Some(Duration::from_millis(5 + 100 * (of.unit % 3))),
        ..row(number, of)
    });
    write(directory.path(), rows.collect());
    let table = "10.0.0.0/16\t64500\n10.1.0.0/16\t64501\n";
    let groups = |systems: Option<fleet::Systems>| {
        let mut lookup = Lookup {
            systems,
            regions: None,
        };
        let read = read(&[directory.path()], Vec::new(), &mut lookup).unwrap();
        let findings = read.gathered.findings();
        let rows = findings.comparisons[0].rival.groups.iter();
        let mut names: Vec<String> = rows.map(|row| row.group.clone()).collect();
        names.sort();
        names
    };
    let without = [
        "10.0.0.0/16",
        "10.1.0.0/16",
        "RTT from 100ms to 300ms",
        "RTT from 1ms to 10ms",
    ];
    assert_eq!(groups(None), without);
    let with = groups(Some(fleet::Systems::of(table.as_bytes()).unwrap()));
    assert_eq!(with, [&["AS64500", "AS64501"], &without[2..]].concat());
}

#[test]
fn an_arm_that_was_not_in_force_has_no_verdict() {
    let directory = tempfile::tempdir().unwrap();
    let study = Model::new(Units::Prefixes(600), 0.5).study(3);
    let rows = (0..).zip(&study).map(|(number, of)| Written {
        assigned: Arc::from(["cubic", "reno"][of.arm]),
        controller: Some("cubic".into()),
        ..row(number, of)
    });
    write(directory.path(), rows.collect());
    let findings = read_in(directory.path()).gathered.findings();
    assert_eq!(findings.decision, experiment::Decision::Distrust);
    assert!(
        findings
            .verdict
            .contains("connections of reno had another controller")
    );
    assert_eq!(findings.arms[0].in_force.others, 0);
    assert_eq!(
        findings.arms[1].in_force.others,
        findings.arms[1].in_force.known
    );
}

#[test]
fn a_washout_is_seen_since_the_switch_and_nowhere_else() {
    let directory = tempfile::tempdir().unwrap();
    let text = PLAN.replace("\"prefix\"", "\"slot\"\nslot = \"100s\"\nwashout = \"10s\"");
    let plan = experiment::Plan::parse(&text).unwrap();
    StudyDirectory::make(directory.path(), &text, &plan, 0.0).unwrap();
    let (mut rows, mut objects) = (Vec::new(), Vec::new());
    // One connection in the washout and two behind it, in each of ten slots whose arms take turns.
    for (number, of) in (0..30).zip(model()) {
        let (slot, second) = (number / 3, [2, 12, 50][number as usize % 3]);
        let at = (100 * slot + second) as f64;
        let of = Observation {
            unit: slot,
            arm: slot as usize % 2,
            acknowledged: 4_000_000,
            busy: Duration::from_secs(1),
            ..of
        };
        rows.push(Written {
            is_evaluated: second >= 10,
            set_up_unix_s: at,
            objects: Some(1),
            ..row(number, &of)
        });
        objects.push(ObjectRow {
            is_evaluated: second >= 10,
            // Half a slot later.
            begun_unix_s: at + 50.0,
            ..object(number, 1, &of)
        });
    }
    add(directory.path(), rows);
    add(directory.path(), objects);
    let read = read_in(directory.path());
    assert_eq!(connections_in(&read.gathered), 20);
    // Objects at 62 s and at 100 s of each slot, and RTTs at 12 s and at 50 s.
    let bins = read.timeline.bins(48).bins;
    let counts = bins
        .iter()
        .flat_map(|bin| &bin.arms)
        .map(|arm| (arm.large, arm.rtts));
    let [large, rtts] = counts.fold([0, 0], |all, of| [all[0] + of.0, all[1] + of.1]);
    assert_eq!([large, rtts], [20, 20]);
    let since = read.carryover.unwrap().since(&["cubic", "reno"], true);
    let observations = since.bins.iter().map(|bin| {
        let values = bin.arms.iter().map(|arm| &arm.measures[0]);
        values.map(|value| value.observations).sum::<u64>()
    });
    assert_eq!(observations.collect::<Vec<_>>(), [10, 0, 0, 10, 0, 10, 0]);
    // The objects of the last connections begin with the next slot.
    assert_eq!(since.bins[0].of_others, Some(1.0));
    assert_eq!(since.bins[5].of_others, Some(0.0));
}
