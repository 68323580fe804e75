use std::time::SystemTime;

use ::report::page::MARK;
use experiment::carryover::When;
use experiment::simulated::{Model, Units};
use experiment::verdict::Reach;
use experiment::{Carryover, Gathered, Plan, Timeline};

use super::*;
use crate::study::StudyDirectory;

#[path = "../../../../report/tests/browser/mod.rs"]
mod browser;

const PLAN: &str = "name = \"a<b>\"\ncgroup = \"a\"\nunit = \"prefix\"\nduration = \"1h\"\nseed = \"secret words\"\n\
    connections = { listen = [80] }\n\
    arm = [{ controller = \"cubic\", share = \"50%\" }, { controller = \"bbr\", share = \"50%\" }]\n";

fn read(studies: usize) -> Read {
    let directory = tempfile::tempdir().unwrap();
    let plan = Plan::parse(PLAN).unwrap();
    let place = StudyDirectory::make(directory.path(), PLAN, &plan, 0.0).unwrap();
    let mut gathered = Gathered::new(&["cubic", "bbr"], &[0.5, 0.5]);
    let mut timeline = Timeline::new(2);
    let model = Model::new(Units::Prefixes(400), 2.0);
    for of in (0..studies as u64).flat_map(|seed| model.study(seed)) {
        // Each network belongs to one of two operators.
        let groups = vec![format!("AS{}", 64500 + of.unit % 2)];
        timeline.add(&of, 1_767_225_600.0 + (of.unit % 3600) as f64);
        gathered.add(&experiment::Observation { groups, ..of });
    }
    Read {
        place,
        gathered,
        timeline,
        carryover: None,
        in_regions: None,
        joined: None,
        left_out: Vec::new(),
    }
}

fn page(read: &Read) -> String {
    let origin = Origin {
        command: "fullpipe study report a".to_owned(),
        generated: SystemTime::UNIX_EPOCH,
    };
    html(read, &read.gathered.findings(), &origin)
}

#[test]
fn a_page_has_everything_and_no_secret() {
    let read = read(1);
    let page = page(&read);
    assert!(
        page.contains(MARK) && page.contains("a&#60;b&#62;"),
        "{page}"
    );
    assert!(page.contains("bbr carries connections over 3 MB faster"));
    // Effects, heat map, groups, calendar time.
    assert_eq!(page.matches("<figure class=\"picture\">").count(), 4);
    for text in [
        "significantly better",
        "AS64500",
        "smaller objects in",
        "retransmitted packets in",
        "connections that resent",
        "Changes compare the arms within groups",
        "cut short",
        "from the fastest",
        "of the times",
        "minutes since 2026-01-01 00:00 UTC",
        "bbr 5th percentile",
    ] {
        assert!(page.contains(text), "{text}");
    }
    assert!(!page.contains("secret words") && !page.contains("http-equiv=\"refresh\""));
    for outside in ["src=\"http", "href=\"http", "url(http"] {
        assert!(!page.contains(outside), "{outside}");
    }
}

#[test]
fn without_data_there_is_a_page_that_says_so() {
    let page = page(&read(0));
    assert!(page.contains("no connection with data"));
    assert_eq!(page.matches("<figure class=\"picture\">").count(), 0);
}

#[test]
fn a_study_that_a_guard_ended_is_not_running() {
    let mut read = read(1);
    read.gathered.reached(Reach::Running);
    read.place.about.ran_s = 20.0;
    assert!(tables::about(&read).contains("20 s so far; not over yet"));
    assert!(page(&read).contains("still running"));
    read.gathered.reached(Reach::EndedEarly);
    read.place.about.ended = Some("guard: RTT".to_owned());
    let page = page(&read);
    for text in [
        "ran for 20 s; ended early: guard: RTT",
        "The study ended early: this verdict",
        "because the study ended early",
    ] {
        assert!(page.contains(text), "{text}");
    }
    assert!(!page.contains("still running") && !page.contains("time is not over"));
}

#[test]
fn every_table_fits_eighty_columns() {
    let read = read(1);
    let findings = read.gathered.findings();
    let mut all = vec![tables::arms(&findings), tables::classes(&findings)];
    for comparison in &findings.comparisons {
        all.extend([tables::effects(comparison), tables::heat(comparison)]);
        all.extend(tables::of_groups(comparison, findings.is_over));
    }
    all.extend(super::course::tables(&read, &findings));
    assert!(all.len() > 7, "{}", all.len());
    for table in all {
        let text = table.lines(Some(80));
        let widest = text.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(80), "{text}");
    }
}

#[test]
fn a_study_by_slots_shows_the_time_since_a_switch() {
    let mut read = read(1);
    let slots = PLAN.replace("\"prefix\"", "\"slot\"\nslot = \"100s\"\nwashout = \"10s\"");
    let plan = Plan::parse(&slots).unwrap();
    let mut carryover = Carryover::new(&plan).unwrap();
    let study = Model::new(Units::Slots(200), 0.0).study(3);
    // Each slot has its connections within its first minute.
    let mut units = Vec::new();
    for of in &study {
        if units.last() != Some(&of.unit) {
            units.push(of.unit);
        }
        carryover.note(0, 100.0 * units.len() as f64, of.arm);
    }
    for (place, of) in study.iter().enumerate() {
        let slot = units.iter().position(|unit| *unit == of.unit).unwrap() + 1;
        let since = (place % 60) as f64;
        let at = 100.0 * slot as f64 + since;
        let when = When {
            machine: 0,
            set_up: Some(at),
            begun: at,
            is_evaluated: since >= 10.0,
        };
        carryover.add(of, &when);
    }
    read.carryover = Some(carryover);
    let page = page(&read);
    assert_eq!(page.matches("<figure class=\"picture\">").count(), 5);
    for text in [
        "throughput over 3 MB since the switch",
        "RTT since the switch",
        "5 s to 10 s, washout",
        "end of the washout",
        "bbr after another arm",
        "intervals do not contain 0",
    ] {
        assert!(page.contains(text), "{text}");
    }
    let at_the_end = ["Chance alone gives less than one.", "one in twenty of them"];
    let before = ["Chance alone gives hardly any", "nearly all of them"];
    for (reach, told, not) in [
        (Reach::Over, at_the_end, before),
        (Reach::Running, before, at_the_end),
    ] {
        read.gathered.reached(reach);
        let page = self::page(&read);
        assert!(told.iter().all(|text| page.contains(text)), "{told:?}");
        assert!(!not.iter().any(|text| page.contains(text)), "{not:?}");
    }
    // A terminal of 80 columns shows the intervals of both arms.
    let tables = super::course::tables(&read, &read.gathered.findings());
    let since = tables.iter().map(|table| table.lines(Some(80)));
    let since: Vec<String> = since.filter(|text| text.contains("since the")).collect();
    assert!(!since.is_empty());
    for text in since {
        assert!(
            text.lines().all(|line| line.chars().count() <= 80),
            "{text}"
        );
        assert_eq!(text.matches("another").count(), 2, "{text}");
    }
}

#[test]
fn the_page_fits_a_phone_and_paper() {
    let Some(mut browser) = browser::Browser::start() else {
        return skipping::skip!("Chromium is not installed");
    };
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("study.html");
    std::fs::write(&file, page(&read(1))).unwrap();
    let faults = browser.faults(&file);
    assert!(faults.is_empty(), "{faults:#?}");
    // Each picture has a form for a narrow screen, and none scrolls there.
    let page = page(&read(1));
    let forms =
        ["wide", "narrow"].map(|form| page.matches(&format!("<svg class=\"{form}\"")).count());
    assert_eq!(forms, [4, 4]);
}
