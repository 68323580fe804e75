use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};

use serde_json::json;

use super::*;

const PLAN: &str = "name = \"a\"\ncgroup = \"a\"\nunit = \"connection\"\nduration = \"1h\"\nconnections = { listen = [80] }\n\
    arm = [{ controller = \"cubic\", share = \"50%\" }, { controller = \"reno\", share = \"50%\" }]\n";

fn plan() -> Plan {
    Plan::parse(PLAN).unwrap()
}

#[test]
fn a_place_is_found_again_and_is_of_one_plan() {
    let directory = tempfile::tempdir().unwrap();
    let plan = Plan::parse(PLAN).unwrap();
    let make = |text: &str| StudyDirectory::make(&directory.path().join("a/b"), text, &plan, 7.0);
    let place = make(PLAN).unwrap();
    assert_eq!(place.about.seed.len(), 32);
    let mode = fs::metadata(place.directory())
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o700);
    assert_eq!(make(PLAN).unwrap().about, place.about);
    assert_eq!(
        StudyDirectory::find(place.directory()).unwrap().about,
        place.about
    );
    // Others can lock a file that they can open. A lock on the directory does not matter here.
    let open = fs::File::open(place.directory()).unwrap();
    open.try_lock().unwrap();
    let held = place.hold().unwrap();
    let mode = fs::metadata(place.directory().join(LOCK)).unwrap().mode();
    assert_eq!(mode & 0o777, 0o600);
    let error = place.hold().unwrap_err().to_string();
    assert!(
        error.contains(&format!("process {} (", std::process::id())),
        "{error}"
    );
    drop(held);
    place.hold().unwrap();
    assert!(!place.directory().join(LOCK).exists());
    // As long as there are no data, the plan may be corrected, unless a process is about to run it.
    let other = PLAN.replace("1h", "2h");
    let held = place.hold().unwrap();
    assert!(matches!(
        make(&other),
        Err(StudyDirectoryError::InUse { .. })
    ));
    drop(held);
    assert_eq!(make(&other).unwrap().text, other);
    assert_eq!(StudyDirectory::find(place.directory()).unwrap().text, other);
    let data = place
        .directory()
        .join(format!("{START}1700000000000.parquet"));
    fs::write(&data, "").unwrap();
    assert!(matches!(make(PLAN), Err(StudyDirectoryError::Other { .. })));
    fs::remove_file(data).unwrap();
    let mut ran = make(&other).unwrap();
    ran.about.ran_s = 1.0;
    ran.save().unwrap();
    assert!(matches!(make(PLAN), Err(StudyDirectoryError::Other { .. })));
}

#[test]
fn only_the_owner_can_read_what_takes_the_place_of_older_files() {
    let directory = tempfile::tempdir().unwrap();
    let older = directory.path().join("plan.toml");
    fs::write(&older, "").unwrap();
    fs::set_permissions(&older, fs::Permissions::from_mode(0o644)).unwrap();
    let place = StudyDirectory::make(directory.path(), PLAN, &plan(), 7.0).unwrap();
    assert_eq!(fs::metadata(&older).unwrap().mode() & 0o777, 0o600);
    let file = directory.path().join(FILE);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    place.save().unwrap();
    assert_eq!(fs::metadata(&file).unwrap().mode() & 0o777, 0o600);
}

#[test]
fn a_directory_that_others_can_change_is_no_place() {
    let directory = tempfile::tempdir().unwrap();
    let plan = Plan::parse(PLAN).unwrap();
    let refused = |part: &str| {
        let error = StudyDirectory::make(directory.path(), PLAN, &plan, 7.0).unwrap_err();
        assert!(error.to_string().contains(part), "{error}");
    };
    fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o777)).unwrap();
    refused("is open to every user");
    fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o775)).unwrap();
    refused("is open to its group");
    fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o755)).unwrap();
    if chown(directory.path(), Some(65_534), None).is_ok() {
        refused("belongs to another user (65534)");
        chown(
            directory.path(),
            Some(rustix::process::geteuid().as_raw()),
            None,
        )
        .unwrap();
    } else {
        skipping::skip!("a directory of another user: this takes root");
    }
    StudyDirectory::make(directory.path(), PLAN, &plan, 7.0).unwrap();
}

#[test]
fn a_link_of_others_leads_to_no_place() {
    let directory = tempfile::tempdir().unwrap();
    let plan = Plan::parse(PLAN).unwrap();
    let [open, own] = ["open", "own"].map(|name| directory.path().join(name));
    for path in [&open, &own] {
        fs::create_dir(path).unwrap();
    }
    fs::set_permissions(&open, fs::Permissions::from_mode(0o1777)).unwrap();
    std::os::unix::fs::symlink(&own, open.join("link")).unwrap();
    let error = StudyDirectory::make(&open.join("link"), PLAN, &plan, 7.0).unwrap_err();
    assert!(error.to_string().contains("is a symbolic link"), "{error}");
    assert_eq!(fs::read_dir(&own).unwrap().count(), 0);
}

#[test]
fn what_is_no_study_is_told() {
    let directory = tempfile::tempdir().unwrap();
    let error = StudyDirectory::find(directory.path())
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("no study here") && error.contains(FILE),
        "{error}"
    );
    let file = directory.path().join(FILE);
    fs::write(&file, "{").unwrap();
    let error = StudyDirectory::find(directory.path())
        .unwrap_err()
        .to_string();
    assert!(error.contains("study.json is damaged: "), "{error}");
    let place = StudyDirectory::make(&directory.path().join("a"), PLAN, &plan(), 7.0).unwrap();
    let whole = serde_json::to_value(&place.about).unwrap();
    for (field, value, part) in [
        (
            "ran_s",
            json!(1e300),
            "ran_s: 1e300 is not from 0 to 253402300799 seconds",
        ),
        ("ran_s", json!(-1), "ran_s: -1e0 is not"),
        ("began_unix_s", json!(1e12), "began_unix_s: 1e12 is not"),
        ("last_unix_s", json!(-1e9), "last_unix_s: -1e9 is not"),
        (
            "in_force",
            json!([{ "known": 1, "others": 2 }]),
            "in_force: others, 2, is more",
        ),
    ] {
        let mut about = whole.clone();
        about[field] = value;
        fs::write(place.directory().join(FILE), about.to_string()).unwrap();
        let error = StudyDirectory::find(place.directory())
            .unwrap_err()
            .to_string();
        assert!(error.contains("study.json is damaged: "), "{error}");
        assert!(
            error.contains(part) && error.lines().count() == 1,
            "{error}"
        );
    }
    // Not readable for root either.
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    let error = StudyDirectory::find(directory.path())
        .unwrap_err()
        .to_string();
    assert!(error.contains("study.json cannot be read: "), "{error}");
    let plan = plan();
    for taken in ["file", "file/within"] {
        let path = directory.path().join(taken);
        fs::write(directory.path().join("file"), "").unwrap();
        let error = StudyDirectory::earlier(&path, PLAN, &plan)
            .unwrap_err()
            .to_string();
        assert!(error.contains("is not a directory"), "{error}");
    }
}
