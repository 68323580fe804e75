//! Deliberate faults are found; right transports have none.

mod raw;
mod tcp;
#[path = "../../examples/toy.rs"]
mod toy;

use congestion::Bytes;
use testkit::{Fault, Knows, check};

use raw::Raw;

/// Each of these is what somebody's port of BBR has done.
const FAULTS: &[Fault] = &[
    Fault::PacingNotEngaged,
    Fault::PacingTooSlow,
    Fault::BurstsTooLarge,
    Fault::WindowExceeded,
    Fault::WindowFullNotTold,
    Fault::WindowFullFalse,
    Fault::WindowUseFalse,
    Fault::SentNotTold,
    Fault::IdleRestartMissing,
    Fault::AppLimitNotMarked,
    Fault::AppLimitNotCleared,
    Fault::RoundsTooLong,
    Fault::RoundsTooShort,
    Fault::RttMissing,
    Fault::RttTooShort,
    Fault::RttTooLong,
    Fault::DeliveredNotCounted,
    Fault::InflightWrong,
    Fault::PriorInflightWrong,
    Fault::LossInvented,
    Fault::LossNotTold,
    Fault::LossToldTwice,
    Fault::LossAfterAck,
    Fault::LossNotSampled,
    Fault::LossNotSettled,
    Fault::RecoveryNotTold,
    Fault::RecoveryAfterAck,
    Fault::RecoveryTwice,
    Fault::RecoveryNeverEnds,
    Fault::UndoMissing,
    Fault::TimeoutNotTold,
    Fault::TimeoutFalse,
    Fault::Stalled,
    Fault::SentEarly,
    Fault::RepeatsUnpaced,
    Fault::RepeatsPastWindow,
    Fault::LossOfAnother,
    Fault::AckInflightWrong,
    Fault::AckedForgotten,
    Fault::TimeBackwards,
    Fault::TimeWrong,
];

#[test]
fn each_deliberate_fault_is_found() {
    let mut missed = Vec::new();
    for &fault in FAULTS {
        let report = check(&Knows::everything(), |probe| Raw::new(&probe, Some(fault)));
        println!("— {fault:?}\n{report}");
        if !report.has(fault) {
            missed.push(fault);
        }
    }
    assert!(missed.is_empty(), "{missed:?}");
}

/// The course on which what goes wrong first goes wrong: whoever reads the report looks there.
#[test]
fn what_timers_do_wrong_is_found_on_their_courses() {
    let of_timers = ["loss timer", "lost tail", "short silence"];
    for (fault, courses) in [
        (Fault::LossNotSettled, &of_timers[..2]),
        (Fault::LossNotTold, &of_timers[..2]),
        (Fault::InflightWrong, &of_timers[..2]),
        (Fault::Stalled, &of_timers[..2]),
        (Fault::TimeoutFalse, &of_timers[2..]),
    ] {
        let report = check(&Knows::everything(), |probe| Raw::new(&probe, Some(fault)));
        let found = report.findings.iter().filter(|it| it.fault == fault);
        let found = found.map(|it| it.course);
        let found: Vec<&str> = found.filter(|it| of_timers.contains(it)).collect();
        assert_eq!(found, courses, "{fault:?}\n{report}");
    }
}

/// A loss that was none leaves the flight once, and its acknowledgement delivers it all the same.
#[test]
fn spurious_losses_that_are_told_rightly_are_not_taken_for_a_wrong_flight() {
    let fault = Some(Fault::LossInvented);
    let report = check(&Knows::everything(), |probe| Raw::new(&probe, fault));
    let on_losses = |fault| {
        let mut findings = report.findings.iter();
        findings.any(|it| it.course == "losses" && it.fault == fault)
    };
    assert!(on_losses(Fault::LossInvented), "{report}");
    assert!(!report.has(Fault::InflightWrong), "{report}");
    assert!(!report.has(Fault::PriorInflightWrong), "{report}");
}

#[test]
fn a_right_wiring_of_events_has_no_finding() {
    let report = check(&Knows::everything(), |probe| Raw::new(&probe, None));
    assert!(report.findings.is_empty(), "{report}");
}

#[test]
fn the_page_describes_each_course() {
    let page = include_str!("../../../../docs/embedding.md");
    let rows = page
        .lines()
        .skip_while(|line| !line.starts_with("| course |"));
    let rows = rows.skip(2).map_while(|line| line.strip_prefix("| `"));
    let described: Vec<&str> = rows.filter_map(|row| row.split('`').next()).collect();
    let report = check(&Knows::everything(), |probe| Raw::new(&probe, None));
    assert_eq!(described, report.courses);
}

#[test]
fn the_toy_has_no_finding() {
    toy::main();
}

#[test]
fn small_packets_have_no_finding() {
    for mss in [200, 512, 1_452] {
        let mss = Bytes::new(mss);
        let report = check(&Knows::everything(), |probe| toy::Toy::new(&probe, mss));
        assert!(report.findings.is_empty(), "{mss}:\n{report}");
    }
}

#[test]
fn the_simulators_tcp_has_no_finding() {
    let report = check(&Knows::everything(), |probe| tcp::Tcp::new(&probe));
    println!("{report}");
    assert!(report.findings.is_empty(), "{report}");
}
