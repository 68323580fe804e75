//! ProbeBW_DOWN and CRUISE.

use congestion::{Bytes, Duration, Rate, Ratio};
use path::Aggregation;

use super::{
    Bbr3, CRUISE, Case, Config, DOWN, LATE, PROBE_RTT, REFILL, UP, after, at_secs, bulk,
    cases_of_all_kinds, changing, clean, millis, rounds, state, stays,
};
use crate::support::{Flow, MSS, Point, connection, mbit};

#[test]
fn exiting_probe_down_on_inflight() {
    let mut seen = 0;
    for case in cases_of_all_kinds() {
        // 1.
        let mut flow = case.bulk();
        flow.run_until_in(UP, LATE);
        let down = flow.run_until_in(DOWN, LATE);
        // 2.
        assert_eq!(down.pacing_gain, Some(Ratio::new(9, 10)));
        flow.run_until_in(CRUISE, LATE);
        // 3, 4, 5. Without a loss there is no bound to leave room below.
        let pairs = after(&flow.points, DOWN);
        let (stay, cruise) = pairs[pairs.len() - 1];
        if cruise[0].snapshot.state.name == PROBE_RTT {
            continue; // it was due
        }
        seen += 1;
        let is_full = |point: &Point| point.inflight > case.full(&point.snapshot);
        assert!(!is_full(&cruise[0]), "{case:?}");
        assert!(stay[1..].iter().all(is_full), "{case:?}");
    }
    assert!(seen >= 6, "{seen}");
}

#[test]
fn exiting_probe_down_on_inflight_with_headroom() {
    // In so small a buffer, the bound less its headroom is less than a BDP.
    for (rate, rtt) in [
        (mbit(10), millis(100)),
        (mbit(100), millis(40)),
        (mbit(200), millis(20)),
    ] {
        let mut flow = bulk(super::path(rate, rtt, Ratio::new(1, 10), Ratio::ZERO));
        flow.run_until(at_secs(10));
        let case = Case {
            rate,
            rtt,
            quanta: 1,
        };
        let headroom = |point: &Point| {
            let bound = point.snapshot.long_term_inflight?;
            Some(bound - Ratio::new(15, 100).of_bytes(bound))
        };
        let is_above = |point: &Point| {
            let most = headroom(point).unwrap_or(Bytes::MAX);
            point.inflight > most.min(case.full(&point.snapshot))
        };
        let pairs = after(&flow.points, DOWN);
        let ends = pairs.iter().filter(|(_, next)| state(next) == CRUISE);
        let mut seen = 0;
        for (stay, next) in ends {
            assert!(!is_above(&next[0]), "{case:?}");
            assert!(stay[1..].iter().all(is_above), "{case:?}");
            // It is the room for others that DOWN waits for.
            let waits = |point: &Point| point.inflight <= case.full(&point.snapshot);
            seen += usize::from(headroom(&next[0]).is_some() && stay.iter().any(waits));
        }
        assert!(seen > 0, "{case:?}");
    }
}

#[test]
fn exiting_probe_down_after_max_time() {
    // A small BDP, or a short round trip, lets rounds end the wait before its time.
    for (rate, rtt, is_in_rounds) in [
        (mbit(1), millis(100), true),
        (mbit(10), millis(60), false),
        (mbit(100), millis(50), false),
        (mbit(1_000), millis(10), true),
    ] {
        // ProbeRTT may come before the end of the wait.
        let mut waits = (0..20).filter_map(|seed| wait_in_down(rate, rtt, is_in_rounds, seed));
        assert_eq!(waits.by_ref().take(3).count(), 3, "{rate}, {rtt}");
    }
}

/// Whether the wait in DOWN was over before ProbeRTT came; and how it ended.
fn wait_in_down(rate: Rate, rtt: Duration, is_in_rounds: bool, seed: u64) -> Option<()> {
    let bbr3 = || Bbr3::new(connection(seed), Config::default());
    // 1.
    let mut before = Flow::bulk(bbr3(), clean(rate, rtt, 8));
    if !is_in_rounds {
        before.run_until_in(PROBE_RTT, LATE);
    }
    before.run_until_in(UP, LATE);
    before.run_until_in(DOWN, LATE);
    let from = before.now();
    // 2.
    // The margin of the pacing rate is another percent, which drains the queue in fifty rounds.
    let less = rate.scale(Ratio::new(89, 100));
    let mut flow = Flow::bulk(bbr3(), changing(clean(rate, rtt, 8), from, less));
    flow.run_until(from);
    assert_eq!(flow.controller_state(), DOWN);
    // 3, 4.
    let end = from + millis(3_500);
    while flow.now() < end && flow.controller_state() == DOWN {
        flow.run_until(flow.now() + rtt);
    }
    let pairs = after(&flow.points, DOWN);
    let pair = pairs.iter().find(|(_, next)| next[0].now > from);
    let (stay, next) = pair.expect("DOWN ends");
    if next[0].snapshot.state.name == PROBE_RTT {
        return None;
    }
    let context = format!("{rate}, {rtt}, seed {seed}");
    assert_eq!(next[0].snapshot.state.name, REFILL, "{context}");
    let wait = next[0].now.since(stay[0].now);
    if is_in_rounds {
        let target = stay[0].snapshot.btl_bw?.bytes_in(stay[0].snapshot.rtprop?);
        let most = (target.get() / MSS.get()).min(63);
        let rounds = rounds(stay, next);
        assert!((most - 1..=most).contains(&rounds), "{context}: {rounds}");
    } else {
        assert!(
            (millis(2_000)..millis(3_200)).contains(&wait),
            "{context}: {wait}"
        );
    }
    Some(())
}

#[test]
fn achieving_expected_cruise_bandwidth_on_a_link_with_aggregation() {
    for case in cases_of_all_kinds() {
        let Case { rate, rtt, .. } = case;
        // 2.
        let interval = rtt / 2;
        let mut path = clean(rate, rtt, 8);
        path.reverse.effects.aggregation = Some(Aggregation { interval });
        // 1. Several times.
        let mut flow = Flow::bulk(case.bbr3(), path);
        flow.run_until(at_secs(0) + millis(5_000).min(rtt * 500));
        // 3, 4. Twice the BDP, and what the bottleneck delivers between two bursts of ACKs.
        let room = rate.bytes_in(rtt) * 2 + Ratio::new(9, 10).of_bytes(rate.bytes_in(interval));
        let stays = stays(&flow.points);
        let cruises = stays.iter().filter(|stay| state(stay) == CRUISE);
        let longest = cruises.max_by_key(|stay| stay.len()).expect("cruises");
        let ends = longest.last().expect("points");
        assert!(
            ends.snapshot.cwnd >= Ratio::new(95, 100).of_bytes(room),
            "{case:?}: {}, {room}",
            ends.snapshot.cwnd
        );
        let most = rate.bytes_in(rtt * 2 + interval * 3 / 2);
        assert!(ends.snapshot.cwnd <= most + MSS * 10, "{case:?}");
        let goodput = flow.goodput(longest[0].now, ends.now);
        assert!(
            goodput >= rate.scale(Ratio::new(95, 100)),
            "{case:?}: {goodput}"
        );
    }
}
