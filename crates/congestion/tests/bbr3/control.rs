//! The control parameters (draft, "Updating Control Parameters"): bursts, and the window in recovery.

use congestion::{Bytes, Ratio};

use super::{
    LATE, REFILL, at_secs, bulk, cases_of_all_kinds, clean, millis, paths_with_many_packets,
};
use crate::support::{MSS, Mishap};

/// "Send Quantum": whole packets, as many as a millisecond at the pacing rate has, but 64 kB at most, and two at least,
/// as Linux's BBRv3 has it, too (`sysctl_tcp_min_tso_segs`).
#[test]
fn a_burst_is_what_the_pacing_rate_sends_in_a_millisecond() {
    for case in cases_of_all_kinds() {
        let mut flow = case.bulk();
        flow.run_until(at_secs(3));
        for point in &flow.points {
            let (rate, quantum) = (point.snapshot.pacing_rate, point.snapshot.send_quantum);
            let millisecond = rate.bytes_in(millis(1)).min(Bytes::new(1 << 16));
            assert!(quantum <= millisecond.max(MSS * 2), "{case:?}: {quantum}");
            // A millisecond is 2^-10 s, and a part of a packet is left out.
            let least = Ratio::new(97, 100).of_bytes(millisecond) - MSS;
            assert!(quantum >= least.max(MSS * 2), "{case:?}: {quantum}");
        }
    }
}

/// "Modulating cwnd in Loss Recovery": in a recovery that was needed, too, the window is what it was, and so it is at its end.
#[test]
fn fast_recovery_keeps_the_window() {
    for (rate, rtt) in paths_with_many_packets() {
        let mut flow = bulk(clean(rate, rtt, 8));
        let before = flow.run_until_in(REFILL, LATE);
        flow.run_until(flow.now() + rtt / 4);
        let from = flow.now();
        flow.mishaps = vec![Mishap {
            from,
            to: from + rtt / 2,
            every: 100,
            late_by: None,
        }];
        flow.run_until(from + rtt * 4);
        let points = flow.between(from, flow.now());
        let lost = points.last().expect("ACKs").lost - points[0].lost;
        assert!(!lost.is_zero(), "{rate}, {rtt}");
        let least = points.iter().map(|point| point.snapshot.cwnd).min();
        assert!(least >= Some(before.cwnd), "{rate}, {rtt}: {least:?}");
    }
}

/// "Modulating cwnd in Loss Recovery", `OnEnterRTO`; and at the end of that recovery the window is what it was.
#[test]
fn a_timeout_leaves_what_is_in_flight_and_a_packet() {
    for (rate, rtt) in paths_with_many_packets() {
        let mut flow = bulk(clean(rate, rtt, 8));
        let before = flow.run_until_in(REFILL, LATE);
        flow.run_until(flow.now() + rtt / 4);
        flow.time_out();
        // Everything that was out counts as lost.
        assert_eq!(flow.snapshot().cwnd, MSS, "{rate}, {rtt}");
        flow.run_until(flow.now() + rtt * 4);
        let after = flow.snapshot().cwnd;
        assert!(
            after >= Ratio::new(9, 10).of_bytes(before.cwnd),
            "{rate}, {rtt}: {after}"
        );
    }
}
