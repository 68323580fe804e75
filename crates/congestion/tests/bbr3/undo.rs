//! Spurious losses.

use congestion::{Bytes, Controller, Ratio, Recovery};
use path::Aggregation;

use super::{CRUISE, DOWN, DRAIN, LATE, REFILL, STARTUP, UP, bulk, clean};
use crate::support::Mishap;

/// 1. Every tenth packet of half a round trip is late by two.
fn late(flow: &super::Flow<super::Bbr3>, rtt: congestion::Duration) -> Vec<Mishap> {
    vec![Mishap {
        from: flow.now(),
        to: flow.now() + rtt / 2,
        every: 10,
        late_by: Some(rtt * 2),
    }]
}

#[test]
fn handling_spurious_fast_recovery() {
    for (rate, rtt) in super::paths_with_many_packets() {
        let mut flow = bulk(clean(rate, rtt, 8));
        flow.suspects = Some(Default::default());
        let before = flow.run_until_in(UP, LATE);
        assert_eq!(before.long_term_inflight, None);
        flow.mishaps = late(&flow, rtt);
        // 2. The losses end the probe.
        let cut = flow.run_until_in(DOWN, flow.now() + rtt * 3);
        assert!(cut.long_term_inflight.is_some());
        // 3, 4.
        let undone = flow.run_until_in(REFILL, flow.now() + rtt * 4);
        assert_eq!(undone.long_term_inflight, None);
        assert_eq!(undone.short_term_bw, None);
        assert_eq!(undone.short_term_inflight, None);
        // No more than REFILL allows.
        let least = Ratio::new(9, 10).of_bytes(before.cwnd.min(rate.bytes_in(rtt) * 2));
        assert!(undone.cwnd >= least, "{rate}, {rtt}: {}", undone.cwnd);
        flow.run_until_in(UP, flow.now() + rtt * 3);
        // It was undone once.
        flow.run_until_in(DOWN, LATE);
        let last = flow.points.last().expect("points");
        let (now, inflight) = (last.now, last.inflight);
        flow.controller.on_recovery(now, Recovery::Undone, inflight);
        assert_eq!(flow.controller_state(), DOWN);
    }
}

/// Losses that turn out to be none within their round leave no bound ("Handling a Spurious Loss Recovery":
/// `BBR.is_loss_in_round`).
#[test]
fn handling_spurious_fast_recovery_within_its_round() {
    for (rate, rtt) in super::paths_with_many_packets() {
        let mut flow = bulk(clean(rate, rtt, 8));
        flow.suspects = Some(Default::default());
        flow.run_until_in(CRUISE, LATE);
        let from = flow.now();
        flow.mishaps = late(&flow, rtt);
        flow.mishaps[0].to = from + rtt / 4;
        flow.mishaps[0].late_by = Some(rtt / 2);
        flow.run_until(from + rtt * 4);
        let points = flow.between(from, flow.now());
        assert!(points[points.len() - 1].lost > points[0].lost);
        let bounds = points.iter().map(|point| point.snapshot.short_term_bw);
        assert!(bounds.flatten().next().is_none(), "{rate}, {rtt}");
    }
}

/// 2, 3, where there is something to restore: bounds that losses have set before.
#[test]
fn handling_spurious_fast_recovery_in_cruise() {
    for (rate, rtt) in super::paths_with_many_packets() {
        let mut flow = bulk(super::path(rate, rtt, Ratio::new(1, 2), Ratio::ZERO));
        flow.suspects = Some(Default::default());
        flow.run_until_in(CRUISE, LATE);
        flow.mishaps = late(&flow, rtt);
        flow.mishaps[0].late_by = None;
        flow.run_until(flow.now() + rtt * 5);
        let before = flow.snapshot();
        assert!(before.short_term_bw.is_some() && before.long_term_inflight.is_some());
        flow.mishaps = late(&flow, rtt);
        flow.mishaps[0].every = 3;
        flow.mishaps[0].late_by = Some(rtt * 4);
        flow.run_until(flow.now() + rtt * 3);
        let cut = flow.snapshot();
        assert!(cut.short_term_bw < before.short_term_bw, "{rate}, {rtt}");
        assert!(cut.short_term_inflight < before.short_term_inflight);
        flow.run_until(flow.now() + rtt * 4);
        let undone = flow.snapshot();
        // 4.
        assert_eq!(undone.state.name, CRUISE, "{rate}, {rtt}");
        assert_eq!(undone.short_term_bw, before.short_term_bw);
        assert_eq!(undone.short_term_inflight, before.short_term_inflight);
        assert_eq!(undone.long_term_inflight, before.long_term_inflight);
        let window = before.short_term_inflight.expect("set");
        assert!(undone.cwnd >= Ratio::new(9, 10).of_bytes(window.min(before.cwnd)));
    }
}

/// With ACKs that come together, the losses that begin a recovery are found by the ACK that ends the one before.
#[test]
fn handling_a_spurious_fast_recovery_right_after_another() {
    for (rate, rtt) in super::paths_with_many_packets() {
        let mut path = clean(rate, rtt, 8);
        path.reverse.effects.aggregation = Some(Aggregation { interval: rtt / 4 });
        let mut flow = bulk(path);
        flow.suspects = Some(Default::default());
        flow.run_until_in(UP, LATE);
        // A packet or two are lost indeed, less than the threshold.
        flow.mishaps = vec![Mishap {
            from: flow.now(),
            to: flow.now() + rtt / 4,
            every: 50,
            late_by: None,
        }];
        while flow.points.last().expect("points").lost == Bytes::ZERO {
            assert_eq!(flow.controller_state(), UP);
            flow.run_until(flow.now() + rtt / 100);
        }
        flow.mishaps = late(&flow, rtt);
        flow.mishaps[0].every = 5;
        let cut = flow.run_until_in(DOWN, flow.now() + rtt * 3);
        assert!(cut.long_term_inflight.is_some());
        let undone = flow.run_until_in(REFILL, flow.now() + rtt * 4);
        assert_eq!(undone.long_term_inflight, None, "{rate}, {rtt}");
        assert_eq!(undone.short_term_bw, None);
    }
}

#[test]
fn handling_spurious_fast_recovery_in_startup() {
    for (rate, rtt) in super::paths_with_many_packets() {
        let mut flow = bulk(clean(rate, rtt, 8));
        flow.suspects = Some(Default::default());
        flow.run_until(super::at_secs(0) + rtt * 4);
        assert_eq!(flow.controller_state(), STARTUP);
        flow.mishaps = late(&flow, rtt);
        flow.mishaps[0].to = flow.now() + rtt;
        flow.mishaps[0].late_by = Some(rtt * 4);
        flow.run_until_in(DRAIN, flow.now() + rtt * 5);
        assert!(flow.snapshot().long_term_inflight.is_some());
        let undone = flow.run_until_in(STARTUP, flow.now() + rtt * 5);
        assert_eq!(undone.long_term_inflight, None);
        let drain = flow.run_until_in(DRAIN, LATE);
        super::assert_within(drain.btl_bw.expect("known"), rate, 2);
    }
}

#[test]
fn handling_spurious_rto_recovery() {
    for (rate, rtt) in super::paths_with_many_packets() {
        let mut flow = bulk(clean(rate, rtt, 8));
        flow.suspects = Some(Default::default());
        let before = flow.run_until_in(UP, LATE);
        // 1, 2. A timeout while all is on its way.
        flow.run_until(flow.now() + rtt);
        flow.time_out();
        assert_eq!(flow.controller_state(), DOWN);
        let cut = flow.snapshot();
        assert_eq!(cut.cwnd, super::MSS);
        assert!(cut.long_term_inflight.is_some());
        // 3, 4. The packet that left after the timeout begins a round at once: REFILL is over with its ACK.
        let undone = flow.run_until_in(UP, flow.now() + rtt * 4);
        assert_eq!(undone.long_term_inflight, None);
        assert_eq!(undone.short_term_inflight, None);
        assert!(
            undone.cwnd >= Ratio::new(9, 10).of_bytes(before.cwnd),
            "{} {}",
            undone.cwnd,
            before.cwnd
        );
        assert!(flow.points.last().expect("points").delivered > Bytes::ZERO);
    }
}

/// 2 to 4, where there is something to restore: bounds that losses have set before.
#[test]
fn handling_spurious_rto_recovery_in_cruise() {
    for (rate, rtt) in super::paths_with_many_packets() {
        let mut flow = bulk(clean(rate, rtt, 8));
        flow.suspects = Some(Default::default());
        flow.run_until_in(CRUISE, LATE);
        flow.mishaps = late(&flow, rtt);
        flow.mishaps[0].late_by = None;
        flow.run_until(flow.now() + rtt * 5);
        // All that is on its way comes after what leaves next, so that the round of losses ends before it.
        flow.mishaps = late(&flow, rtt);
        flow.mishaps[0].every = 1;
        flow.mishaps[0].to = flow.now() + rtt;
        flow.mishaps[0].late_by = Some(rtt * 2);
        flow.run_until(flow.now() + rtt);
        let before = flow.snapshot();
        let bounds = |of: &congestion::Snapshot| (of.short_term_bw, of.short_term_inflight);
        assert!(before.short_term_bw.is_some() && before.short_term_inflight.is_some());
        flow.time_out();
        let timed_out = flow.now();
        flow.run_until(timed_out + rtt * 6);
        let points = flow.between(timed_out, flow.now());
        let least = points
            .iter()
            .filter_map(|point| point.snapshot.short_term_inflight)
            .min();
        assert!(least < before.short_term_inflight, "{rate}, {rtt}");
        let undone = flow.snapshot();
        assert_eq!(undone.state.name, CRUISE, "{rate}, {rtt}");
        assert_eq!(bounds(&undone), bounds(&before), "{rate}, {rtt}");
        assert_eq!(undone.long_term_inflight, before.long_term_inflight);
        let window = before.short_term_inflight.expect("set");
        assert!(undone.cwnd >= Ratio::new(9, 10).of_bytes(window.min(before.cwnd)));
    }
}
