//! Tests of the first window, of a new path, and of inconsistent hooks.

use std::time::{Duration, Instant};

use congestion::{AnyController, Bytes, Controller, ControllerKind};

use super::Adapter;

fn adapter(now: Instant) -> Adapter<AnyController> {
    let make = |connection| AnyController::new(ControllerKind::Bbr1, connection);
    Adapter::new(make, 1, None, now, 1200)
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
    // The old controller loses the old path's packets. The new one never had them.
    let later = now + Duration::from_secs(1);
    let before = copy.controller.snapshot();
    copy.on_packet_lost(1400, 3, later);
    assert_eq!(copy.counts.packets_lost, adapter.counts.packets_lost);
    assert_eq!(copy.controller.snapshot(), before);
    adapter.on_packet_lost(1400, 3, later);
    assert_eq!(adapter.counts.packets_lost, 1);
    assert_eq!(adapter.inflight, 9 * 1400);
}

/// Nothing more is sent until the ACK of the data in flight when the application ran dry. Packets that leave before are
/// marked.
#[test]
fn an_application_limit_begins_when_the_data_ends() {
    let now = Instant::now();
    let at = |ms| now + Duration::from_millis(ms);
    let samples = |ran_dry| {
        let mut adapter = adapter(now);
        adapter.on_packet_sent(now, 1200, 0);
        if ran_dry {
            adapter.on_application_limit();
        }
        adapter.on_packet_sent(at(5), 1200, 1);
        let mut limited = Vec::new();
        for (number, ms) in [(0, 40), (1, 45)] {
            let sent = adapter
                .packets
                .take_acked(number, adapter.time(at(number * 5)), 1200);
            let sent = sent.expect("in flight");
            adapter.sampler.on_packet_acked(adapter.time(at(ms)), &sent);
            let rate = adapter
                .sampler
                .sample(adapter.time(at(ms)), congestion::Duration::ZERO);
            limited.push(rate.is_app_limited);
        }
        limited
    };
    assert_eq!(samples(false), [false, false]);
    assert_eq!(samples(true), [false, true]);
}

/// The kernel received these ACKs before the last burst left, and they are read after it.
#[test]
fn the_time_of_an_ack_is_its_own() {
    let now = Instant::now();
    let at = |ms| now + Duration::from_millis(ms);
    let mut adapter = adapter(now);
    adapter.on_packet_sent(now, 1200, 0);
    adapter.on_packet_sent(now, 1200, 1);
    adapter.on_packet_sent(at(46), 1200, 2);
    let mut seen = Vec::new();
    // By the clocks, the last ACK came before its packet had left.
    for (number, sent, ms) in [(0, 0, 40), (1, 0, 43), (2, 46, 45)] {
        acknowledge(&mut adapter, at(sent), at(ms), number, 1200 * (2 - number));
        let ended = adapter.ended.expect("held back");
        let rtt = ended.rtt.map(|sample| sample.rtt.as_nanos() / 1_000_000);
        seen.push((ended.acked.as_nanos() / 1_000_000, rtt));
        // The controller's time never goes back.
        assert_eq!(ended.now, adapter.time(at(46)));
    }
    assert_eq!(seen, [(40, Some(40)), (43, Some(43)), (46, Some(0))]);
}

/// Does as `on_ack` and `on_end_acks` do, because only noq can make its estimator.
fn acknowledge(
    adapter: &mut Adapter<AnyController>,
    sent: Instant,
    at: Instant,
    number: u64,
    in_flight: u64,
) {
    adapter.settle();
    adapter.take_ack(at, sent, 1200, number);
    adapter.on_end_acks(at, in_flight, false);
}

/// The draft's `C.inflight < C.cwnd`.
#[test]
fn data_that_fills_the_window_is_limited_by_the_window() {
    for (packets, rest, is_limited) in [(8, 600, true), (9, 0, true), (9, 1, false), (10, 0, false)]
    {
        let now = Instant::now();
        let mut adapter = adapter(now);
        for number in 0..packets {
            adapter.on_packet_sent(now, 1200, number);
        }
        adapter.on_packet_sent(now, rest, packets);
        adapter.on_application_limit();
        assert_eq!(adapter.sampler.is_app_limited(), is_limited, "{packets}");
    }
}

/// noq sends such a probe regardless of the window, and does not report its loss.
#[test]
fn a_probe_of_the_path_mtu_takes_no_room_in_the_window() {
    let now = Instant::now();
    let at = |ms| now + Duration::from_millis(ms);
    let mut adapter = adapter(now);
    let window = adapter.window();
    for (number, bytes) in [(0, 1200), (1, 30_000), (2, 1200)] {
        adapter.on_packet_sent(now, bytes, number);
    }
    assert_eq!(adapter.window(), window + 30_000);
    assert_eq!(adapter.inflight().get(), 2_400);
    adapter.on_application_limit();
    assert!(adapter.sampler.is_app_limited());
    acknowledge(&mut adapter, now, at(40), 0, 31_200);
    let window = adapter.window();
    assert_eq!(window, adapter.controller.cwnd().get() + 30_000);
    acknowledge(&mut adapter, now, at(41), 2, 0);
    let window = adapter.window();
    assert_eq!(window, adapter.controller.cwnd().get());
    // noq declares a probe lost after the hooks of the ACK that shows the loss.
    for (number, bytes) in [(3, 30_000), (4, 1200), (5, 1200), (6, 1200)] {
        adapter.on_packet_sent(at(50), bytes, number);
    }
    for (number, room) in [(4, 30_000), (6, 0)] {
        acknowledge(&mut adapter, at(50), at(90), number, 32_400);
        let window = adapter.window();
        assert_eq!(window, adapter.controller.cwnd().get() + room, "{number}");
    }
}

/// Hooks in any order and with any numbers. A peer can cause most of them.
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
