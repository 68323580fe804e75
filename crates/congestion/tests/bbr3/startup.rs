//! Startup and Drain.

use congestion::{Bytes, Duration, Rate, Ratio, Time};
use path::Aggregation;

use super::{
    Bbr3, CRUISE, Case, DOWN, DRAIN, LATE, PROBE_RTT, STARTUP, after, assert_within, at_secs, bbr3,
    bulk, cases_of_all_kinds, changing, clean, limited, millis, paths_with_many_packets,
    rates_of_rounds, rounds, state, stays, trickle, until_plateau,
};
use crate::support::{Flow, MSS, Mishap, Point, at_ms, kbit, mbit};

#[test]
fn exiting_startup_on_bandwidth_plateau() {
    for case in cases_of_all_kinds() {
        // 1, 2.
        let mut flow = case.bulk();
        assert_eq!(flow.controller_state(), STARTUP);
        let gains = [flow.snapshot().pacing_gain, flow.snapshot().cwnd_gain];
        assert_eq!(gains, [Some(Ratio::new(277, 100)), Some(Ratio::new(2, 1))]);
        flow.run_until_in(CRUISE, LATE);
        let (startup, drain) = after(&flow.points, STARTUP)[0];
        let seen = [startup, &drain[..1]].concat();
        let drain = drain[0].snapshot;
        // 5.
        let has_skipped_drain = drain.state.name != DRAIN;
        assert!(!has_skipped_drain || is_drained_by(case, &flow), "{case:?}");
        let mut later = flow.points.iter().filter(|point| point.snapshot.round > 1);
        assert!(later.all(|point| !point.is_app_limited));
        // 3.
        assert_within(drain.btl_bw.expect("measured"), case.rate, 2);
        // 4.
        let rounds = rates_of_rounds(&seen).count();
        let expected = until_plateau(Rate::ZERO, rates_of_rounds(&seen));
        assert_eq!(expected, Some(rounds), "{case:?}");
        assert_eq!(drain.long_term_inflight, None, "{case:?}");
    }
}

#[test]
fn exiting_startup_on_loss_when_application_limited() {
    for path in paths_with_many_packets() {
        // 3.
        let (_, rtt) = path;
        let flow = limited_startup_with_losses(path, 10);
        // 4, 5. As little is in flight, the same ACK ends Drain.
        let (startup, next) = after(&flow.points, STARTUP)[0];
        assert!(next[0].now < at_secs(1) + rtt * 3);
        let found = startup.iter().find(|point| point.lost > Bytes::ZERO);
        let recovery = next[0].now.since(found.expect("losses").now);
        assert!(recovery >= rtt, "{rtt}: {recovery}");
        assert_ne!(state(next), PROBE_RTT);
        let mut late = flow.between(at_ms(900), next[0].now).iter();
        assert!(late.all(|point| point.is_app_limited));
        let mut later = flow.points.iter().filter(|point| point.now > next[0].now);
        assert!(later.all(|point| point.snapshot.state.name != STARTUP));
        let last = next[0].snapshot;
        let bound = last.long_term_inflight.expect("set");
        let bdp = last.btl_bw.expect("known").bytes_in(rtt);
        let inflight = next[0].delivered
            - startup
                .iter()
                .rfind(|point| point.now < next[0].now - rtt)
                .expect("points")
                .delivered;
        assert!(bound >= bdp, "{bound}, {bdp}");
        assert!(
            bound <= bdp.max(inflight) + MSS * 3,
            "{bound}, {bdp}, {inflight}"
        );
    }
}

/// 3: six ranges within a round, of more than 2 % together, and no fewer of either.
#[test]
fn losses_of_less_than_the_threshold_or_in_few_places_do_not_end_startup() {
    for path in paths_with_many_packets() {
        for ranges in [1, 5, 6] {
            let mut flow = limited_startup(path);
            // 3 % of what is in flight, in places all over it: what leaves between them is to see losses.
            let inflight = flow.points.last().expect("points").inflight.get() / MSS.get();
            let (from, length) = (flow.next_number(), inflight * 3 / 100 / ranges + 1);
            let range = |index: u64| {
                let start = from + index * (inflight / 8);
                start..start + length
            };
            flow.doomed = (0..ranges).flat_map(range).collect();
            flow.run_until(at_ms(1_500));
            let lost = flow.points.last().expect("points").lost;
            assert_eq!(lost, MSS * (ranges * length), "{path:?}, {ranges}");
            let has_ended = flow.controller_state() != STARTUP;
            assert_eq!(has_ended, ranges == 6, "{path:?}, {ranges}");
        }
    }
    // 1.7 %, in eight ranges of each round.
    let path = (mbit(1_000), millis(10));
    let flow = limited_startup_with_losses(path, 60);
    let lost = flow.points.last().expect("points").lost;
    assert!(lost > MSS * 100, "{lost}");
    assert_eq!(flow.controller_state(), STARTUP);
}

/// A flow of an application that sends less than the path bears, after a second.
fn limited_startup((rate, rtt): (Rate, Duration)) -> Flow<Bbr3> {
    let writes = limited((rate, rtt), Time::ZERO, millis(3_000));
    let mut flow = Flow::with_writes(bbr3(), clean(rate, rtt, 4), writes);
    flow.run_until(at_secs(1));
    assert_eq!(flow.controller_state(), STARTUP);
    flow
}

/// The same after half a second more, of which each `every`th packet is lost.
fn limited_startup_with_losses(path: (Rate, Duration), every: u64) -> Flow<Bbr3> {
    // 1, 2.
    let mut flow = limited_startup(path);
    flow.mishaps = vec![Mishap {
        from: flow.now(),
        to: LATE,
        every,
        late_by: None,
    }];
    flow.run_until(at_ms(1_500));
    flow
}

#[test]
fn exiting_drain_based_on_inflight() {
    let mut seen = 0;
    for case in cases_of_all_kinds() {
        // 1, 2.
        let mut flow = case.bulk();
        // An ACK that ends Drain ends DOWN, too, as that has the same end without a loss.
        flow.run_until_in(CRUISE, LATE);
        // 3, 4.
        let pairs = after(&flow.points, DRAIN);
        let [(stay, next)] = pairs[..] else {
            assert!(pairs.is_empty() && is_drained_by(case, &flow), "{case:?}");
            continue;
        };
        assert_eq!(stay[0].snapshot.pacing_gain, Some(Ratio::new(1, 2)));
        let is_full = |point: &Point| point.inflight > case.full(&point.snapshot);
        assert!(!is_full(&next[0]), "{case:?}");
        assert!(stay[1..].iter().all(is_full), "{case:?}");
        seen += 1;
    }
    assert!(seen >= 7, "{seen}");
}

/// Whether a quantum of Startup is more than was in flight at its end: then the ACK that ends it ends Drain, too.
fn is_drained_by(case: Case, flow: &Flow<Bbr3>) -> bool {
    let (startup, next) = after(&flow.points, STARTUP)[0];
    let last = startup[startup.len() - 1].snapshot;
    next[0].inflight <= last.send_quantum * u64::from(case.quanta)
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
        let first = stays(&flow.points)[0];
        let late = &first[first.partition_point(|point| point.now < at_secs(1))..];
        assert!(late.iter().all(|point| point.is_app_limited));
        assert!(rounds(late, &late[late.len() - 1..]) > 30);
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
        let interval = rtt / 2;
        path.reverse.effects.aggregation = Some(Aggregation { interval });
        // 2.
        let mut flow = bulk(path);
        let drain = flow.run_until_in(DRAIN, LATE);
        // 3. As soon as the pipe is full, the window is what the model says.
        let bdp = rate.bytes_in(rtt);
        let extra = drain.cwnd - bdp * 2;
        let burst = rate.bytes_in(interval);
        assert!(
            extra >= Ratio::new(9, 10).of_bytes(burst),
            "{extra}, {burst}"
        );
        assert!(
            extra <= Ratio::new(5, 4).of_bytes(burst),
            "{extra}, {burst}"
        );
        // 4. The doublings that a clean path needs, and for each round of the plateau half a round until ACKs come.
        let clean = bulk(clean(rate, rtt, 8)).run_until_in(DRAIN, LATE);
        assert!(
            drain.round <= clean.round + 2,
            "{rate}, {rtt}: {}, {}",
            drain.round,
            clean.round
        );
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
    }
}

#[test]
fn entering_and_exiting_probe_rtt_during_startup() {
    for (rate, rtt) in [
        (kbit(64), millis(1_000)),
        (mbit(1), millis(300)),
        (mbit(10), millis(100)),
        (mbit(10), millis(1_000)),
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
        let least = rtt.max(millis(200));
        assert!(length >= least, "{rate}, {rtt}: {length}");
        assert!(length <= least + rtt * 2, "{rate}, {rtt}: {length}");
        // It goes on to search; with round trips of a second, further ProbeRTTs interrupt it.
        flow.set_writes([(at_secs(11), Bytes::MAX)]);
        let rounds = if rtt < millis(1_000) { 20 } else { 40 };
        let drain = flow.run_until_in(DRAIN, at_secs(11) + rtt * rounds);
        assert_within(drain.btl_bw.expect("known"), rate, 2);
    }
}
