//! A peer without SACK: duplicate ACKs show losses, one a round trip.

use congestion::{Bytes, Cause, Duration, Rate, Recovery, Time};
use transport::segment::SackBlocks;
use transport::sender::{Config, Sender, Stats};

use crate::wire::{self, DELAY, Fate, Fixed, GAP, MSS, Wire, drops, established, ms, without_sack};

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

/// A sender to a peer without SACK, with a window of ten packets.
fn to_peer_without_sack() -> Sender<Fixed> {
    let config = Config {
        has_selective_acks: false,
        ..Config::default()
    };
    established(1 << 30, &config, |connection| {
        Fixed::packets(connection, 10)
    })
}

/// Sends this many packets at `now`.
fn send(sender: &mut Sender<Fixed>, now: Time, packets: u64) {
    sender.write(Bytes::new(packets * MSS));
    while let Some(burst) = sender.poll_burst(now) {
        sender.on_departed(&burst);
    }
}

/// So many ACKs of the first `packets` packets arrive.
fn acknowledge(sender: &mut Sender<Fixed>, now: Time, packets: u64, acks: u32) {
    for _ in 0..acks {
        let ack = wire::ack(now, packets * MSS, 1 << 30, SackBlocks::NONE);
        sender.on_segment(now, &ack);
    }
}

#[test]
fn after_two_reordered_packets_two_duplicates_show_a_loss() {
    let mut sender = to_peer_without_sack();
    send(&mut sender, ms(100), 2);
    acknowledge(&mut sender, ms(200), 0, 2);
    acknowledge(&mut sender, ms(200), 2, 1);
    assert_eq!(sender.stats().packets_lost, 0);

    send(&mut sender, ms(200), 5);
    acknowledge(&mut sender, ms(300), 2, 1);
    assert_eq!(sender.stats().packets_lost, 0);
    acknowledge(&mut sender, ms(300), 2, 1);
    assert_eq!(sender.stats().packets_lost, 1);
}

#[test]
fn a_timeout_leaves_the_number_of_duplicates_that_shows_a_loss() {
    let mut sender = to_peer_without_sack();
    // Ten duplicates of ten packets: one of them was duplicated or reordered, so ten will show a loss.
    send(&mut sender, ms(100), 10);
    acknowledge(&mut sender, ms(200), 0, 10);
    acknowledge(&mut sender, ms(200), 10, 1);
    send(&mut sender, ms(200), 1);
    acknowledge(&mut sender, ms(300), 11, 1);

    send(&mut sender, ms(300), 10);
    acknowledge(&mut sender, ms(400), 11, 4);
    while sender.stats().timeouts == 0 {
        let due = sender.next_timer().unwrap();
        sender.on_timer(due);
        send(&mut sender, due, 0);
    }
    acknowledge(&mut sender, ms(1_000), 21, 1);
    send(&mut sender, ms(1_000), 1);
    acknowledge(&mut sender, ms(1_100), 22, 1);
    let recoveries = sender.stats().recoveries;

    send(&mut sender, ms(1_100), 10);
    acknowledge(&mut sender, ms(1_200), 22, 4);
    assert_eq!(sender.stats().recoveries, recoveries);
}
