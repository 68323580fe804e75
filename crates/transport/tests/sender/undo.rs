//! Undoing of spurious recoveries.

use congestion::{
    AnyController, Bytes, Cause, Controller, ControllerKind, Duration, Recovery, Time,
};
use transport::segment::{Body, SackBlocks};
use transport::sender::LossDetection::{DupThreshold, Rack};
use transport::sender::{Config, Sender};

use crate::wire::{self, DELAY, Fate, MSS, Wire, established, fixed, ms};

const ENTERED: Recovery = Recovery::Entered(Cause::Loss);

fn half_an_rtt_late(number: u64) -> impl FnMut(u64, u32) -> Fate {
    move |packet, copy| match copy {
        0 if packet == number => Fate::Late(DELAY),
        _ => Fate::Pass,
    }
}

#[test]
fn reordering_by_half_a_round_trip_costs_one_recovery_and_that_is_undone() {
    for detection in [Rack, DupThreshold] {
        let mut wire = fixed(50, detection, half_an_rtt_late(20));
        wire.write(500);
        wire.finish();
        let stats = wire.sender.stats();
        assert_eq!((stats.recoveries, stats.spurious_recoveries), (1, 1));
        assert_eq!((stats.packets_retransmitted, stats.duplicates), (1, 1));
        let changes = &wire.sender.controller().changes;
        assert_eq!(*changes, [ENTERED, Recovery::Undone]);
    }
}

#[test]
fn an_undo_gives_the_window_back() {
    for kind in [
        ControllerKind::Reno,
        ControllerKind::Cubic,
        ControllerKind::Bbr1,
    ] {
        let mut wire = Wire::new(
            &Config::default(),
            |connection| AnyController::new(kind, connection),
            half_an_rtt_late(300),
        );
        wire.write(5_000);
        let mut cwnd = Vec::new();
        while wire.sender.stats().spurious_recoveries == 0 {
            cwnd.push(wire.sender.controller().cwnd());
            wire.run_until(wire.now + Duration::from_millis(1));
            assert!(wire.now < ms(10_000));
        }
        let before = cwnd.iter().max().copied().unwrap();
        assert!(wire.sender.controller().cwnd() >= before, "{kind}");
        let least = cwnd.iter().rev().take(40).min().copied().unwrap();
        assert!(
            least < before,
            "{kind} was not cut, so nothing was given back"
        );
    }
}

#[test]
fn a_real_loss_is_not_undone() {
    let script = |packet, copy| {
        if packet % 50 == 20 && copy == 0 {
            Fate::Drop
        } else {
            Fate::Pass
        }
    };
    let mut wire = fixed(40, Rack, script);
    wire.write(1_000);
    wire.finish();
    let stats = wire.sender.stats();
    assert_eq!((stats.packets_lost, stats.spurious_recoveries), (20, 0));
    assert!(!wire.sender.controller().changes.contains(&Recovery::Undone));
}

#[test]
fn a_late_packet_does_not_acquit_those_lost_behind_it() {
    let script = |packet, copy| match (packet, copy) {
        (300, 0) => Fate::Late(DELAY),
        (310..330, 0) => Fate::Drop,
        _ => Fate::Pass,
    };
    for kind in [ControllerKind::Reno, ControllerKind::Cubic] {
        let make = |connection| AnyController::new(kind, connection);
        let mut wire = Wire::new(&Config::default(), make, script);
        wire.write(2_000);
        wire.finish();
        let stats = wire.sender.stats();
        assert_eq!((stats.packets_lost, stats.timeouts), (21, 0), "{kind}");
        assert_eq!((stats.recoveries, stats.spurious_recoveries), (1, 0));
    }
}

#[test]
fn a_timeout_for_nothing_is_undone_by_the_first_timestamp() {
    for loss_detection in [Rack, DupThreshold] {
        let config = Config {
            loss_detection,
            ..Config::default()
        };
        // The path's delay grows by a second.
        let script = |packet, _| match packet {
            200.. => Fate::Late(Duration::from_secs(1)),
            _ => Fate::Pass,
        };
        let reno = |connection| AnyController::new(ControllerKind::Reno, connection);
        let mut wire = Wire::new(&config, reno, script);
        wire.write(1_000);
        wire.finish();
        let stats = wire.sender.stats();
        assert!(stats.timeouts >= 1);
        assert_eq!(stats.spurious_timeouts, 1);
        assert_eq!((stats.recoveries, stats.spurious_recoveries), (0, 0));
        // Only the packets that were retransmitted before any answer.
        assert!(stats.packets_retransmitted <= 3, "{stats:?}");
        assert_eq!(wire.sender.controller().snapshot().ssthresh, None);
    }
}

#[test]
fn a_timeout_for_a_loss_is_not_undone() {
    let script = |packet, copy| match (packet, copy) {
        (20..40, 0..2) => Fate::Drop,
        _ => Fate::Pass,
    };
    let mut wire = fixed(20, DupThreshold, script);
    wire.write(100);
    wire.finish();
    let stats = wire.sender.stats();
    assert!(stats.timeouts >= 1);
    assert_eq!((stats.spurious_timeouts, stats.duplicates), (0, 0));
}

/// A Reno sender that has sent ten of its twenty packets, received no answer, and retransmitted the first after its
/// timeout; and the time.
fn timed_out() -> (Sender<AnyController>, Time) {
    let config = Config {
        loss_detection: DupThreshold,
        ..Config::default()
    };
    let reno = |connection| AnyController::new(ControllerKind::Reno, connection);
    let mut sender = established(1 << 20, &config, reno);
    sender.write(Bytes::new(20 * MSS));
    assert_eq!(sent(&mut sender, ms(100)), (0..10).collect::<Vec<_>>());
    let now = sender.next_timer().unwrap();
    sender.on_timer(now);
    assert_eq!(sent(&mut sender, now), [0]);
    assert_eq!(sender.stats().timeouts, 1);
    (sender, now)
}

/// The numbers of the packets that leave.
fn sent<C: Controller>(sender: &mut Sender<C>, now: Time) -> Vec<u64> {
    let mut packets = Vec::new();
    while let Some(burst) = sender.poll_burst(now) {
        sender.on_departed(&burst);
        for segment in burst.segments() {
            if let Body::Data(data) = segment.body {
                packets.push(data.seq / MSS);
            }
        }
    }
    packets
}

/// An ACK whose timestamp shows that a retransmitted packet was the latest to arrive.
fn ack(now: Time, packets: u64, sack: Option<u64>) -> Body {
    let mut sacks = SackBlocks::NONE;
    if let Some(packet) = sack {
        assert!(sacks.push(packet * MSS..(packet + 1) * MSS));
    }
    wire::ack(now, packets * MSS, 1 << 20, sacks)
}

#[test]
fn frto_undoes_a_timeout_when_data_arrives_that_was_never_repeated() {
    let (mut sender, now) = timed_out();
    let now = now + DELAY;
    sender.on_segment(now, &ack(now, 1, None));
    assert_eq!(sent(&mut sender, now), [10, 11], "new data, not repeated");
    let now = now + DELAY;
    sender.on_segment(now, &ack(now, 3, None));
    let stats = sender.stats();
    assert_eq!((stats.timeouts, stats.spurious_timeouts), (1, 1));
    assert_eq!(stats.packets_retransmitted, 1);
    assert!(sender.controller().cwnd() >= Bytes::new(10 * MSS));
}

#[test]
fn frto_takes_a_timeout_for_true_when_only_newer_data_arrives() {
    let (mut sender, now) = timed_out();
    let now = now + DELAY;
    sender.on_segment(now, &ack(now, 1, None));
    assert_eq!(sent(&mut sender, now), [10, 11]);
    let now = now + DELAY;
    sender.on_segment(now, &ack(now, 1, Some(10)));
    // As many as the ACK has made room for: it is out of order, so the window does not grow.
    assert_eq!(sent(&mut sender, now), [1], "now the lost");
    let now = now + DELAY;
    sender.on_segment(now, &ack(now, 3, Some(10)));
    assert_eq!(sender.stats().spurious_timeouts, 0);
}
