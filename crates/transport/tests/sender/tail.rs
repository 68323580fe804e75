//! Losses at the end of the data: found by a timer, or repaired by a probe.

use congestion::{AnyController, Bytes, Controller, ControllerKind, Duration, Snapshot};
use transport::sender::{Config, Stats};

use crate::wire::{DELAY, Fate, MSS, Wire, ms};

const PACKETS: u64 = 20_000;

/// Sends [`PACKETS`], of which those in `lost` are dropped once.
fn wire(kind: ControllerKind, lost: core::ops::Range<u64>) -> Wire<AnyController> {
    let make = move |c| AnyController::on_host(kind, c);
    let mut wire = Wire::new(&Config::default(), make, move |packet, copy| {
        if copy == 0 && lost.contains(&packet) {
            Fate::Drop
        } else {
            Fate::Pass
        }
    });
    wire.write(PACKETS);
    wire
}

fn completion(kind: ControllerKind, lost: core::ops::Range<u64>) -> (Duration, Stats) {
    let mut wire = wire(kind, lost);
    let end = wire.finish();
    (end.since(ms(0)), wire.sender.stats())
}

/// Of the last 40 packets, all but the very last are lost. Its SACK shows one hole, and RACK's timer declares the
/// losses. Linux then leaves the window to BBR, which changes it only at the next ACK. So all retransmissions leave
/// at once, and the tail takes one more round trip and RACK's quarter of one.
#[test]
fn losses_that_the_timer_finds_are_repaired_in_one_round_trip() {
    let (clean, _) = completion(ControllerKind::Bbr1, 0..0);
    let (lossy, stats) = completion(ControllerKind::Bbr1, PACKETS - 40..PACKETS - 1);
    assert_eq!((stats.packets_lost, stats.packets_retransmitted), (39, 39));
    assert_eq!(stats.timeouts, 0);
    let cost = lossy.saturating_sub(clean);
    let rtt = DELAY * 2;
    assert!(cost < rtt + rtt / 2, "{cost}");
}

/// The controller when a transfer whose last packet was lost is over and idle, and the time that the next 2,000
/// packets take.
fn after_probe(kind: ControllerKind, lost: core::ops::Range<u64>) -> (Snapshot, Duration, Stats) {
    let mut wire = wire(kind, lost);
    wire.run_until(ms(20_000));
    let start = wire.now;
    wire.write(2_000);
    let mut least = wire.sender.controller().snapshot();
    while !wire.sender.inflight().is_zero() {
        wire.run_until(wire.now + Duration::from_millis(1));
        let snapshot = wire.sender.controller().snapshot();
        if snapshot.cwnd < least.cwnd {
            least = snapshot;
        }
    }
    (least, wire.now.since(start), wire.sender.stats())
}

/// Linux goes through CWR to Open when a probe has repaired a loss. BBR reacts only to Recovery, so it does not
/// conserve packets.
#[test]
fn a_loss_that_a_probe_repaired_does_not_narrow_bbrs_window() {
    let (clean, in_clean, _) = after_probe(ControllerKind::Bbr1, 0..0);
    let (probed, in_probed, stats) = after_probe(ControllerKind::Bbr1, PACKETS - 1..PACKETS);
    assert_eq!((stats.tail_loss_probes, stats.recoveries), (1, 1));
    assert_eq!(probed.cwnd, clean.cwnd);
    assert!(
        in_probed <= in_clean + Duration::from_millis(2),
        "{in_probed}, not {in_clean}"
    );
}

/// CUBIC's window does answer that loss, when data beyond the probe's are acknowledged.
#[test]
fn a_loss_that_a_probe_repaired_reduces_cubics_window() {
    for (lost, is_reduced) in [(0..0, false), (PACKETS - 1..PACKETS, true)] {
        let mut wire = wire(ControllerKind::Cubic, lost);
        wire.run_until(ms(20_000));
        wire.write(1);
        wire.run_until(wire.now + Duration::from_millis(300));
        let initial = Bytes::new(10 * MSS);
        let ssthresh = wire.sender.controller().snapshot().ssthresh;
        assert_eq!(
            ssthresh.is_some_and(|ssthresh| ssthresh < initial),
            is_reduced
        );
        assert_eq!(wire.sender.stats().recoveries, u64::from(is_reduced));
    }
}

/// From one packet on everything is lost, and the application continues to write. Data written less than a round trip
/// before the timeout are not declared lost (RFC 8985, `RACK_mark_losses_on_RTO`). The window of Linux's BBR after a
/// timeout holds them, and one packet more for the retransmission.
#[test]
fn a_timeout_leaves_young_packets_in_flight_and_room_for_the_repetition() {
    const FIRST_LOST: u64 = 2_000;
    let make = |c| AnyController::on_host(ControllerKind::Bbr1, c);
    let mut wire = Wire::new(&Config::default(), make, |packet, _| {
        if packet >= FIRST_LOST {
            Fate::Drop
        } else {
            Fate::Pass
        }
    });
    wire.write(FIRST_LOST);
    wire.run_until(ms(10_000));
    while wire.sender.stats().timeouts == 0 {
        wire.write(1);
        wire.run_until(wire.now + Duration::from_millis(5));
    }
    let (cwnd, inflight) = (wire.sender.controller().cwnd(), wire.sender.inflight());
    assert_eq!(cwnd, inflight);
    assert!(inflight >= Bytes::new(MSS) * 3, "{inflight}");
}
