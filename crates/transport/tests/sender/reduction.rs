//! The shrinking of the window in a recovery (RFC 9937).

use congestion::{AnyController, Bytes, Controller, ControllerKind, Duration, Time};
use transport::scheduler::Pacing;
use transport::segment::SackBlocks;
use transport::sender::{Config, Sender};

use crate::wire::{Fate, MSS, Wire, ack, established, ms};

/// A flow of `kind` in congestion avoidance, at the start of the recovery from a single loss; and the bytes in flight
/// before.
fn recovering(kind: ControllerKind) -> (Wire<AnyController>, Bytes) {
    let config = Config::default();
    let script = |packet, copy| match (packet, copy) {
        (200 | 4_000, 0) => Fate::Drop,
        _ => Fate::Pass,
    };
    let mut wire = Wire::new(&config, |c| AnyController::new(kind, c), script);
    wire.write(20_000);
    let mut inflight = Bytes::ZERO;
    while wire.sender.stats().recoveries < 2 {
        inflight = wire.sender.inflight();
        step(&mut wire);
    }
    (wire, inflight)
}

fn step(wire: &mut Wire<AnyController>) {
    wire.run_until(wire.now + Duration::from_micros(100));
    assert!(wire.now < ms(60_000), "{:?}", wire.sender.stats());
}

/// The reduction is spread over the round trip and ends at the target window, with neither a silence nor a burst.
#[test]
fn the_window_is_reached_by_sending_less_all_along() {
    for kind in [ControllerKind::Reno, ControllerKind::Cubic] {
        let (mut wire, before) = recovering(kind);
        let window = wire.sender.controller().cwnd();
        assert!(window < before, "{kind}: {window} of {before}");
        let start = wire.now;
        let share = window.get() as f64 / before.get() as f64;
        for quarter in [25, 50, 75] {
            wire.run_until(start + Duration::from_millis(quarter));
            let reached = 1.0 - (1.0 - share) * quarter as f64 / 100.0;
            let inflight = wire.sender.inflight().get() as f64 / before.get() as f64;
            assert!(
                (inflight - reached).abs() < 0.12,
                "{kind} at {quarter} ms: {inflight}"
            );
        }
        let end = ends(&mut wire);
        let short = window - wire.sender.inflight();
        assert!(
            short <= Bytes::new(3 * MSS),
            "{kind}: {short} below {window}"
        );
        assert!(wire.sender.inflight() <= wire.sender.controller().cwnd());
        let burst = wire.sent.iter().filter(|(time, _)| *time == end).count();
        assert!(burst <= 4, "{kind}: {burst} packets at once");
    }
}

/// Runs to the end of the recovery: the acknowledgement of the packet that was lost.
fn ends(wire: &mut Wire<AnyController>) -> Time {
    let una = |wire: &Wire<AnyController>| wire.receiver.received();
    let before = una(wire);
    while una(wire) == before {
        step(wire);
    }
    wire.run_until(wire.now + Duration::from_millis(50));
    wire.now
}

/// The ACK that starts the recovery may have delivered many bytes, which were in flight before, too.
#[test]
fn what_the_first_ack_delivers_counts_as_in_flight_before() {
    let config = Config {
        initial_cwnd: 20,
        pacing: Pacing::None,
        ..Config::default()
    };
    let reno = |connection| AnyController::new(ControllerKind::Reno, connection);
    let mut sender = established(1 << 20, &config, reno);
    sender.write(Bytes::new(100 * MSS));
    assert_eq!(packets(&mut sender, ms(100)), 20);
    let mut sacks = SackBlocks::NONE;
    sacks.push(MSS..6 * MSS);
    sender.on_segment(ms(200), &ack(ms(150), 0, 1 << 20, sacks));
    assert_eq!(sender.controller().cwnd(), Bytes::new(10 * MSS));
    // Half of the five delivered packets may leave.
    assert_eq!(packets(&mut sender, ms(200)), 2);
}

fn packets<C: Controller>(sender: &mut Sender<C>, now: Time) -> u32 {
    let mut count = 0;
    while let Some(burst) = sender.poll_burst(now) {
        count += burst.packets();
        sender.on_departed(&burst);
    }
    count
}

/// Packets sent and lost in a recovery, and retransmitted but not acknowledged when it ends, belong to the next one:
/// it begins with the same ACK (Linux `tcp_time_to_recover` considers all lost packets).
#[test]
fn a_recovery_that_leaves_repetitions_unsettled_runs_into_the_next() {
    let config = Config {
        initial_cwnd: 40,
        ..Config::default()
    };
    const LATER: u64 = 48;
    // The first loss takes two retransmissions, so that the loss of packets sent meanwhile is found before its
    // recovery ends.
    let script = |packet, copy| match (packet, copy) {
        (5, 0 | 1) | (LATER, 0) => Fate::Drop,
        _ => Fate::Pass,
    };
    let reno = |connection| AnyController::new(ControllerKind::Reno, connection);
    let mut wire = Wire::new(&config, reno, script);
    wire.write(2_000);
    while wire.receiver.received() <= 5 * MSS {
        step(&mut wire);
    }
    assert_eq!(wire.sender.stats().recoveries, 1);
    assert_eq!(wire.sender.stats().packets_lost, 3);
    assert_eq!(wire.receiver.received(), LATER * MSS);
    wire.run_until(wire.now + Duration::from_millis(100));
    assert!(wire.receiver.received() > LATER * MSS);
    assert_eq!(wire.sender.stats().recoveries, 2);
    assert_eq!(wire.sender.stats().packets_lost, 3);
}
