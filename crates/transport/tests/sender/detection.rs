//! Loss detection.

use congestion::{Cause, Duration, Recovery};
use transport::sender::LossDetection::{DupThreshold, Rack};

use crate::wire::{DELAY, Fate, drops, fixed, ms};

const ENTERED: Recovery = Recovery::Entered(Cause::Loss);

#[test]
fn a_loss_is_found_within_a_round_trip_and_repaired_in_the_next() {
    for detection in [Rack, DupThreshold] {
        let mut wire = fixed(20, detection, drops(5, 1));
        wire.write(20);
        let end = wire.finish();
        let stats = wire.sender.stats();
        assert_eq!((stats.packets_lost, stats.packets_retransmitted), (1, 1));
        assert_eq!((stats.recoveries, stats.timeouts), (1, 0));
        // The handshake, the flight, the retransmission.
        assert!(end < ms(310), "{end:?}");
        let controller = wire.sender.controller();
        assert_eq!(controller.changes, [ENTERED, Recovery::Left]);
        assert_eq!(controller.lost, 1);
    }
}

#[test]
fn a_lost_tail_costs_a_probe_and_no_timeout() {
    // With two or more packets lost, the probe's SACK shows the others; with one, the probe is the retransmission.
    for lost in 1..=5 {
        let script = move |packet, copy| match (packet, copy) {
            (packet, 0) if packet >= 10 - lost => Fate::Drop,
            _ => Fate::Pass,
        };
        let mut wire = fixed(20, Rack, script);
        wire.write(10);
        let end = wire.finish();
        let stats = wire.sender.stats();
        assert_eq!((stats.timeouts, stats.tail_loss_probes), (0, 1), "{lost}");
        assert_eq!(stats.packets_retransmitted, lost);
        // Two round trips of silence, and at most two of retransmission.
        assert!(end < ms(100 + 100 + 200 + 210), "{end:?}");

        let mut wire = fixed(20, DupThreshold, script);
        wire.write(10);
        let later = wire.finish();
        let stats = wire.sender.stats();
        assert_eq!((stats.timeouts, stats.tail_loss_probes), (1, 0));
        assert!(later > ms(500), "{later:?}");
    }
}

#[test]
fn what_a_probe_repairs_unseen_is_answered_once_it_is_known() {
    let mut wire = fixed(20, Rack, drops(9, 1));
    wire.write(10);
    wire.run_until(ms(900));
    assert_eq!(wire.sender.stats().tail_loss_probes, 1);
    assert_eq!(wire.sender.controller().changes, []);
    wire.write(10);
    wire.finish();
    let repaired = Recovery::Entered(Cause::RepairedLoss);
    assert_eq!(wire.sender.controller().changes, [repaired, Recovery::Left]);
}

#[test]
fn a_probe_for_nothing_is_not_answered() {
    // The last packet arrives after the probe: both arrive.
    let script = |packet, copy| match (packet, copy) {
        (9, 0) => Fate::Late(Duration::from_millis(410)),
        _ => Fate::Pass,
    };
    let mut wire = fixed(20, Rack, script);
    wire.write(10);
    wire.run_until(ms(900));
    wire.write(10);
    wire.finish();
    let stats = wire.sender.stats();
    assert_eq!((stats.tail_loss_probes, stats.duplicates), (1, 1));
    assert_eq!(wire.sender.controller().changes, []);
}

#[test]
fn a_lost_repetition_is_found_by_time_but_not_by_counting() {
    let mut wire = fixed(20, Rack, drops(5, 3));
    wire.write(200);
    wire.finish();
    let stats = wire.sender.stats();
    assert_eq!((stats.packets_lost, stats.packets_retransmitted), (3, 3));
    assert_eq!((stats.recoveries, stats.timeouts), (1, 0));

    let mut wire = fixed(20, DupThreshold, drops(5, 3));
    wire.write(200);
    wire.finish();
    let stats = wire.sender.stats();
    assert_eq!((stats.recoveries, stats.timeouts), (1, 2));
}

#[test]
fn each_repetition_has_a_whole_timeout() {
    // With so small a window, nothing else is acknowledged meanwhile.
    let mut wire = fixed(2, Rack, drops(5, 3));
    wire.write(50);
    wire.finish();
    let stats = wire.sender.stats();
    assert_eq!((stats.packets_lost, stats.packets_retransmitted), (3, 3));
    assert_eq!((stats.timeouts, stats.duplicates), (0, 0));
}

#[test]
fn reordering_within_the_window_is_no_loss() {
    // First by two packets, which shows the sender that the path reorders; then by a quarter of the round trip.
    let late = |packet, _| match packet {
        5 => Fate::Late(Duration::from_micros(250)),
        100 | 150 => Fate::Late(Duration::from_millis(24)),
        _ => Fate::Pass,
    };
    let mut wire = fixed(30, Rack, late);
    wire.write(200);
    wire.finish();
    let stats = wire.sender.stats();
    assert_eq!((stats.packets_lost, stats.packets_retransmitted), (0, 0));
    assert_eq!(stats.reordered, 3);

    let mut wire = fixed(30, DupThreshold, late);
    wire.write(200);
    wire.finish();
    assert_eq!(wire.sender.stats().packets_lost, 2);
}

#[test]
fn patience_grows_with_each_round_of_duplicates() {
    // Every twentieth packet arrives half a round trip late.
    let late = |packet, copy| {
        if packet % 20 == 7 && copy == 0 {
            Fate::Late(DELAY)
        } else {
            Fate::Pass
        }
    };
    let mut wire = fixed(50, Rack, late);
    wire.write(2_000);
    wire.finish();
    let patient = wire.sender.stats();
    assert!(patient.spurious_recoveries >= 1);
    assert!(patient.packets_retransmitted < 10, "{patient:?}");
    assert_eq!(patient.timeouts, 0);

    let mut wire = fixed(50, DupThreshold, late);
    wire.write(2_000);
    wire.finish();
    assert_eq!(wire.sender.stats().packets_retransmitted, 100);
}

#[test]
fn timeouts_back_off_until_something_arrives() {
    for detection in [Rack, DupThreshold] {
        let mut is_down = false;
        let script = move |packet, copy| {
            is_down |= packet == 5;
            if is_down && copy < 5 {
                Fate::Drop
            } else {
                Fate::Pass
            }
        };
        let mut wire = fixed(10, detection, script);
        wire.write(10);
        wire.finish();
        let timeouts = &wire.sender.controller().timeouts;
        let waits: Vec<u64> = timeouts
            .windows(2)
            .map(|pair| pair[1].since(pair[0]).as_nanos() / 1_000_000)
            .collect();
        assert!(waits.len() >= 3, "{waits:?}");
        for pair in waits.windows(2).take(2) {
            assert!(pair[1].abs_diff(2 * pair[0]) <= 1, "{waits:?}");
        }
        assert!((300..500).contains(&(waits[0] / 2)), "{waits:?}");
    }
}

#[test]
fn a_blackout_ends_without_repeating_what_arrived() {
    // A whole flight is lost, and its probe; after that the network loses nothing.
    let script = |packet, copy| {
        if (20..40).contains(&packet) && copy == 0 {
            Fate::Drop
        } else {
            Fate::Pass
        }
    };
    let mut wire = fixed(20, Rack, script);
    wire.write(100);
    wire.finish();
    let stats = wire.sender.stats();
    assert_eq!(stats.packets_lost, 20);
    assert_eq!((stats.packets_retransmitted, stats.duplicates), (20, 0));
}
