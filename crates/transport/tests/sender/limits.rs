//! The sender's limits, and its reports of them.

use congestion::{AnyController, Bytes, Controller, ControllerKind, Duration, Rate, Time};
use transport::scheduler::Pacing;
use transport::segment::{Body, SackBlocks};
use transport::sender::LossDetection::Rack;
use transport::sender::{Config, Sender};

use crate::wire::{self, Fate, Fixed, MSS, Wire, established, fixed, ms};

fn pass(_: u64, _: u32) -> Fate {
    Fate::Pass
}

/// An ACK that no receiver has sent.
fn ack(now: Time, next: u64, window: u64) -> Body {
    wire::ack(now, next, window, SackBlocks::NONE)
}

/// A sender with an open connection, a window of ten packets, and a peer that offers `window`.
fn opened(window: u64) -> Sender<Fixed> {
    established(window, &Config::default(), |connection| {
        Fixed::packets(connection, 10)
    })
}

fn drain<C: Controller>(sender: &mut Sender<C>, now: Time) -> Vec<(u64, u32)> {
    let mut pieces = Vec::new();
    while let Some(burst) = sender.poll_burst(now) {
        sender.on_departed(&burst);
        pieces.push((burst.seq, burst.bytes));
    }
    pieces
}

#[test]
fn the_handshake_takes_a_round_trip_and_is_the_first_measurement() {
    let mut wire = fixed(10, Rack, pass);
    wire.run_until(ms(99));
    assert!(!wire.sender.is_established());
    wire.run_until(ms(101));
    assert!(wire.sender.is_established());
    let srtt = wire.sender.srtt().unwrap();
    assert_eq!(srtt.as_nanos() / 1_000_000, 100);
}

#[test]
fn a_window_limited_flow_has_its_window_in_flight_and_no_more() {
    let mut wire = fixed(10, Rack, pass);
    wire.write(1_000);
    while wire.now < ms(5_000) {
        wire.run_until(wire.now + Duration::from_millis(1));
        assert!(wire.sender.inflight() <= Bytes::new(10 * MSS));
    }
    // After the handshake, ten packets a round trip.
    let rounds = (5_000 - 100) / 100;
    let delivered = wire.sender.stats().delivered.get() / MSS;
    assert!(
        (rounds * 10 - 30..=rounds * 10).contains(&delivered),
        "{delivered}"
    );
}

#[test]
fn a_shut_window_is_probed_with_backoff_until_it_opens() {
    let mut sender = opened(2 * MSS);
    sender.write(Bytes::new(10 * MSS));
    assert_eq!(drain(&mut sender, ms(100)), [(0, 2 * MSS as u32)]);
    sender.on_segment(ms(200), &ack(ms(200), 2 * MSS, 0));
    assert_eq!(drain(&mut sender, ms(200)), []);

    let mut last = ms(200);
    let mut waits = Vec::new();
    for _ in 0..4 {
        let due = sender.next_timer().unwrap();
        waits.push(due.since(last).as_nanos());
        last = due;
        sender.on_timer(due);
        assert_eq!(
            drain(&mut sender, due),
            [(2 * MSS, 0)],
            "a probe without data"
        );
        sender.on_segment(due, &ack(due, 2 * MSS, 0));
        assert_eq!(drain(&mut sender, due), []);
    }
    for pair in waits.windows(2) {
        assert_eq!(pair[1], pair[0] * 2);
    }
    assert_eq!(sender.stats().window_probes, 4);
    assert_eq!(sender.stats().timeouts, 0);

    sender.on_segment(last, &ack(last, 2 * MSS, 100 * MSS));
    let sent: u32 = drain(&mut sender, last).iter().map(|piece| piece.1).sum();
    assert_eq!(sent, 8 * MSS as u32);
    let limits = sender.limits(last);
    assert!(limits.receive_window >= last.since(ms(200)), "{limits:?}");
}

#[test]
fn less_than_a_packet_of_window_is_not_worth_sending_unless_nothing_else_is_out() {
    let mut sender = opened(MSS + 100);
    sender.write(Bytes::new(10 * MSS));
    assert_eq!(drain(&mut sender, ms(100)), [(0, MSS as u32)]);
    sender.on_segment(ms(200), &ack(ms(200), MSS, 100));
    assert_eq!(drain(&mut sender, ms(200)), [(MSS, 100)]);
}

#[test]
fn where_both_windows_are_full_the_congestion_window_is_the_limit() {
    for (packets, is_receivers) in [(9, true), (10, false)] {
        let mut sender = opened(packets * MSS);
        sender.write(Bytes::new(20 * MSS));
        drain(&mut sender, ms(100));
        let limits = sender.limits(ms(150));
        let held = ms(150).since(ms(100));
        let (receiver, congestion) = (limits.receive_window, limits.congestion_window);
        let expected = if is_receivers {
            (held, Duration::ZERO)
        } else {
            (Duration::ZERO, held)
        };
        assert_eq!((receiver, congestion), expected, "{packets}");
    }
}

#[test]
fn a_send_buffer_holds_what_is_not_acknowledged() {
    let config = Config {
        send_buffer: Bytes::new(20 * MSS),
        ..Config::default()
    };
    let mut wire = Wire::new(&config, |c| Fixed::packets(c, 100), pass);
    assert_eq!(wire.sender.write(Bytes::MAX), Bytes::new(20 * MSS));
    assert_eq!(wire.sender.room(), Bytes::ZERO);
    wire.run_until(ms(1_000));
    assert_eq!(wire.sender.room(), Bytes::new(20 * MSS));
    let sample = wire.acks.last().unwrap();
    assert!(!sample.is_cwnd_limited);
}

#[test]
fn samples_are_application_limited_when_the_application_was_the_limit() {
    let mut wire = fixed(20, Rack, pass);
    wire.write(200);
    wire.run_until(ms(600));
    assert!(
        wire.acks
            .iter()
            .all(|ack| !ack.rate.is_app_limited && ack.is_cwnd_limited)
    );
    assert!(wire.acks.iter().any(|ack| ack.is_window_full));
    wire.run_until(ms(3_000));
    let busy = wire.acks.len();
    for _ in 0..5 {
        wire.write(5);
        wire.run_until(wire.now + Duration::from_millis(500));
    }
    let idle = &wire.acks[busy..];
    assert!(!idle.is_empty());
    assert!(
        idle.iter()
            .all(|ack| ack.rate.is_app_limited && !ack.is_cwnd_limited && !ack.is_window_full)
    );
    assert_eq!(wire.sender.controller().idle_restarts, 5);

    // Bulk again: the application-limited marks end with the data sent under them.
    wire.write(1_000);
    wire.run_until(wire.now + Duration::from_millis(500));
    assert!(wire.acks.last().is_some_and(|ack| !ack.rate.is_app_limited));
    let limits = wire.sender.limits(wire.now);
    assert!(limits.idle + limits.application >= Duration::from_millis(2_000));
}

#[test]
fn small_queues_bound_what_waits_below() {
    let mut sender = opened(1 << 30);
    sender.write(Bytes::new(100 * MSS));
    let mut below = Vec::new();
    while let Some(burst) = sender.poll_burst(ms(100)) {
        below.push(burst);
    }
    // The rate of this controller is no limit; the window is.
    assert_eq!(below.iter().map(|burst| burst.packets()).sum::<u32>(), 10);

    let mut sender = established(1 << 30, &Config::default(), |connection| Fixed {
        rate: Rate::from_bits_per_sec(10_000_000),
        ..Fixed::packets(connection, 1_000)
    });
    sender.write(Bytes::new(500 * MSS));
    let mut below = Vec::new();
    while let Some(burst) = sender.poll_burst(ms(101)) {
        below.push(burst);
    }
    // Two bursts of two packets, and the one that exceeds the limit.
    assert_eq!(below.len(), 3);
    sender.on_departed(&below[0]);
    assert!(sender.poll_burst(ms(102)).is_some());
    assert!(sender.poll_burst(ms(102)).is_none());
}

#[test]
fn pacing_by_the_connection_keeps_bursts_apart() {
    let config = Config {
        pacing: Pacing::PerConnection,
        ..Config::default()
    };
    let mut wire = Wire::new(
        &config,
        |connection| AnyController::new(ControllerKind::Bbr1, connection),
        |_, _| Fate::Pass,
    );
    wire.write(3_000);
    wire.finish();
    let rate = wire.sender.controller().pacing_rate();
    let sent = &wire.sent;
    let late = &sent[sent.len() - 100..];
    let span = late[99].0.since(late[0].0);
    let bytes = rate.bytes_in(span).get();
    assert!(
        (late.len() as u64 - 20) * 1448 <= bytes * 2,
        "{bytes} in {span:?}"
    );
    assert_eq!(wire.sender.stats().packets_lost, 0);
}

#[test]
fn a_connection_paces_itself_only_if_its_controller_needs_that() {
    // 33 bursts of 2 packets. At 10 Mbit/s they would take 77 ms, without the first 10 packets.
    for (pacing, needs_pacing, packets) in [
        (Pacing::PerConnection, true, 10),
        (Pacing::PerConnection, false, 66),
        (Pacing::None, true, 66),
    ] {
        let config = Config {
            pacing,
            ..Config::default()
        };
        let mut sender = established(1 << 30, &config, |connection| Fixed {
            rate: Rate::from_bits_per_sec(10_000_000),
            needs_pacing,
            ..Fixed::packets(connection, 66)
        });
        sender.write(Bytes::new(500 * MSS));
        assert_eq!(
            burst_sizes(&mut sender, ms(100)).iter().sum::<u64>(),
            packets
        );
    }
}

/// Deferral of small bursts (Linux `tcp_tso_should_defer`).
#[test]
fn a_busy_sender_lets_the_window_open_for_a_whole_burst() {
    let config = Config {
        pacing: Pacing::None,
        ..Config::default()
    };
    let mut sender = established(1 << 30, &config, |connection| Fixed {
        quantum: connection.mss * 8,
        ..Fixed::packets(connection, 30)
    });
    sender.write(Bytes::new(500 * MSS));
    assert_eq!(burst_sizes(&mut sender, ms(100)), [8, 8, 8, 6]);
    let mut bursts = Vec::new();
    for (micros, acknowledged) in [(0, 2), (200, 4), (400, 6), (600, 8), (800, 10), (1_900, 12)] {
        let now = ms(200) + Duration::from_micros(micros);
        sender.on_segment(now, &ack(now, acknowledged * MSS, 1 << 30));
        bursts.push(burst_sizes(&mut sender, now));
    }
    // It had not sent for 100 ms; then it waits for eight packets; a millisecond later it does not wait.
    let expected: [&[u64]; 6] = [&[2], &[], &[], &[], &[8], &[2]];
    assert_eq!(bursts, expected);
}

/// The packets of each burst that leaves now.
fn burst_sizes(sender: &mut Sender<Fixed>, now: Time) -> Vec<u64> {
    let pieces = drain(sender, now).into_iter();
    pieces.map(|(_, bytes)| u64::from(bytes) / MSS).collect()
}
