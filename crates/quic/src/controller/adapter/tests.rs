//! The first window, a new path, and hooks that make no sense.

use std::sync::Arc;
use std::time::{Duration, Instant};

use congestion::{AnyController, Bytes, Controller, ControllerKind};

use super::{Adapter, Pace};

fn adapter(now: Instant) -> Adapter<AnyController> {
    let make = |connection| AnyController::new(ControllerKind::Bbr1, connection);
    Adapter::new(make, 1, None, None, now, 1200)
}

#[test]
fn starts_with_ten_packets() {
    let mut adapter = adapter(Instant::now());
    assert_eq!(adapter.initial_window(), 12_000);
    assert_eq!(adapter.window(), 12_000);
    let metrics = adapter.metrics();
    let (rate, quantum) = (metrics.pacing_rate, metrics.send_quantum);
    assert!(rate.is_some_and(|rate| rate > 0));
    assert!(quantum.is_some_and(|quantum| quantum >= 1200));
}

/// noq's pacer is told a rate that never limits; the gate holds data back, and is not taken for the congestion window.
#[test]
fn a_driver_paces_in_place_of_noq() {
    let now = Instant::now();
    let pace = Arc::new(Pace::default());
    let make = |connection| AnyController::new(ControllerKind::Bbr1, connection);
    let mut adapter = Adapter::new(make, 1, None, Some(pace.clone()), now, 1200);
    let metrics = adapter.metrics();
    assert_eq!(metrics.pacing_rate, Some(u64::MAX));
    assert_eq!(metrics.congestion_window, 12_000);
    let rate = adapter.controller.pacing_rate().bytes_per_sec();
    assert_eq!(pace.bytes_per_sec(), rate);
    pace.set_open(false);
    assert_eq!(adapter.window(), 0);
    adapter.on_cwnd_limited();
    assert!(pace.is_held() && !adapter.is_cwnd_blocked);
    pace.set_open(true);
    assert_eq!(adapter.window(), 12_000);
    assert!(!pace.is_held());
    adapter.on_cwnd_limited();
    assert!(pace.is_held() && adapter.is_cwnd_blocked);
}

/// While the gate is shut, the window can be full all the same: BBRv3 has to hear of that.
#[test]
fn a_window_that_a_burst_has_filled_is_full_behind_a_shut_gate() {
    let now = Instant::now();
    let pace = Arc::new(Pace::default());
    let make = |connection| AnyController::new(ControllerKind::Bbr1, connection);
    let mut adapter = Adapter::new(make, 1, None, Some(pace.clone()), now, 1200);
    for number in 0..10 {
        pace.set_open(false);
        adapter.on_cwnd_limited();
        assert!(!adapter.is_cwnd_blocked, "{number} packets are not ten");
        pace.set_open(true);
        adapter.on_packet_sent(now, 1200, number);
    }
    pace.set_open(false);
    adapter.on_cwnd_limited();
    assert!(adapter.is_cwnd_blocked);
}

/// A pause is marked when it begins: what is sent after it is limited by the application until what was in flight then, and
/// what the pause left out, has been delivered.
#[test]
fn a_pause_marks_what_follows_it() {
    let now = Instant::now();
    let pace = Arc::new(Pace::default());
    let make = |connection| AnyController::new(ControllerKind::Bbr1, connection);
    let mut adapter = Adapter::new(make, 1, None, Some(pace.clone()), now, 1200);
    adapter.on_packet_sent(now, 1200, 0);
    pace.mark_dry();
    adapter.on_packet_sent(now, 1200, 1);
    let (first, second) = (
        adapter.packets.take_lost(0, 1200),
        adapter.packets.take_lost(1, 1200),
    );
    assert!(!first.unwrap().is_app_limited);
    assert!(second.unwrap().is_app_limited);
    // Once.
    assert!(!pace.take_dry());
}

#[test]
fn a_new_path_takes_the_controller_along_but_not_what_is_in_flight() {
    let now = Instant::now();
    let mut adapter = adapter(now);
    adapter.on_mtu_update(1400);
    for number in 0..10 {
        adapter.on_packet_sent(now, 1400, number);
    }
    let mut copy = adapter.for_new_path();
    assert_eq!(copy.window(), adapter.window());
    assert_eq!(copy.inflight, 0);
    assert_eq!(copy.controller.snapshot(), adapter.controller.snapshot());
    // The old path's packets are lost for the old controller; for the new one they never were.
    let later = now + Duration::from_secs(1);
    let before = copy.controller.snapshot();
    copy.on_packet_lost(1400, 3, later);
    assert_eq!(copy.counts.packets_lost, adapter.counts.packets_lost);
    assert_eq!(copy.controller.snapshot(), before);
    adapter.on_packet_lost(1400, 3, later);
    assert_eq!(adapter.counts.packets_lost, 1);
    assert_eq!(adapter.inflight, 9 * 1400);
}

/// Hooks in any order and with any numbers: a peer can bring about most of them.
#[test]
fn nonsense_is_survived() {
    let now = Instant::now();
    let earlier = now.checked_sub(Duration::from_secs(1)).unwrap_or(now);
    let mut adapter = adapter(now);
    adapter.on_spurious_congestion_event();
    adapter.on_end_acks(earlier, 1 << 60, true);
    adapter.on_packet_lost(u16::MAX, u64::MAX, earlier);
    adapter.on_congestion_event(earlier, true, false);
    adapter.on_congestion_event(now, false, true);
    adapter.on_packet_sent(earlier, u16::MAX, u64::MAX);
    adapter.on_packet_sent(now, 1, u64::MAX);
    adapter.on_mtu_update(u16::MAX);
    assert!(adapter.window() >= u64::from(u16::MAX));
    adapter.on_end_acks(now, 0, false);
    assert_eq!(adapter.inflight(), Bytes::ZERO);
    assert_eq!(adapter.packets.take_lost(u64::MAX, 1), None);
}
