//! Packets that others have sent into a connection, and clocks that are set.

use super::late::{ACK, FULL, Line, SYN};
use crate::packet::Flags;
use crate::{FlowSummary, Summary};

/// Rounds of ten packets. `meanwhile` is called once, while ten packets are outstanding.
fn rounds(has_timestamps: bool, meanwhile: impl FnOnce(&mut Line)) -> Summary {
    let mut line = Line::new();
    line.has_timestamps = has_timestamps;
    line.shake(20_000);
    let mut meanwhile = Some(meanwhile);
    for round in 0..200 {
        for _ in 0..10 {
            line.data(ACK, FULL);
        }
        line.wait(10_000);
        if round == 150
            && let Some(meanwhile) = meanwhile.take()
        {
            meanwhile(&mut line);
        }
        line.wait(10_000);
        line.ack(0, 500);
    }
    line.summary()
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
    let beyond = |line: &Line, bytes: u32| 1 + line.sent + bytes;
    let flows = [1_000_000, 1 << 29].into_iter().flat_map(|bytes| {
        let ack = rounds(false, |line| {
            line.say(false, (1, beyond(line, bytes)), ACK, 500, 0, &[]);
        });
        let data = rounds(false, |line| {
            line.say(true, (beyond(line, bytes), 1), ACK, 500, FULL, &[]);
        });
        [of_rounds(ack), of_rounds(data)]
    });
    let syn = rounds(false, |line| {
        line.say(true, (987_654_321, 0), SYN, 500, 0, &[]);
    });
    let answer = rounds(false, |line| {
        line.say(false, (987_654_321, 5), SYN.with(ACK), 500, 0, &[]);
    });
    let reset = rounds(false, |line| {
        line.say(false, (123_456_789, 0), Flags::RST, 0, 0, &[]);
    });
    for flow in flows.chain([syn, answer, reset].map(of_rounds)) {
        assert_eq!(
            flow.rtt_ms.map(|rtt| (rtt.min, rtt.max)),
            Some((20.0, 20.0))
        );
        assert_eq!(flow.btl_bw_bps, plain.btl_bw_bps);
    }
}

#[test]
fn a_reset_with_the_next_number_is_one() {
    let summary = rounds(false, |line| {
        line.say(false, (1, 0), Flags::RST, 0, 0, &[]);
    });
    assert!(summary.connections[0].is_reset);
}

#[test]
fn a_second_acknowledgement_or_data_confirm_a_hole() {
    let hole = 1_000_000;
    for has_ack in [false, true] {
        let summary = rounds(false, |line| {
            line.sent += hole;
            if has_ack {
                line.ack(1_000, 500);
                line.ack(0, 500);
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
    let summary = rounds(false, |line| line.now_us -= 2_000_000);
    assert_eq!(summary.read.backward, 1);
    let flow = of_rounds(summary);
    assert_eq!(
        flow.rtt_ms.map(|rtt| (rtt.min, rtt.max)),
        Some((20.0, 20.0))
    );
    assert_eq!(flow.btl_bw_bps, plain.btl_bw_bps);
}
