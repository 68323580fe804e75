//! Deliberate faults are found; right transports have none.

mod raw;
mod tcp;
#[path = "../../examples/toy.rs"]
mod toy;

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
    Fault::LossNotTold,
    Fault::LossToldTwice,
    Fault::LossAfterAck,
    Fault::LossNotSampled,
    Fault::RecoveryNotTold,
    Fault::RecoveryTwice,
    Fault::RecoveryNeverEnds,
    Fault::UndoMissing,
    Fault::TimeoutNotTold,
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

#[test]
fn a_right_wiring_of_events_has_no_finding() {
    let report = check(&Knows::everything(), |probe| Raw::new(&probe, None));
    assert!(report.findings.is_empty(), "{report}");
}

#[test]
fn the_toy_has_no_finding() {
    toy::main();
}

#[test]
fn the_simulators_tcp_has_no_finding() {
    let report = check(&Knows::everything(), |probe| tcp::Tcp::new(&probe));
    println!("{report}");
    assert!(report.findings.is_empty(), "{report}");
}
