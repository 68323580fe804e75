//! A study that was killed when its guard had already seen enough.

use std::fs;
use std::path::Path;

use experiment::Plan;
use kernel::{EndedConnection, SteeredConnection};
use rollout::study::{CarriedConnection, Recording, StudyDirectory};
use units::Bytes;

use crate::group::Group;
use crate::process::{now, wait_for};
use crate::{Running, alone, plan};

#[test]
fn a_study_that_is_begun_again_stops_at_what_it_had_seen_before() {
    alone("a guard of a study that was killed", begun_again);
}

fn begun_again(group: &Group) {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path();
    let text = plan(&group.0) + "[[guard]]\nmeasure = \"throughput\"\nworse = \"20%\"\n";
    fs::write(path.join("given.toml"), &text).expect("a plan");
    record(&path.join("data"), &text);
    let mut running = Running::start(path);
    wait_for("it stops", || {
        running.0.try_wait().expect("a look").ok_or("it goes on")
    });
    let log = fs::read_to_string(path.join("log")).expect("a log");
    let why = "over: guard: throughput over 3 MB of reno against cubic";
    assert!(log.contains(why), "{log}");
}

/// Records an earlier sitting in which the second arm took four times as long, and which did not end the study.
fn record(data: &Path, text: &str) {
    let parsed = Plan::parse(text).expect("a plan that makes sense");
    let place = StudyDirectory::make(data, text, &parsed, now()).expect("a place");
    let mut recording = Recording::begin(place, Bytes::new(100_000_000), None).expect("a sitting");
    let none = EndedConnection::parse(&[0; 24 * 8], units::Duration::ZERO).expect("as long as one");
    for unit in 0..60 {
        let arm = (unit % 2) as usize;
        let connection = EndedConnection {
            cookie: unit,
            steered: SteeredConnection {
                unit,
                arm,
                ..none.steered
            },
            acknowledged: 4_000_000,
            packets: 3_000,
            busy: units::Duration::from_millis([1_000, 4_000][arm] + unit),
            ..none
        };
        let objects = Vec::new();
        recording
            .add(&CarriedConnection {
                connection,
                objects,
            })
            .expect("room");
    }
    recording
        .finish(units::Duration::from_secs(60))
        .expect("room");
    let mut place = StudyDirectory::find(data).expect("a study");
    place.about.ended = None;
    place.save().expect("room");
}
