//! The kit finds deliberate faults, and finds nothing in correct transports.

mod habits;
mod raw;
mod tcp;
#[path = "../../examples/toy.rs"]
mod toy;

use congestion::{Bytes, Duration};
use testkit::{Fault, Knows, Report, check};

use habits::{InBatches, KeptAlive};
use raw::{Raw, Slip};

/// Each of these faults occurred in a real port of BBR.
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
    Fault::IdleRestartFalse,
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
    Fault::PacingRateStale,
    Fault::RateWrong,
    Fault::RateSpansPause,
    Fault::PriorInflightStale,
    Fault::RecoveryTooShort,
    Fault::TimeoutWithoutLoss,
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

/// A fault of a timer is found on the courses for timers, where a reader of the report looks first.
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
        let mut found = found_on(&report, fault);
        found.retain(|it| of_timers.contains(it));
        assert_eq!(found, courses, "{fault:?}\n{report}");
    }
}

fn found_on(report: &Report, fault: Fault) -> Vec<&'static str> {
    let found = report.findings.iter().filter(|it| it.fault == fault);
    found.map(|it| it.course).collect()
}

/// Each fault is found only on the course that is made for it.
#[test]
fn what_one_course_is_for_is_found_there() {
    for (fault, course) in [
        (Fault::PacingRateStale, "rates"),
        (Fault::RateWrong, "held ACKs"),
        (Fault::RateSpansPause, "requests"),
        (Fault::PriorInflightStale, "silence"),
        (Fault::RecoveryTooShort, "losses"),
        (Fault::TimeoutWithoutLoss, "silence"),
    ] {
        let report = check(&Knows::everything(), |probe| Raw::new(&probe, Some(fault)));
        assert_eq!(found_on(&report, fault), [course], "{report}");
    }
}

#[test]
fn other_ways_to_a_fault_are_found_too() {
    for (slip, fault, courses) in [
        (Slip::RateReadOnce, Fault::PacingRateStale, &["rates"][..]),
        (
            Slip::ProbeNotTold,
            Fault::SentNotTold,
            &["lost tail", "short silence"],
        ),
        (Slip::LossesWithoutFlight, Fault::InflightWrong, &["losses"]),
        (
            Slip::RecoveriesWithoutFlight,
            Fault::InflightWrong,
            &["losses"],
        ),
    ] {
        let report = check(&Knows::everything(), |probe| Raw::with_slip(&probe, slip));
        assert_eq!(found_on(&report, fault), courses, "{slip:?}\n{report}");
    }
}

/// A packet that was wrongly declared lost leaves inflight once, and its acknowledgement still delivers it.
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

/// Each ACK of a batch is settled by itself.
#[test]
fn acks_that_are_read_in_batches_have_no_finding() {
    for tick in [1, 4].map(Duration::from_millis) {
        let report = check(&Knows::everything(), |probe| {
            InBatches::new(Raw::new(&probe, None), tick)
        });
        assert!(report.findings.is_empty(), "{tick}:\n{report}");
    }
}

#[test]
fn a_transport_that_keeps_itself_alive_has_no_finding() {
    let after = Duration::from_millis(200);
    let report = check(&Knows::everything(), |probe| {
        KeptAlive::new(Raw::new(&probe, None), after)
    });
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
    for mss in [100, 200, 512, 1_452] {
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
