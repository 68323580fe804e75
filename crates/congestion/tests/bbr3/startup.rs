//! Startup and Drain.

use congestion::{Bytes, Ratio, Time};
use path::Aggregation;

use crate::support::{Flow, MSS, Mishap, at_ms, mbit};
use crate::{
    CRUISE, DOWN, DRAIN, LATE, PROBE_RTT, STARTUP, after, assert_within, at_secs, bbr3, bulk,
    changing, clean, limited, millis, paths_of_all_kinds, paths_with_many_packets, state, stays,
    trickle,
};

#[test]
fn exiting_startup_on_bandwidth_plateau() {
    for (rate, rtt) in paths_of_all_kinds() {
        // 1, 2.
        let mut flow = bulk(clean(rate, rtt, 8));
        assert_eq!(flow.controller_state(), STARTUP);
        flow.run_until_in(CRUISE, LATE);
        let (_, drain) = after(&flow.points, STARTUP)[0];
        let drain = drain[0].snapshot;
        // 5.
        assert_eq!(drain.state.name, DRAIN);
        let mut later = flow.points.iter().filter(|point| point.snapshot.round > 1);
        assert!(later.all(|point| !point.is_app_limited));
        // 3.
        assert_within(drain.btl_bw.expect("measured"), rate, 2);
        // 4. The rate of the first round at the path's is the baseline or within a quarter of it.
        let full = rate.scale(Ratio::new(98, 100));
        let first = flow
            .points
            .iter()
            .find(|point| point.snapshot.btl_bw >= Some(full))
            .expect("reached");
        let plateau = drain.round - first.snapshot.round;
        assert!((2..=4).contains(&plateau), "{rate}, {rtt}: {plateau}");
        assert_eq!(drain.long_term_inflight, None, "{rate}, {rtt}");
    }
}

#[test]
fn exiting_startup_on_loss_when_application_limited() {
    for (rate, rtt) in paths_with_many_packets() {
        // 1, 2.
        let writes = limited((rate, rtt), Time::ZERO, millis(2_000));
        let mut flow = Flow::with_writes(bbr3(), clean(rate, rtt, 4), writes);
        flow.run_until(at_secs(1));
        assert_eq!(flow.controller_state(), STARTUP);
        // 3.
        flow.mishaps = vec![Mishap {
            from: at_secs(1),
            to: LATE,
            every: 10,
            late_by: None,
        }];
        // 4, 5. As little is in flight, the same ACK ends Drain.
        flow.run_until(at_secs(1) + rtt * 4);
        let (_, next) = after(&flow.points, STARTUP)[0];
        assert!(next[0].now > at_secs(1) && next[0].snapshot.round > 1);
        let last = next[0];
        assert!(
            flow.between(at_ms(900), LATE)
                .iter()
                .all(|point| point.is_app_limited)
        );
        let bound = last.snapshot.long_term_inflight.expect("set");
        let bdp = last.snapshot.btl_bw.expect("known").bytes_in(rtt);
        assert!(bound >= bdp, "{bound}, {bdp}");
    }
}

#[test]
fn exiting_drain_based_on_inflight() {
    for (rate, rtt) in paths_of_all_kinds() {
        // 1, 2.
        let mut flow = bulk(clean(rate, rtt, 8));
        // An ACK that ends Drain ends DOWN, too, as that has the same end without a loss.
        flow.run_until_in(CRUISE, LATE);
        // 3, 4.
        let pairs = after(&flow.points, DRAIN);
        let [(stay, next)] = pairs[..] else {
            panic!("{rate}, {rtt}: {} stays in Drain", pairs.len())
        };
        assert_eq!(stay[0].snapshot.pacing_gain, Some(Ratio::new(1, 2)));
        let bound = |point: &crate::Point| {
            let bdp = point
                .snapshot
                .btl_bw
                .unwrap()
                .bytes_in(point.snapshot.rt_prop.unwrap());
            bdp.max(point.snapshot.send_quantum).max(MSS * 4)
        };
        assert!(next[0].inflight <= bound(&next[0]), "{rate}, {rtt}");
        let above = stay
            .iter()
            .skip(1)
            .filter(|point| point.inflight > bound(point));
        assert_eq!(above.count(), stay.len() - 1, "{rate}, {rtt}");
    }
}

#[test]
fn exiting_drain_based_on_time() {
    for (rate, rtt) in paths_with_many_packets() {
        // 1.
        let mut before = bulk(clean(rate, rtt, 16));
        before.run_until_in(DRAIN, LATE);
        // 2. With 10 % less, half the rate that was estimated still drains the queue in time. With 60 % less it does not.
        let less = rate.scale(Ratio::new(4, 10));
        let mut flow = bulk(changing(clean(rate, rtt, 16), before.now(), less));
        let drain = flow.run_until_in(DRAIN, LATE);
        flow.run_until_in(DOWN, LATE);
        let (stay, next) = after(&flow.points, DRAIN)[0];
        // 3.
        let bdp = drain.btl_bw.expect("known").bytes_in(rtt);
        assert!(stay.iter().all(|point| point.inflight > bdp));
        // 4, 5.
        assert!(next[0].inflight > bdp);
        assert_eq!(
            next[0].snapshot.round - stay[0].snapshot.round,
            4,
            "more than three"
        );
    }
}

#[test]
fn never_exiting_startup_when_application_limited_with_no_loss() {
    for (rate, rtt) in [(mbit(10), millis(100)), (mbit(100), millis(40))] {
        // 1, 2.
        let writes = limited((rate, rtt), Time::ZERO, millis(20_000));
        let mut flow = Flow::with_writes(bbr3(), clean(rate, rtt, 4), writes);
        flow.run_until(at_secs(20));
        // 3. ProbeRTT comes between.
        assert!(
            stays(&flow.points)
                .iter()
                .all(|stay| [STARTUP, PROBE_RTT].contains(&state(stay)))
        );
        assert!(flow.points.len() > 1_000);
    }
}

#[test]
fn achieving_expected_startup_bandwidth_on_a_link_with_aggregation() {
    for (rate, rtt) in [
        (mbit(10), millis(100)),
        (mbit(100), millis(40)),
        (mbit(1_000), millis(10)),
    ] {
        // 1.
        let mut path = clean(rate, rtt, 8);
        path.reverse.effects.aggregation = Some(Aggregation { interval: rtt / 2 });
        // 2.
        let mut flow = bulk(path);
        let drain = flow.run_until_in(DRAIN, LATE);
        // 3.
        let bdp = rate.bytes_in(rtt);
        let most = flow.points.iter().map(|point| point.snapshot.cwnd).max();
        assert!(most > Some(bdp * 2), "{most:?}");
        // 4.
        assert_within(drain.btl_bw.expect("known"), rate, 10);
        let rates: Vec<_> = flow
            .points
            .iter()
            .filter_map(|point| point.snapshot.btl_bw)
            .collect();
        assert!(
            rates
                .iter()
                .all(|bw| *bw <= rate.scale(Ratio::new(102, 100)))
        );
        assert!(drain.round < 16, "{}", drain.round);
    }
}

#[test]
fn entering_and_exiting_probe_rtt_during_startup() {
    for (rate, rtt) in [
        (mbit(1), millis(300)),
        (mbit(10), millis(100)),
        (mbit(100), millis(40)),
        (mbit(1_000), millis(2)),
    ] {
        // 1. A trickle that always has something in flight.
        let writes = trickle(Time::ZERO, millis(12_000), rtt / 4, 1);
        let mut flow = Flow::with_writes(bbr3(), clean(rate, rtt, 4), writes);
        flow.run_until(at_secs(10));
        // 2, 3.
        let stays = stays(&flow.points);
        let states: Vec<_> = stays.iter().map(|stay| state(stay)).collect();
        assert_eq!(states[..3], [STARTUP, PROBE_RTT, STARTUP], "{rate}, {rtt}");
        let length = stays[2][0].now.since(stays[1][0].now);
        assert!(length >= millis(200), "{rate}, {rtt}: {length}");
        // It goes on to search.
        flow.set_writes([(at_secs(11), Bytes::MAX)]);
        let drain = flow.run_until_in(DRAIN, at_secs(11) + rtt * 20);
        assert_within(drain.btl_bw.expect("known"), rate, 2);
    }
}
