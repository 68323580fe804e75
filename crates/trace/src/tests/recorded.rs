//! Packets that were recorded in another order than they passed, and numbers that count other packets, too.

use std::net::SocketAddrV4;

use capture::packet::Flags;
use capture::write::{TcpPacket, Writer};
use units::{Duration, Time};

use super::hosts::{ACK, FULL, Hosts, SYN, SYN_ACK};
use super::{A, B, summary};
use crate::{FlowSummary, Summary};

const CLOSE: Flags = ACK.with(Flags::FIN);

/// The flow of a capture at B, which acknowledges each packet at once. Every packet of which `is_late` is recorded `late_us` after
/// its acknowledgement.
fn at_receiver(has_timestamps: bool, is_late: impl Fn(u32) -> bool, late_us: u64) -> FlowSummary {
    let mut hosts = Hosts::new();
    hosts.has_timestamps = has_timestamps;
    hosts.say(true, (0, 0), SYN, 60_000, 0, &[]);
    hosts.say(false, (0, 1), SYN_ACK, 60_000, 0, &[]);
    hosts.wait(20_000);
    hosts.say(true, (1, 1), ACK, 500, 0, &[]);
    for packet in 0..2_000 {
        if packet % 10 == 0 {
            hosts.wait(20_000);
        }
        hosts.wait(100);
        if is_late(packet) {
            let first = 1 + hosts.sent;
            hosts.sent += FULL;
            hosts.ack(0, 500);
            hosts.wait(late_us);
            hosts.say(true, (first, 1), ACK, 500, FULL, &[]);
            hosts.now_us -= late_us;
        } else {
            hosts.data(ACK, FULL);
            hosts.wait(1);
            hosts.ack(0, 500);
            hosts.now_us -= 1;
        }
    }
    only(hosts.summary())
}

fn only(mut summary: Summary) -> FlowSummary {
    assert_eq!(summary.connections.len(), 1);
    summary.connections[0].flows.swap_remove(0)
}

fn counts(flow: &FlowSummary) -> (u64, u64, Option<u64>, u64, u64) {
    let FlowSummary {
        packets,
        retransmitted,
        lost,
        missed_bytes,
        copies,
        ..
    } = *flow;
    (packets, retransmitted, lost, missed_bytes, copies)
}

#[test]
fn an_acknowledgement_that_was_recorded_before_its_data_waits_for_them() {
    let none = (2_000, 0, Some(0), 0, 0);
    for has_timestamps in [true, false] {
        let plain = at_receiver(has_timestamps, |_| false, 0);
        assert_eq!(counts(&plain), none);
        for (each, late_us) in [(500, 5), (20, 5), (1, 5), (3, 50), (20, 90)] {
            let flow = at_receiver(has_timestamps, |packet| packet % each == 0, late_us);
            assert_eq!(counts(&flow), none, "{has_timestamps} {each} {late_us}");
            assert_eq!(flow.place, plain.place);
            let same = |one: Option<f64>, other: Option<f64>| {
                one.zip(other)
                    .is_none_or(|(one, other)| (one - other).abs() < 0.2)
            };
            assert!(same(flow.rtprop_ms, plain.rtprop_ms), "{flow:?}");
        }
    }
}

/// Longer than any acknowledgement waits.
#[test]
fn data_that_were_recorded_much_later_are_sent_once() {
    let mut hosts = Hosts::new();
    hosts.shake(20_000);
    for _ in 0..100 {
        hosts.data(ACK, FULL);
        let first = 1 + hosts.sent;
        hosts.sent += FULL;
        hosts.wait(20_000);
        hosts.ack(0, 500);
        hosts.wait(30_000);
        hosts.say(true, (first, 1), ACK, 500, FULL, &[]);
    }
    assert_eq!(counts(&only(hosts.summary())), (200, 0, Some(0), 0, 0));
}

#[test]
fn data_that_were_never_recorded_are_missed() {
    let flow = {
        let mut hosts = Hosts::new();
        hosts.shake(20_000);
        for packet in 0..1_000 {
            if packet % 10 == 3 {
                hosts.sent += FULL;
            } else {
                hosts.data(ACK, FULL);
            }
            hosts.wait(20_000);
            hosts.ack(0, 500);
        }
        only(hosts.summary())
    };
    assert_eq!(flow.missed_bytes, 100 * u64::from(FULL));
    assert_eq!((flow.packets, flow.lost), (900, Some(0)));
    assert_eq!(flow.rtprop_ms, Some(20.0));
}

#[test]
fn the_halves_of_a_handshake_may_be_recorded_in_any_order() {
    // At the server, the answer comes before the SYN; at the client, the acknowledgement before the answer.
    for is_server in [true, false] {
        let mut hosts = Hosts::new();
        let syn = |hosts: &mut Hosts| hosts.say(true, (0, 0), SYN, 60_000, 0, &[]);
        let answer = |hosts: &mut Hosts| hosts.say(false, (0, 1), SYN_ACK, 60_000, 0, &[]);
        let end = |hosts: &mut Hosts| hosts.say(true, (1, 1), ACK, 500, 0, &[]);
        if is_server {
            answer(&mut hosts);
            hosts.wait(3);
            syn(&mut hosts);
            hosts.wait(20_000);
            end(&mut hosts);
        } else {
            syn(&mut hosts);
            hosts.wait(20_000);
            end(&mut hosts);
            hosts.wait(3);
            answer(&mut hosts);
        }
        hosts.wait(50_000);
        hosts.data(ACK, FULL);
        let summary = hosts.summary();
        let [connection] = &summary.connections[..] else {
            panic!("{summary:?}");
        };
        let handshake = connection.handshake_ms.expect("a handshake");
        assert!((handshake - 20.0).abs() < 0.01, "{is_server}: {handshake}");
        assert_eq!(connection.client, A.to_string());
    }
}

#[test]
fn a_close_may_be_recorded_behind_its_acknowledgement() {
    let mut hosts = Hosts::new();
    hosts.shake(20_000);
    hosts.data(ACK, FULL);
    hosts.say(false, (1, 2 + hosts.sent), ACK, 500, 0, &[]);
    hosts.wait(5);
    hosts.say(true, (1 + hosts.sent, 1), CLOSE, 500, 0, &[]);
    assert_eq!(only(hosts.summary()).missed_bytes, 0);
}

#[test]
fn without_its_answer_half_of_a_handshake_waits_once() {
    let mut hosts = Hosts::new();
    hosts.say(true, (0, 0), SYN, 60_000, 0, &[]);
    for _ in 0..1_000 {
        hosts.wait(20);
        hosts.data(ACK, FULL);
    }
    let flow = only(hosts.summary());
    assert_eq!((flow.packets, flow.retransmitted), (1_000, 0));
}

/// A server numbers the packets of all its connections to a host with one counter, as Windows does. Nothing is lost. After a
/// long time, its second connection takes many numbers, and the first one goes on.
fn shared_numbers(has_second: bool, rest: u32) -> Summary {
    let mut writer = Writer::new(Vec::new(), "shared").expect("a vector takes everything");
    let mut id = 1_000;
    let mut now_us = 0;
    let mut say = |port: u16, from_b: bool, seq: u32, wait_us: u64, is_captured: bool| {
        let client = SocketAddrV4::new(*A.ip(), port);
        id += u16::from(from_b);
        now_us += wait_us;
        let packet = TcpPacket {
            from: if from_b { B } else { client },
            to: if from_b { client } else { B },
            id: if from_b { id } else { 0 },
            ecn: 0,
            seq: if from_b { seq } else { 1 },
            ack: if from_b { 1 } else { seq },
            flags: ACK,
            window: 60_000,
            options: &[],
            len: if from_b { FULL } else { 0 },
        };
        if is_captured {
            let written = writer.packet(Time::ZERO + Duration::from_micros(now_us), &packet);
            written.expect("a vector takes everything");
        }
    };
    let mut first = 1;
    for packet in 0..120 {
        say(50_001, true, first, 100, true);
        first += FULL;
        // The last acknowledgements were not captured.
        say(50_001, false, first, 200, packet < 100);
    }
    say(50_002, false, 1, 12_000_000, has_second);
    for packet in 0..40 {
        say(50_002, true, 1 + packet * FULL, 10, has_second);
    }
    for _ in 0..rest {
        say(50_001, true, first, 300, true);
        first += FULL;
        say(50_001, false, first, 300, true);
    }
    summary(&writer.finish().expect("a vector takes everything"))
}

#[test]
fn numbers_of_another_connection_are_no_losses() {
    for (has_second, rest) in [(true, 1), (true, 100), (false, 1)] {
        let summary = shared_numbers(has_second, rest);
        for flow in summary.connections.iter().flat_map(|one| &one.flows) {
            assert_eq!(
                (flow.lost, flow.retransmitted),
                (Some(0), 0),
                "{has_second} {rest}"
            );
        }
    }
}

/// Before three quarters of the round trip, without timestamps.
#[test]
fn a_packet_that_is_sent_again_soon_has_another_number() {
    for is_copy in [false, true] {
        let mut hosts = Hosts::new();
        hosts.has_timestamps = false;
        hosts.shake(200_000);
        hosts.data(ACK, FULL);
        hosts.data(ACK, FULL);
        hosts.wait(100_000);
        if is_copy {
            hosts.again();
        } else {
            hosts.say(true, (1 + hosts.sent - FULL, 1), ACK, 500, FULL, &[]);
        }
        hosts.wait(100_000);
        hosts.ack(0, 500);
        let flow = only(hosts.summary());
        let (copies, again) = if is_copy { (1, 0) } else { (0, 1) };
        assert_eq!((flow.copies, flow.retransmitted), (copies, again));
    }
}

#[test]
fn times_that_are_microseconds_out_of_order_change_nothing() {
    let mut hosts = Hosts::new();
    hosts.shake(20_000);
    for _ in 0..200 {
        for _ in 0..10 {
            hosts.data(ACK, FULL);
            hosts.now_us -= 1;
            hosts.data(ACK, FULL);
            hosts.wait(3);
        }
        hosts.wait(20_000);
        hosts.ack(0, 500);
    }
    let summary = hosts.summary();
    assert_eq!((summary.read.backward, summary.read.set_back), (2_000, 0));
    assert!(summary.read.backward_ms < 0.002);
    let flow = only(summary);
    assert_eq!(counts(&flow), (4_000, 0, Some(0), 0, 0));
    assert!(
        flow.rtprop_ms
            .is_some_and(|rtprop| (19.9..20.1).contains(&rtprop))
    );
}
