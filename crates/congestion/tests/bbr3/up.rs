//! ProbeBW_REFILL and UP.

use congestion::sampling::{Outstanding, Sampler};
use congestion::{Bytes, Controller, Duration, Lost, Rate, Ratio};

use super::{
    CRUISE, DOWN, LATE, PROBE_RTT, REFILL, UP, after, assert_within, at_secs, bulk,
    cases_of_all_kinds, clean, limited, millis, paths_with_many_packets, rates_of_rounds, state,
    stays, trickle, until_plateau,
};
use crate::support::{MSS, Mishap, mbit};

#[test]
fn exiting_probe_up_on_bandwidth_plateau() {
    for case in cases_of_all_kinds() {
        // 1, 2.
        let mut flow = case.bulk();
        flow.run_until_in(UP, LATE);
        flow.run_until_in(DOWN, LATE);
        // 3, 4, 5. The baseline is the rate at the start of UP.
        let (up, down) = after(&flow.points, UP)[0];
        let seen = [up, &down[..1]].concat();
        let baseline = seen[0].delivery_rate.expect("of an ACK");
        let rounds = rates_of_rounds(&seen).count();
        let expected = until_plateau(baseline, rates_of_rounds(&seen));
        assert_eq!(expected, Some(rounds), "{case:?}");
        assert_eq!(flow.points.last().expect("points").lost, Bytes::ZERO);
        assert_eq!(down[0].snapshot.long_term_inflight, None);
        // 2. With a quarter of a BDP more than CRUISE has, and two packets, so that pacing is the limit.
        let end = up[up.len() - 1].snapshot;
        assert_eq!(end.cwnd_gain, Some(Ratio::new(9, 4)));
        let bdp = end.btl_bw.expect("known").bytes_in(case.rtt);
        let room = Ratio::new(9, 4).of_bytes(bdp) + MSS * 2;
        assert!(end.cwnd >= room, "{case:?}: {}, {room}", end.cwnd);
    }
}

#[test]
fn exiting_probe_up_on_loss_when_application_limited() {
    for (rate, rtt) in paths_with_many_packets() {
        // 1.
        let mut flow = bulk(clean(rate, rtt, 8));
        flow.run_until_in(UP, LATE);
        // 2.
        let from = flow.now();
        flow.set_writes(super::limited((rate, rtt), from, rtt * 40));
        // 3.
        let lossy = from + rtt * 6;
        flow.mishaps = vec![Mishap {
            from: lossy,
            to: LATE,
            every: 10,
            late_by: None,
        }];
        flow.run_until(lossy);
        assert_eq!(flow.controller_state(), UP);
        assert!(flow.points.last().expect("points").is_app_limited);
        // 4, 5. As little is in flight, the ACK that ends UP may end DOWN, too. What the application limited tells nothing of how
        // much may be in flight: there is no bound.
        flow.run_until(lossy + rtt * 3);
        let (up, next) = after(&flow.points, UP)[0];
        assert!(
            next[0].now > lossy && up.len() > 10,
            "{rate}, {rtt}: {:?} {lossy:?} {}",
            next[0].now,
            up.len()
        );
        assert!([DOWN, CRUISE].contains(&next[0].snapshot.state.name));
        assert_eq!(next[0].snapshot.long_term_inflight, None);
    }
}

#[test]
fn never_exiting_probe_up_when_application_limited_with_no_loss() {
    for (rate, rtt) in paths_between_probe_rtts() {
        // 1.
        let mut flow = bulk(clean(rate, rtt, 8));
        flow.run_until_in(UP, LATE);
        // 2.
        let from = flow.now();
        flow.set_writes(limited((rate, rtt), from, millis(5_500)));
        // 3. At most until the next ProbeRTT.
        let end = (from + rtt * 200).min(at_secs(6));
        flow.run_until(end);
        let stays = stays(flow.between(from, end));
        let states: Vec<_> = stays.iter().map(|stay| state(stay)).collect();
        assert!(
            states[0] == UP && states.get(1).is_none_or(|state| *state == PROBE_RTT),
            "{rate}, {rtt}: {states:?}"
        );
        let up = stays[0];
        let mut later = up
            .iter()
            .filter(|point| point.snapshot.round > up[0].snapshot.round + 2);
        assert!(later.all(|point| point.is_app_limited), "{rate}, {rtt}");
        assert!(up.iter().all(|point| point.lost == up[0].lost));
        let rounds = up[up.len() - 1].snapshot.round - up[0].snapshot.round;
        assert!(rounds > 10, "{rate}, {rtt}: {rounds}");
    }
}

#[test]
fn handling_loss_during_probe_up_after_inflight_longterm_is_set() {
    for (rate, rtt) in paths_with_many_packets() {
        // 1. A shallow buffer sets it in Startup.
        let mut flow = bulk(super::path(rate, rtt, Ratio::new(1, 2), Ratio::ZERO));
        // 2.
        let up = flow.run_until_in(UP, LATE);
        let bound = up.long_term_inflight.expect("set");
        // 3.
        flow.mishaps = vec![Mishap {
            from: flow.now(),
            to: LATE,
            every: 10,
            late_by: None,
        }];
        // 4, 5.
        let down = flow.run_until_in(DOWN, flow.now() + rtt * 3);
        let lower = down.long_term_inflight.expect("set");
        assert!(lower < bound, "{lower}, {bound}");
        // It was less full than that when the probe began, and the losses crossed the threshold within a part of a round.
        let (up, _) = after(&flow.points, UP)[0];
        let inflight = up.iter().map(|point| point.inflight);
        let (least, most) = (inflight.clone().min(), inflight.max());
        assert!((least..=most).contains(&Some(lower)), "{rate}, {rtt}");
    }
}

/// "Precautionary Bandwidth Probing" needs as much in flight after an ACK as the bound (`IsTimeToGoDown`). The window is at most the
/// bound, and an ACK takes something of it. So the probe after one with too many losses goes on, although the draft wants a brief one.
#[test]
fn a_probe_after_one_with_losses_is_not_precautionary() {
    for (rate, rtt) in paths_with_many_packets() {
        let mut flow = bulk(clean(rate, rtt, 8));
        flow.run_until_in(UP, LATE);
        flow.mishaps = vec![Mishap {
            from: flow.now(),
            to: LATE,
            every: 10,
            late_by: None,
        }];
        let down = flow.run_until_in(DOWN, flow.now() + rtt * 4);
        let bound = down.long_term_inflight.expect("set");
        flow.mishaps = Vec::new();
        let up = flow.run_until_in(UP, LATE);
        let from = flow.now();
        let down = flow.run_until_in(DOWN, LATE);
        assert!(down.round > up.round + 3, "{rate}, {rtt}");
        assert!(down.long_term_inflight > Some(bound), "{rate}, {rtt}");
        let mut points = flow.between(from, flow.now()).iter();
        assert!(points.all(|point| {
            let bound = point.snapshot.long_term_inflight.expect("set");
            point.snapshot.state.name != UP || point.inflight < bound
        }));
    }
}

/// 4, where so little was in flight as losses cannot show to be too much: the bound keeps `BBR.Beta` of what the flow aims at.
#[test]
fn a_probe_lowers_inflight_longterm_by_beta_at_most() {
    for (rate, rtt) in paths_with_many_packets() {
        let mut flow = bulk(super::path(rate, rtt, Ratio::new(1, 2), Ratio::ZERO));
        let up = flow.run_until_in(UP, LATE);
        let mut sampler = Sampler::new(flow.now());
        let alone = Outstanding::without_lost(Bytes::ZERO);
        let packet = sampler.on_packet_sent(flow.now(), MSS, alone);
        sampler.on_packet_lost(&packet);
        let lost = Lost::new(flow.now(), packet, Bytes::ZERO, &sampler);
        flow.controller.on_packet_lost(&lost);
        let bdp = up.btl_bw.unwrap().bytes_in(up.rtprop.unwrap());
        let least = Ratio::new(7, 10).of_bytes(bdp.min(up.cwnd));
        assert_eq!(flow.controller_state(), DOWN);
        assert_eq!(flow.snapshot().long_term_inflight, Some(least));
        // `ResetCongestionSignals`: the losses of the probe are no reason to slow down after it.
        flow.run_until(flow.now() + rtt * 3);
        assert_eq!(flow.snapshot().short_term_bw, None);
    }
}

#[test]
fn handling_application_limited_sending_during_probe_refill() {
    for (rate, rtt) in paths_between_probe_rtts() {
        // 1.
        let mut flow = bulk(clean(rate, rtt, 8));
        let refill = flow.run_until_in(REFILL, LATE);
        // 2.
        let (from, again) = (flow.now(), flow.now() + rtt * 10);
        flow.set_writes(trickle(from, rtt * 10, rtt / 10, 2).chain([(again, Bytes::MAX)]));
        // 4.
        flow.run_until_in(UP, from + rtt * 3);
        // 3. So it is until the next bandwidth probe has ended.
        flow.run_until(again);
        let limited = flow.between(from + rtt * 2, again);
        assert!(limited.iter().any(|point| point.is_app_limited));
        let known = flow.points.last().expect("points").snapshot.btl_bw;
        assert_eq!(known, refill.btl_bw, "{rate}, {rtt}");
        let down = flow.run_until_in(DOWN, again + rtt * 12);
        assert_within(down.btl_bw.expect("known"), rate, 2);
    }
}

/// 3, over several cycles: samples that the application limits are neither taken for the path's, nor do they let the path's be
/// forgotten.
#[test]
fn an_application_that_sends_less_for_long_keeps_the_bandwidth() {
    for (rate, rtt) in paths_with_many_packets() {
        let mut flow = bulk(clean(rate, rtt, 8));
        let before = flow.run_until_in(CRUISE, LATE);
        let from = flow.now();
        flow.set_writes(super::limited((rate, rtt), from, millis(20_000)));
        flow.run_until(from + millis(20_000));
        let late = flow.between(from + millis(5_000), from + millis(20_000));
        assert!(
            stays(late)
                .iter()
                .filter(|stay| state(stay) == REFILL)
                .count()
                >= 2
        );
        // All but what ProbeRTT's window limits.
        let limited = late.iter().filter(|point| point.is_app_limited).count();
        assert!(limited * 10 > late.len() * 8, "{rate}, {rtt}: {limited}");
        assert_eq!(flow.snapshot().btl_bw, before.btl_bw, "{rate}, {rtt}");
    }
}

/// On which more than ten rounds of a probe come before ProbeRTT.
fn paths_between_probe_rtts() -> [(Rate, Duration); 4] {
    [
        (mbit(10), millis(60)),
        (mbit(100), millis(40)),
        (mbit(1_000), millis(10)),
        (mbit(10_000), Duration::from_micros(800)),
    ]
}
