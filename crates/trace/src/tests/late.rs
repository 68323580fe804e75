//! Captures that begin late or are truncated. Missing data must not be invented.

use super::hosts::{ACK, FULL, Hosts, PUSH, SYN, SYN_ACK};
use crate::FlowSummary;

/// A serves requests 2 ms away from B, and thinks for 30 ms about each. The capture is at A, and begins late.
fn thinking(first: u32, second: u32) -> FlowSummary {
    let mut hosts = Hosts::new();
    for request in 0..40 {
        hosts.say(
            false,
            (1 + request * 100, 1 + hosts.sent),
            PUSH,
            60_000,
            100,
            &[],
        );
        hosts.wait(30_000);
        for packet in 0..first {
            let flags = if packet + 1 == first && second == 0 {
                PUSH
            } else {
                ACK
            };
            let len = if flags == PUSH { 700 } else { FULL };
            hosts.data(flags, len);
        }
        hosts.wait(2_000);
        for packet in 0..second {
            let but = (first - packet - 1) * FULL + packet * FULL;
            hosts.ack(but, 60_000);
            hosts.data(
                if packet + 1 == second { PUSH } else { ACK },
                if packet + 1 == second { 700 } else { FULL },
            );
        }
        hosts.wait(2_000);
        hosts.ack(0, 60_000);
        hosts.wait(5_000);
    }
    hosts.flow()
}

#[test]
fn what_an_application_thinks_is_no_way_to_the_sender() {
    let flow = thinking(1, 0);
    assert_eq!((flow.place, flow.rtprop_ms), ("unknown", None), "{flow:?}");
    // Data that wait for acknowledgements show the round-trip time to the sender.
    let flow = thinking(6, 4);
    assert_eq!(
        (flow.place, flow.rtprop_ms),
        ("sender", Some(2.0)),
        "{flow:?}"
    );
}

/// B reads 20 kB every 300 ms. The segments that the window's edge cuts have PSH. The window opens `idle_us` before A
/// sends.
fn slow_reader(idle_us: u64) -> FlowSummary {
    let mut hosts = Hosts::new();
    hosts.shake(20_000);
    for _ in 0..20 {
        hosts.wait(idle_us);
        let window = 156 << 7;
        for _ in 0..window / FULL {
            hosts.data(ACK, FULL);
        }
        hosts.data(PUSH, window % FULL);
        hosts.wait(20_000);
        hosts.ack(0, 0);
        hosts.wait(300_000 - idle_us);
        hosts.ack(0, 156);
    }
    hosts.flow()
}

#[test]
fn what_the_windows_edge_has_cut_ends_no_write() {
    let by = slow_reader(0).limited_by.expect("limits");
    assert!(by.receiver > 0.9, "{by:?}");
    // The window has had room for a long time, so the application limits.
    let by = slow_reader(250_000).limited_by.expect("limits");
    assert!(by.application > 0.8, "{by:?}");
}

/// A growing window without a handshake. Each round ends with two full packets with PSH.
fn growing(hosts: &mut Hosts, window: u16) {
    for packets in 6..40 {
        hosts.data(ACK, packets * FULL);
        hosts.data(PUSH, 2 * FULL);
        hosts.wait(20_000);
        hosts.ack((packets + 1) * FULL, window);
    }
}

#[test]
fn without_the_handshake_full_packets_that_are_pushed_end_no_write() {
    let mut hosts = Hosts::new();
    growing(&mut hosts, 60_000);
    let flow = hosts.flow();
    assert_eq!((flow.place, flow.mss_bytes), ("sender", 1_448));
    let by = flow.limited_by.expect("limits");
    assert!(by.application < 0.2 && by.receiver < 0.2, "{by:?}");
}

#[test]
fn without_the_handshake_the_windows_edge_tells_its_scale() {
    let mut hosts = Hosts::new();
    for round in 0..200 {
        // Up to 64,000 bytes.
        for _ in 0..if round == 0 { 44 } else { 22 } {
            hosts.data(ACK, FULL);
        }
        hosts.wait(20_000);
        hosts.ack(22 * FULL, 500);
    }
    let flow = hosts.flow();
    let by = flow.limited_by.expect("limits");
    assert!(by.receiver > 0.8, "{by:?}");
}

#[test]
fn options_that_were_cut_are_unknown_and_not_absent() {
    let mut hosts = Hosts::new();
    hosts.snap = 40;
    hosts.shake(20_000);
    growing(&mut hosts, 900);
    let summary = hosts.summary();
    assert_eq!(summary.read.cut_options, 2);
    let flow = &summary.connections[0].flows[0];
    assert_eq!((flow.place, flow.mss_bytes), ("sender", 1_448));
    let by = flow.limited_by.expect("limits");
    assert!(by.receiver < 0.05, "{by:?}");
}

#[test]
fn what_the_network_doubles_is_sent_once() {
    // At B, which answers at once, so a copy comes after its acknowledgement.
    let mut hosts = Hosts::new();
    hosts.shake(0);
    hosts.wait(20_000);
    for packet in 0..200 {
        let from = 1 + hosts.sent;
        hosts.data(ACK, FULL);
        if packet % 10 == 9 {
            let copy = hosts.last.clone();
            hosts.ack(0, 500);
            hosts.last = copy;
            hosts.again();
            let (ack, block) = ((1, 1 + hosts.sent), [(from, from + FULL)]);
            hosts.say(false, ack, ACK, 500, 0, &block);
        } else {
            hosts.ack(0, 500);
        }
        hosts.wait(5_000);
    }
    let flow = hosts.flow();
    let counted = (flow.packets, flow.retransmitted, flow.lost, flow.spurious);
    assert_eq!(counted, (200, 0, Some(0), 0), "{flow:?}");
    assert_eq!((flow.copies, flow.duplicated), (20, 20));
}

#[test]
fn a_block_that_is_told_twice_arrived_twice() {
    // The first packet is lost, and the third arrives twice. Linux reports it as D-SACK, and again as received data.
    let mut hosts = Hosts::new();
    hosts.shake(20_000);
    for _ in 0..3 {
        hosts.data(ACK, FULL);
    }
    hosts.wait(20_000);
    let block = (1 + FULL, 1 + 3 * FULL);
    hosts.say(false, (1, 1), ACK, 500, 0, &[block]);
    hosts.say(false, (1, 1), ACK, 500, 0, &[block, block]);
    let flow = hosts.flow();
    assert_eq!((flow.duplicated, flow.spurious), (1, 0));
}

#[test]
fn a_retransmission_acknowledged_within_the_minimum_rtt_is_spurious() {
    for (has_block, span_us, spurious) in [
        (false, 5_000, 1),
        (false, 20_000, 0),
        (true, 5_000, 1),
        (true, 20_000, 0),
    ] {
        let mut hosts = Hosts::new();
        hosts.has_timestamps = false;
        hosts.shake(20_000);
        for _ in 0..4 {
            hosts.data(ACK, FULL);
        }
        hosts.wait(20_000);
        hosts.ack(3 * FULL, 500);
        // After a long silence, the sender retransmits the second packet, or the third one before the second.
        hosts.wait(300_000);
        let from = 1 + FULL * if has_block { 2 } else { 1 };
        hosts.say(true, (from, 1), ACK, 500, FULL, &[]);
        hosts.wait(span_us);
        if has_block {
            let block = [(from, from + FULL)];
            hosts.say(false, (1, 1 + FULL), ACK, 500, 0, &block);
        } else {
            hosts.ack(2 * FULL, 500);
        }
        hosts.wait(40_000);
        hosts.ack(0, 500);
        let flow = hosts.flow();
        let counted = (flow.retransmitted, flow.spurious, flow.lost);
        let what = format!("{has_block} {span_us}: {flow:?}");
        assert_eq!(counted, (1, spurious, Some(1 - spurious)), "{what}");
    }
}

#[test]
fn with_data_in_the_syn_rtprop_includes_the_handshake() {
    let mut hosts = Hosts::new();
    hosts.say(true, (0, 0), SYN, 60_000, 500, &[]);
    hosts.sent = 500;
    hosts.wait(20_000);
    hosts.say(false, (0, 501), SYN_ACK, 60_000, 0, &[]);
    // The packets with data take 6 ms to be sent.
    for _ in 0..20 {
        hosts.data(ACK, FULL);
        hosts.wait(26_000);
        hosts.ack(0, 500);
    }
    assert_eq!(hosts.flow().rtprop_ms, Some(20.0));
}

#[test]
fn a_capture_goes_on_after_a_hole() {
    for hole in [1_200_000_000, 2_000_000_000, 3_000_000_000] {
        let mut hosts = Hosts::new();
        hosts.shake(20_000);
        for packet in 0..100 {
            if packet == 50 {
                hosts.sent += hole;
            }
            hosts.data(ACK, FULL);
            hosts.wait(20_000);
            hosts.ack(0, 500);
        }
        let flow = hosts.flow();
        // The first packet after the hole could be anyone's.
        let counted = (flow.packets, flow.delivered_bytes, flow.retransmitted);
        assert_eq!(counted, (99, 99 * u64::from(FULL), 0), "{hole}: {flow:?}");
        assert_eq!(flow.rtt_ms.expect("RTTs").max, 20.0);
    }
}

#[test]
fn a_packet_from_elsewhere_makes_no_hole() {
    let mut hosts = Hosts::new();
    hosts.shake(20_000);
    for packet in 0..100 {
        if packet % 10 == 5 {
            hosts.say(true, (2_000_000_000, 1), ACK, 500, FULL, &[]);
        }
        hosts.data(ACK, FULL);
        hosts.wait(20_000);
        hosts.ack(0, 500);
    }
    assert_eq!(hosts.flow().delivered_bytes, 100 * u64::from(FULL));
}
