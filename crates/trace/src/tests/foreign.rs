//! Packets that others have sent into a connection, and clocks that are set.

use capture::packet::Flags;

use super::hosts::{ACK, FULL, Hosts, SYN};
use crate::{FlowSummary, Summary};

const CLOSE: Flags = ACK.with(Flags::FIN);

/// Rounds of ten packets. `meanwhile` is called once, while ten packets are outstanding.
fn rounds(has_timestamps: bool, meanwhile: impl FnOnce(&mut Hosts)) -> Summary {
    let mut hosts = Hosts::new();
    hosts.has_timestamps = has_timestamps;
    hosts.shake(20_000);
    let mut meanwhile = Some(meanwhile);
    for round in 0..200 {
        for _ in 0..10 {
            hosts.data(ACK, FULL);
        }
        hosts.wait(10_000);
        if round == 150
            && let Some(meanwhile) = meanwhile.take()
        {
            meanwhile(&mut hosts);
        }
        hosts.wait(10_000);
        hosts.ack(0, 500);
    }
    hosts.summary()
}

/// The flow of a capture in which everything but the rounds is ignored.
fn of_rounds(summary: Summary) -> FlowSummary {
    let mut connections = summary.connections;
    assert_eq!(connections.len(), 1);
    assert!(!connections[0].is_reset);
    let flow = connections[0].flows.swap_remove(0);
    let counted = (flow.packets, flow.delivered_bytes, flow.missed_bytes);
    assert_eq!(counted, (2_000, 2_000 * u64::from(FULL), 0), "{flow:?}");
    assert_eq!((flow.retransmitted, flow.lost), (0, Some(0)));
    flow
}

#[test]
fn packets_from_elsewhere_change_nothing() {
    let plain = of_rounds(rounds(false, |_| ()));
    let beyond = |hosts: &Hosts, bytes: u32| 1 + hosts.sent + bytes;
    let flows = [1_000_000, 1 << 29].into_iter().flat_map(|bytes| {
        let ack = rounds(false, |hosts| {
            hosts.say(false, (1, beyond(hosts, bytes)), ACK, 500, 0, &[]);
        });
        let data = rounds(false, |hosts| {
            hosts.say(true, (beyond(hosts, bytes), 1), ACK, 500, FULL, &[]);
        });
        [of_rounds(ack), of_rounds(data)]
    });
    let syn = rounds(false, |hosts| {
        hosts.say(true, (987_654_321, 0), SYN, 500, 0, &[]);
    });
    let answer = rounds(false, |hosts| {
        hosts.say(false, (987_654_321, 5), SYN.with(ACK), 500, 0, &[]);
    });
    let reset = rounds(false, |hosts| {
        hosts.say(false, (123_456_789, 0), Flags::RST, 0, 0, &[]);
    });
    // The connection reaches the number of this SYN later.
    let syn_ahead = rounds(false, |hosts| {
        hosts.say(true, (beyond(hosts, 100_000), 0), SYN, 500, 0, &[]);
    });
    let closed = rounds(false, |hosts| {
        for is_a in [true, true, false, false] {
            hosts.say(is_a, (123_456_789, 0), CLOSE, 500, 0, &[]);
        }
        hosts.say(true, (987_654_321, 0), SYN, 500, 0, &[]);
    });
    let acks = rounds(false, |hosts| {
        for bytes in [100_000_000, 50_000_000, 200_000_000, 200_000_000] {
            hosts.say(false, (1, beyond(hosts, bytes)), ACK, 500, 0, &[]);
        }
    });
    let all = [syn, answer, reset, syn_ahead, closed, acks];
    for flow in flows.chain(all.map(of_rounds)) {
        assert_eq!(
            flow.rtt_ms.map(|rtt| (rtt.min, rtt.max)),
            Some((20.0, 20.0))
        );
        assert_eq!(flow.btl_bw_bps, plain.btl_bw_bps);
    }
}

/// Of A alone, two connections are captured.
#[test]
fn without_an_answer_the_next_segments_begin_a_connection() {
    let mut hosts = Hosts::new();
    for start in [5_000, 3_000_000] {
        hosts.say(true, (start, 0), SYN, 500, 0, &[]);
        hosts.sent = start;
        for _ in 0..5_000 {
            hosts.wait(1_000);
            hosts.data(ACK, FULL);
        }
    }
    let summary = hosts.summary();
    let packets = summary.connections.iter().map(|one| one.flows[0].packets);
    assert_eq!(packets.collect::<Vec<_>>(), [5_000, 5_000]);
}

/// Of A alone, ports are used again: Linux begins 65,537 bytes behind the FIN.
#[test]
fn ports_that_are_used_again_have_another_connection() {
    let mut hosts = Hosts::new();
    for _ in 0..3 {
        hosts.say(true, (hosts.sent, 0), SYN, 500, 0, &[]);
        for _ in 0..200 {
            hosts.wait(1_000);
            hosts.data(ACK, FULL);
        }
        hosts.say(true, (1 + hosts.sent, 1), CLOSE, 500, 0, &[]);
        hosts.wait(3_000_000);
        hosts.sent += 1 + 65_537;
    }
    let summary = hosts.summary();
    let packets = summary.connections.iter().map(|one| one.flows[0].packets);
    assert_eq!(packets.collect::<Vec<_>>(), [200; 3]);
}

#[test]
fn attempts_without_an_answer_are_connections() {
    let mut hosts = Hosts::new();
    for start in [0, 1_000_000, 2_000_000] {
        hosts.say(true, (start, 0), SYN, 500, 0, &[]);
        hosts.wait(100_000_000);
    }
    assert_eq!(hosts.summary().connections.len(), 3);

    let mut hosts = Hosts::new();
    hosts.shake(20_000);
    hosts.data(ACK, FULL);
    hosts.ack(0, 500);
    hosts.say(true, (1 + hosts.sent, 1), CLOSE, 500, 0, &[]);
    hosts.say(false, (1, 2 + hosts.sent), CLOSE, 500, 0, &[]);
    for wait in [1_000_000, 2_000_000, 4_000_000] {
        hosts.say(true, (70_000, 0), SYN, 500, 0, &[]);
        hosts.wait(wait);
    }
    assert_eq!(hosts.summary().connections.len(), 2);
}

#[test]
fn a_clock_that_is_set_back_spoils_a_handshake_that_has_begun() {
    let mut hosts = Hosts::new();
    hosts.shake(20_000);
    hosts.data(ACK, FULL);
    hosts.wait(10_000_000);
    hosts.say(true, (70_000_000, 0), SYN, 500, 0, &[]);
    hosts.now_us -= 5_000_000;
    hosts.say(false, (7_000, 70_000_001), SYN.with(ACK), 500, 0, &[]);
    hosts.wait(20_000);
    hosts.say(true, (70_000_001, 7_001), ACK, 500, FULL, &[]);
    let summary = hosts.summary();
    assert_eq!(summary.connections.len(), 2);
    assert_eq!(summary.connections[1].handshake_ms, None);
}

#[test]
fn an_acknowledgement_that_comes_again_and_again_confirms_a_hole() {
    let hole = 50_000_000;
    let summary = rounds(false, |hosts| {
        hosts.sent += hole;
        for _ in 0..3 {
            hosts.ack(0, 500);
        }
    });
    let flow = &summary.connections[0].flows[0];
    assert_eq!(flow.missed_bytes, u64::from(hole), "{flow:?}");
}

#[test]
fn a_syn_that_nobody_answers_is_forgotten() {
    let summary = rounds(false, |hosts| {
        hosts.say(true, (987_654_321, 0), SYN, 500, 0, &[]);
        hosts.wait(61_000_000);
        hosts.say(true, (987_654_322, 987_654_321), ACK, 500, FULL, &[]);
    });
    of_rounds(summary);
}

/// A connection that only a SYN and a segment have begun goes on with the data of the one before.
#[test]
fn a_connection_that_goes_on_loses_nothing() {
    let summary = rounds(false, |hosts| {
        hosts.say(true, (987_654_321, 0), SYN, 500, 0, &[]);
        hosts.say(true, (987_654_322, 987_654_321), ACK, 500, 1, &[]);
    });
    let [before, after] = &summary.connections[..] else {
        panic!("{summary:?}");
    };
    let [before, after] = [before, after].map(|one| &one.flows[0]);
    assert_eq!(before.packets, 1_510);
    assert_eq!(after.retransmitted_bytes, 0, "{after:?}");
    assert!((488..=491).contains(&after.packets), "{after:?}");
}

#[test]
fn a_handshake_is_that_of_its_numbers() {
    let foreign = |is_a: bool, numbers: (u32, u32), flags: Flags| {
        move |hosts: &mut Hosts| hosts.say(is_a, numbers, flags, 500, 0, &[])
    };
    let early: [&dyn Fn(&mut Hosts); 3] = [
        &foreign(true, (987_654_321, 0), SYN),
        &foreign(false, (987_654_321, 0), SYN),
        &foreign(false, (987_654_321, 123_456_789), SYN.with(ACK)),
    ];
    let late = foreign(true, (987_654_321, 123_456_789), ACK);
    for early in early {
        let mut hosts = Hosts::new();
        hosts.say(true, (0, 0), SYN, 60_000, 0, &[]);
        hosts.wait(5_000);
        early(&mut hosts);
        hosts.wait(10_000);
        hosts.say(false, (0, 1), SYN.with(ACK), 60_000, 0, &[]);
        hosts.wait(2_000);
        late(&mut hosts);
        hosts.wait(3_000);
        hosts.data(ACK, FULL);
        let summary = hosts.summary();
        assert_eq!(summary.connections.len(), 1);
        assert_eq!(summary.connections[0].handshake_ms, Some(20.0));
    }
}

#[test]
fn a_reset_with_the_next_number_is_one() {
    let summary = rounds(false, |hosts| {
        hosts.say(false, (1, 0), Flags::RST, 0, 0, &[]);
    });
    assert!(summary.connections[0].is_reset);
}

#[test]
fn a_second_acknowledgement_or_data_confirm_a_hole() {
    let hole = 1_000_000;
    for has_ack in [false, true] {
        let summary = rounds(false, |hosts| {
            hosts.sent += hole;
            if has_ack {
                hosts.ack(1_000, 500);
                hosts.ack(0, 500);
            }
        });
        let flow = &summary.connections[0].flows[0];
        assert_eq!(
            flow.delivered_bytes,
            u64::from(2_000 * FULL + hole),
            "{has_ack}"
        );
        let missed = flow.missed_bytes - u64::from(hole);
        assert!(missed <= u64::from(FULL), "{has_ack}: {flow:?}");
    }
}

#[test]
fn a_clock_that_is_set_back_makes_no_rtt() {
    let plain = of_rounds(rounds(false, |_| ()));
    let summary = rounds(false, |hosts| hosts.now_us -= 2_000_000);
    assert_eq!((summary.read.backward, summary.read.set_back), (1, 1));
    let flow = of_rounds(summary);
    assert_eq!(
        flow.rtt_ms.map(|rtt| (rtt.min, rtt.max)),
        Some((20.0, 20.0))
    );
    assert_eq!(flow.btl_bw_bps, plain.btl_bw_bps);
}
