//! Spurious losses.

use std::collections::BTreeMap;

use congestion::{Controller, Duration, Rate, Ratio, Recovery, Snapshot};

use super::{CRUISE, DOWN, DRAIN, LATE, REFILL, STARTUP, UP, bulk, clean};
use crate::support::{MSS, Mishap};

/// 1. Every tenth packet of half a round trip is late by two.
fn late(flow: &super::Flow<super::Bbr3>, rtt: Duration) -> Vec<Mishap> {
    vec![Mishap {
        from: flow.now(),
        to: flow.now() + rtt / 2,
        every: 10,
        late_by: Some(rtt * 2),
    }]
}

/// The same, but only as many packets as end the probe on this path. The draft saves the state again at the next loss
/// (`NoteLoss`), since DOWN begins with a round without losses; what that loss saves is not the state to return to.
fn late_until_the_probe_ends(rate: Rate, rtt: Duration) -> BTreeMap<u64, Duration> {
    let mut flow = bulk(clean(rate, rtt, 8));
    flow.suspects = Some(Default::default());
    flow.run_until_in(UP, LATE);
    flow.mishaps = late(&flow, rtt);
    flow.run_until_in(DOWN, flow.now() + rtt * 3);
    let (_, down) = super::after(&flow.points, UP)[0];
    let lost = (down[0].lost.get() / MSS.get()) as usize;
    let suspects = flow.suspects.iter().flat_map(|suspects| suspects.keys());
    suspects
        .take(lost)
        .map(|number| (*number, rtt * 2))
        .collect()
}

#[test]
fn handling_spurious_fast_recovery() {
    for (rate, rtt) in super::paths_with_many_packets() {
        let mut flow = bulk(clean(rate, rtt, 8));
        flow.suspects = Some(Default::default());
        let before = flow.run_until_in(UP, LATE);
        assert_eq!(before.long_term_inflight, None);
        flow.delayed = late_until_the_probe_ends(rate, rtt);
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

/// What the pseudocode loses: with one more loss in the same round trip, neither the probe nor the bound comes back.
#[test]
fn a_loss_after_the_one_that_ends_a_probe_leaves_nothing_to_return_to() {
    for (rate, rtt) in super::paths_with_many_packets() {
        let mut flow = bulk(clean(rate, rtt, 8));
        flow.suspects = Some(Default::default());
        flow.run_until_in(UP, LATE);
        flow.mishaps = late(&flow, rtt);
        flow.run_until_in(DOWN, flow.now() + rtt * 3);
        let from = flow.now();
        flow.run_until(from + rtt * 4);
        assert!(flow.suspects.as_ref().is_some_and(|lost| lost.is_empty()));
        let mut points = flow.between(from, flow.now()).iter();
        assert!(points.all(|point| {
            let Snapshot {
                state,
                long_term_inflight,
                ..
            } = point.snapshot;
            [DOWN, CRUISE].contains(&state.name) && long_term_inflight.is_some()
        }));
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
        // 1, 2. A timeout while a single packet is on its way: it alone ends the probe.
        let again = flow.now() + rtt * 12;
        flow.set_writes([(again, MSS)]);
        flow.run_until(again + rtt / 2);
        assert_eq!(flow.controller_state(), UP);
        flow.time_out();
        assert_eq!(flow.controller_state(), DOWN);
        assert_eq!(flow.snapshot().cwnd, MSS);
        // 3, 4.
        let undone = flow.run_until_in(REFILL, flow.now() + rtt);
        assert_eq!(undone.long_term_inflight, None);
        assert_eq!(undone.short_term_inflight, None);
        assert!(
            undone.cwnd >= Ratio::new(9, 10).of_bytes(before.cwnd),
            "{} {}",
            undone.cwnd,
            before.cwnd
        );
        flow.run_until_in(UP, flow.now() + rtt * 2);
    }
}

/// As after fast recovery, with all that was in flight lost at once.
#[test]
fn a_timeout_of_a_whole_window_leaves_nothing_to_return_to() {
    for (rate, rtt) in super::paths_with_many_packets() {
        let mut flow = bulk(clean(rate, rtt, 8));
        flow.suspects = Some(Default::default());
        let before = flow.run_until_in(UP, LATE);
        flow.run_until(flow.now() + rtt);
        flow.time_out();
        let from = flow.now();
        assert_eq!(flow.controller_state(), DOWN);
        flow.run_until(from + rtt * 4);
        assert!(flow.suspects.as_ref().is_some_and(|lost| lost.is_empty()));
        let points = flow.between(from, flow.now());
        assert!(points.iter().all(|point| {
            let state = point.snapshot.state.name;
            [DOWN, CRUISE].contains(&state) && point.snapshot.long_term_inflight.is_some()
        }));
        // The window comes back, as far as the bound allows.
        let bound = flow.snapshot().long_term_inflight.expect("set");
        let least = Ratio::new(4, 5).of_bytes(before.cwnd.min(bound));
        assert!(flow.snapshot().cwnd >= least, "{rate}, {rtt}");
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
