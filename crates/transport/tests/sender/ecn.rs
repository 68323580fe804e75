//! Marks (RFC 3168).

use congestion::{Bytes, Cause, Recovery};
use transport::scheduler::Pacing;
use transport::sender::Config;

use crate::wire::{Fate, Fixed, MSS, Wire};

fn marking(ecn: bool, script: impl FnMut(u64, u32) -> Fate + 'static) -> Wire<Fixed> {
    let config = Config {
        ecn,
        pacing: Pacing::None,
        ..Config::default()
    };
    Wire::new(&config, |connection| Fixed::packets(connection, 20), script)
}

#[test]
fn marks_are_answered_once_a_round_trip_and_the_receiver_is_told() {
    let mut wire = marking(true, |packet, _| match packet {
        100..110 | 300 => Fate::Mark,
        _ => Fate::Pass,
    });
    wire.write(500);
    wire.finish();
    let marked: Bytes = wire.acks.iter().map(|ack| ack.ce_marked).sum();
    assert_eq!(marked, Bytes::new(11 * MSS));
    let entered = Recovery::Entered(Cause::Ecn);
    let changes = &wire.sender.controller().changes;
    assert_eq!(*changes, [entered, Recovery::Left, entered, Recovery::Left]);
    assert_eq!(wire.sent.iter().filter(|(_, data)| data.cwr).count(), 2);
    assert_eq!(wire.sender.stats().packets_retransmitted, 0);
}

#[test]
fn accurate_ecn_counts_marks_and_sends_no_cwr() {
    let config = Config {
        accurate_ecn: true,
        pacing: Pacing::None,
        ..Config::default()
    };
    let script = |packet, _| match packet {
        100..110 | 300 => Fate::Mark,
        _ => Fate::Pass,
    };
    let mut wire = Wire::new(&config, |connection| Fixed::packets(connection, 20), script);
    wire.write(500);
    wire.finish();
    let marked: Bytes = wire.acks.iter().map(|ack| ack.ce_marked).sum();
    assert_eq!(marked, Bytes::new(11 * MSS));
    let entered = Recovery::Entered(Cause::Ecn);
    let changes = &wire.sender.controller().changes;
    assert_eq!(*changes, [entered, Recovery::Left, entered, Recovery::Left]);
    assert!(wire.sent.iter().all(|(_, data)| !data.cwr));
}

#[test]
fn without_ecn_marks_mean_nothing() {
    let mut wire = marking(false, |_, _| Fate::Mark);
    wire.write(100);
    wire.finish();
    assert_eq!(wire.sender.controller().changes, []);
    assert!(wire.acks.iter().all(|ack| ack.ce_marked.is_zero()));
}

#[test]
fn a_loss_after_a_mark_is_told_and_belongs_to_the_same_reduction() {
    let mut wire = marking(true, |packet, copy| match (packet, copy) {
        (100, _) => Fate::Mark,
        (110, 0) => Fate::Drop,
        _ => Fate::Pass,
    });
    wire.write(500);
    wire.finish();
    assert_eq!(
        wire.sender.controller().changes,
        [
            Recovery::Entered(Cause::Ecn),
            Recovery::Entered(Cause::Loss),
            Recovery::Left
        ]
    );
}
