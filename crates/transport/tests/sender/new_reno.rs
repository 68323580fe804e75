//! A peer without SACK: duplicate ACKs show losses, one a round trip.

use congestion::{Bytes, Cause, Duration, Rate, Recovery};
use transport::sender::Stats;

use crate::wire::{DELAY, Fate, Fixed, GAP, MSS, Wire, drops, ms, without_sack};

const ENTERED: Recovery = Recovery::Entered(Cause::Loss);

fn lost_once(numbers: &'static [u64]) -> impl FnMut(u64, u32) -> Fate {
    |packet, copy| {
        if copy == 0 && numbers.contains(&packet) {
            Fate::Drop
        } else {
            Fate::Pass
        }
    }
}

/// What the sender counts as delivered never exceeds what has arrived, if nothing arrives twice.
fn run(wire: &mut Wire<Fixed>, packets: u64) -> Stats {
    wire.write(packets);
    while wire.sender.stats().delivered < Bytes::new(MSS * packets) {
        wire.run_until(wire.now + GAP);
        let delivered = wire.sender.stats().delivered;
        assert!(delivered.get() <= wire.receiver.arrived());
        assert!(wire.now < ms(100_000), "{:?}", wire.sender);
    }
    wire.finish();
    wire.sender.stats()
}

#[test]
fn each_loss_costs_one_retransmission_and_no_timeout() {
    let mut wire = without_sack(40, lost_once(&[50, 51, 60, 300, 420, 421, 422]));
    let stats = run(&mut wire, 1_000);
    assert_eq!((stats.packets_lost, stats.packets_retransmitted), (7, 7));
    assert_eq!((stats.timeouts, stats.recoveries), (0, 3));
    let changes = &wire.sender.controller().changes;
    assert_eq!(changes[..], [ENTERED, Recovery::Left].repeat(3));
}

#[test]
fn the_third_duplicate_retransmits_and_each_before_it_sends_a_new_packet() {
    let mut wire = without_sack(10, drops(5, 1));
    run(&mut wire, 100);
    let place = wire.sent.iter().rposition(|(_, data)| data.seq == 5 * MSS);
    let before = &wire.sent[..place.unwrap()];
    // Packets 0 to 4 have each let one more leave, and so have 6 and 7 (RFC 3042).
    let highest = before.iter().map(|(_, data)| data.seq / MSS).max();
    assert_eq!(highest, Some(16));
}

#[test]
fn two_duplicates_are_reordering() {
    let late = |packet, _| match packet {
        50 => Fate::Late(GAP * 2 + GAP / 2),
        _ => Fate::Pass,
    };
    let mut wire = without_sack(20, late);
    let stats = run(&mut wire, 200);
    assert_eq!((stats.packets_lost, stats.timeouts), (0, 0));
}

#[test]
fn a_recovery_lasts_until_more_than_its_end_is_acknowledged() {
    // The last packet of a flight that ends with the application's data is lost; then more is written.
    let mut wire = without_sack(20, drops(10, 1));
    wire.write(20);
    wire.run_until(ms(1_000));
    assert_eq!(wire.sender.stats().delivered, Bytes::new(20 * MSS));
    assert_eq!(wire.sender.controller().changes, [ENTERED]);
    wire.write(1);
    wire.finish();
    assert_eq!(wire.sender.controller().changes, [ENTERED, Recovery::Left]);
}

#[test]
fn a_lost_retransmission_waits_for_the_timeout() {
    let mut wire = without_sack(20, drops(5, 2));
    let stats = run(&mut wire, 200);
    assert_eq!((stats.recoveries, stats.timeouts), (1, 1));
    assert_eq!(stats.tail_loss_probes, 0);
}

#[test]
fn a_late_packet_undoes_the_recovery() {
    let late = |packet, copy| match (packet, copy) {
        (50, 0) => Fate::Late(DELAY),
        _ => Fate::Pass,
    };
    let mut wire = without_sack(20, late);
    wire.write(200);
    wire.finish();
    let stats = wire.sender.stats();
    assert_eq!((stats.packets_lost, stats.spurious_recoveries), (1, 1));
    assert_eq!(stats.delivered, Bytes::new(MSS * 200));
    let changes = &wire.sender.controller().changes;
    assert_eq!(changes[..], [ENTERED, Recovery::Undone]);
}

#[test]
fn a_late_flight_undoes_the_timeout() {
    // A flight arrives after the timeout, and before what it retransmits.
    let late = |packet, copy| match (packet, copy) {
        (20..40, 0) => Fate::Late(Duration::from_millis(290)),
        _ => Fate::Pass,
    };
    let mut wire = without_sack(20, late);
    wire.write(200);
    wire.finish();
    let stats = wire.sender.stats();
    assert_eq!((stats.timeouts, stats.spurious_timeouts), (1, 1));
    assert_eq!(stats.delivered, Bytes::new(MSS * 200));
}

#[test]
fn a_filled_hole_delivers_only_what_duplicates_have_not() {
    let mut wire = without_sack(40, lost_once(&[50, 52, 54]));
    run(&mut wire, 500);
    let rates = wire.acks.iter().filter_map(|ack| ack.rate.delivery_rate);
    let window_a_round_trip = Rate::from_transfer(Bytes::new(40 * MSS), DELAY * 2 + GAP);
    assert!(rates.max() <= Some(window_a_round_trip));
    // A duplicate ACK delivers a packet, the retransmission's the hole.
    assert!(
        wire.acks
            .iter()
            .all(|ack| ack.newly_acked <= Bytes::new(2 * MSS))
    );
}
