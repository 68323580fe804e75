use std::time::SystemTime;

use ::report::page::MARK;
use experiment::simulated::{Model, Units};
use experiment::verdict::Reach;
use experiment::{Gathered, Plan};

use super::*;
use crate::study::Place;

const PLAN: &str = "name = \"a<b>\"\ncgroup = \"a\"\nunit = \"prefix\"\nduration = \"1h\"\nseed = \"secret words\"\n\
    connections = { listen = [80] }\n\
    arm = [{ controller = \"cubic\", share = \"50%\" }, { controller = \"bbr\", share = \"50%\" }]\n";

fn read(studies: usize) -> Read {
    let directory = tempfile::tempdir().unwrap();
    let plan = Plan::parse(PLAN).unwrap();
    let place = Place::make(directory.path(), PLAN, &plan, 0.0).unwrap();
    let mut gathered = Gathered::new(&["cubic", "bbr"], &[0.5, 0.5]);
    let model = Model::new(Units::Prefixes(400), 2.0);
    for of in (0..studies as u64).flat_map(|seed| model.study(seed)) {
        // Each network belongs to one of two operators.
        let groups = vec![format!("AS{}", 64500 + of.unit % 2)];
        gathered.add(&experiment::Observation { groups, ..of });
    }
    Read {
        place,
        gathered,
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
    // Effects, heat map, groups.
    assert_eq!(page.matches("<figure>").count(), 3);
    for text in [
        "significantly better",
        "AS64500",
        "small objects in",
        "cut short",
        "from the fastest",
        "of the times",
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
    assert_eq!(page.matches("<figure>").count(), 0);
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
