//! The effect of the bounds in ProbeBW's states.

use congestion::{Bytes, Ratio};

use super::losses::lossy;
use super::{
    CRUISE, DOWN, DRAIN, LATE, PROBE_RTT, REFILL, UP, after, at_secs, bbr3, bulk, clean, millis,
    paths_with_many_packets, state, stays,
};
use crate::support::{MSS, Mishap, Point};

/// `StartProbeBW_REFILL`: "ResetShortTermModel".
#[test]
fn refill_forgets_the_short_term_bounds() {
    let mut flow = lossy(bbr3(), 100);
    flow.run_until(at_secs(30));
    let has_bounds = |point: &Point| {
        let Point { snapshot, .. } = point;
        snapshot.short_term_bw.is_some() && snapshot.short_term_inflight.is_some()
    };
    let stays = stays(&flow.points);
    let mut forgotten = 0;
    for pair in stays.windows(2).filter(|pair| state(pair[1]) == REFILL) {
        forgotten += usize::from(has_bounds(&pair[0][pair[0].len() - 1]));
        assert!(!pair[1].iter().any(has_bounds));
        let first = &pair[1][0].snapshot;
        assert!(first.short_term_bw.is_none() && first.short_term_inflight.is_none());
    }
    // It lasts for a packet-timed round trip.
    for (refill, up) in after(&flow.points, REFILL) {
        assert!(state(up) != UP || up[0].now.since(refill[0].now) >= millis(100));
    }
    assert!(forgotten >= 3, "{forgotten}");
}

/// `BoundCwndForModel`: in CRUISE and ProbeRTT, the long-term bound less the headroom; in DOWN, REFILL and UP the whole of it; and
/// never more than the short-term bound, nor less than four packets.
#[test]
fn the_bounds_cap_the_window() {
    for (rate, rtt) in paths_with_many_packets() {
        let mut flow = bulk(super::path(rate, rtt, Ratio::new(1, 10), Ratio::ZERO));
        flow.run_until(at_secs(15));
        let mut at_headroom = 0;
        for Point { snapshot, .. } in &flow.points {
            let Some(bound) = snapshot.long_term_inflight else {
                continue;
            };
            let room = bound - Ratio::new(15, 100).of_bytes(bound).max(MSS);
            let long_term = match snapshot.state.name {
                CRUISE | PROBE_RTT => room,
                DOWN | REFILL | UP => bound,
                _ => continue,
            };
            let short_term = snapshot.short_term_inflight.unwrap_or(Bytes::MAX);
            let cap = long_term.min(short_term).max(MSS * 4);
            assert!(snapshot.cwnd <= cap, "{rate}, {rtt}: {snapshot:?}");
            let is_at = snapshot.state.name == CRUISE && snapshot.cwnd == cap;
            at_headroom += usize::from(is_at && cap == room);
        }
        assert!(at_headroom > 0, "{rate}, {rtt}");
    }
}

/// In Startup and Drain the long-term bound is no cap. Where losses end Startup, it is what was delivered in the last round trip, the full
/// buffer included (draft, "Exiting Startup Based on Packet Loss").
#[test]
fn the_bound_that_startup_leaves_holds_what_was_in_flight_and_drain_may_exceed_it() {
    for (rate, rtt) in paths_with_many_packets() {
        let mut flow = bulk(super::path(rate, rtt, Ratio::new(1, 2), Ratio::ZERO));
        let drain = flow.run_until_in(DRAIN, LATE);
        let bound = drain.long_term_inflight.expect("losses end Startup");
        let bdp = rate.bytes_in(rtt);
        let room = Ratio::new(13, 10).of_bytes(bdp)..Ratio::new(16, 10).of_bytes(bdp);
        assert!(room.contains(&bound), "{rate}, {rtt}: {bound}, {bdp}");
        assert!(drain.cwnd > bound, "{rate}, {rtt}: {}, {bound}", drain.cwnd);
    }
}

/// The short-term bound alone, where no probe has set the other.
#[test]
fn the_short_term_bound_caps_the_window_in_cruise() {
    for (rate, rtt) in paths_with_many_packets() {
        let mut flow = bulk(clean(rate, rtt, 8));
        flow.run_until_in(CRUISE, LATE);
        flow.mishaps = vec![Mishap {
            from: flow.now(),
            to: flow.now() + rtt * 2,
            every: 10,
            late_by: None,
        }];
        let from = flow.now();
        flow.run_until(from + rtt * 6);
        let points = flow.between(from, flow.now()).iter();
        let bounded = points
            .filter_map(|point| Some((point.snapshot.short_term_inflight?, point.snapshot.cwnd)));
        let bounded: Vec<_> = bounded.collect();
        assert!(!bounded.is_empty(), "{rate}, {rtt}");
        assert!(bounded.iter().all(|(bound, cwnd)| cwnd <= bound));
        assert!(bounded.iter().any(|(bound, cwnd)| cwnd == bound));
    }
}
